package ingest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func encoded(t *testing.T, as encoding.Encoding, text string) string {
	t.Helper()
	raw, err := as.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// O02, O07, O12: whatever an office program saves becomes the text that was typed.
func TestDecode_ReadsWhatOfficeProgramsSave(t *testing.T) {
	const german = "Die Grundgebühr kostet 12,50 € im Monat – für „Häuser“ und Höfe."
	little, big := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	tests := []struct{ name, raw, declared, want string }{
		{"UTF-8", german, "", german},
		{"UTF-8 with a byte order mark", "\ufeff" + german, "", german},
		{"UTF-8 that is said to be Latin-1", german, "iso-8859-1", german},
		{"UTF-16, little endian", "\xff\xfe" + encoded(t, little, german), "", german},
		{"UTF-16, big endian", "\xfe\xff" + encoded(t, big, german), "", german},
		{"UTF-16 without a mark", encoded(t, little, german), "", german},
		{"UTF-16, big endian, without a mark", encoded(t, big, german), "", german},
		{"Windows-1252", encoded(t, charmap.Windows1252, german), "", german},
		{"Windows-1252 that is said to be Latin-1", encoded(t, charmap.Windows1252, german), "ISO-8859-1", german},
		{"Windows-1252 that is said to be UTF-8", encoded(t, charmap.Windows1252, german), "utf-8", german},
		{"Windows-1252 with a euro sign alone", "Canone 49 \x80 al mese", "", "Canone 49 € al mese"},
		{"Spanish", encoded(t, charmap.Windows1252, "¿Cuánto cuesta el año? ¡Sólo 12,50 €!"), "", "¿Cuánto cuesta el año? ¡Sólo 12,50 €!"},
		{"French", encoded(t, charmap.Windows1252, "L’été déjà à 20 € : « forfait »"), "", "L’été déjà à 20 € : « forfait »"},
		{"ISO-8859-15", "Tarif 49 \xa4", "iso-8859-15", "Tarif 49 €"},
		{"Cyrillic that says so", encoded(t, charmap.Windows1251, "Тариф 49 рублей"), "windows-1251", "Тариф 49 рублей"},
		{"Japanese that says so", encoded(t, japanese.ShiftJIS, "料金は49円"), "shift_jis", "料金は49円"},
		{"Japanese that shifts", encoded(t, japanese.ISO2022JP, "料金は49円"), "iso-2022-jp", "料金は49円"},
		{"a stray zero byte", "Tarifa\x00 Plana", "", "Tarifa\x00 Plana"}, // O01: normalising takes it out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decode([]byte(tt.raw), tt.declared)
			if err != nil || got != tt.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// Text that would be stored garbled is refused.
func TestDecode_RefusesWhatItCannotTell(t *testing.T) {
	const russian, greek = "Тариф за электроэнергию", "Τιμολόγιο ρεύματος για το σπίτι"
	tests := []struct{ name, raw, declared string }{
		{"Cyrillic that does not say so", encoded(t, charmap.Windows1251, russian), ""},
		{"Greek that does not say so", encoded(t, charmap.ISO8859_7, greek), ""},
		{"Japanese that does not say so", encoded(t, japanese.ShiftJIS, "料金は49円、契約は12か月です"), ""},
		{"Chinese that does not say so", encoded(t, simplifiedchinese.GBK, "每月电费是四十九元"), ""},
		{"Japanese that shifts and does not say so", encoded(t, japanese.ISO2022JP, "料金は49円"), ""},
		{"Polish in Latin-2", encoded(t, charmap.ISO8859_2, "Miesięczna opłata za łącze wynosi dziś więcej"), ""},
		{"German from old DOS", encoded(t, charmap.CodePage850, "Gebühr für Häuser über Höfe"), ""},
		{"French from an old Macintosh", encoded(t, charmap.Macintosh, "Le prix de l'été est déjà à négocier"), ""},
		{"UTF-8 with one broken byte", "12,50 € im Monat für Häuser, 13 \x80 sonst", ""},
		{"UTF-8 that is cut in the middle", "12,50 € im Monat für H\xc3", ""},
		{"a byte that no charset has", "The grate costs 12 \x81.", ""},
		{"Japanese that is something else", "\x82\xa0\xff\xff\xfe", "shift_jis"},
		{"half a character of UTF-16", "\xff\xfea\x00b", ""},
		{"half a surrogate pair of UTF-16", "\xff\xfea\x00\x3d\xd8b\x00", ""},
		{"a program", "\x7fELF" + strings.Repeat("\x01\x02\x00abc", 20), ""},
		{"marked as UTF-8 only", "\ufeffcaf\xe9", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := decode([]byte(tt.raw), tt.declared)
			if r, ok := err.(*Refusal); !ok || r.Reason != Undecodable {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// O07: U+FFFD is never stored in silence.
func TestLoad_RefusesTextThatLostACharacterBefore(t *testing.T) {
	for _, text := range []string{"The fee is 12 \ufffd.", "# Tarif \ufffd\n\nText"} {
		_, err := Load("a.md", strings.NewReader(text), Defaults{})
		if r, ok := err.(*Refusal); !ok || r.Reason != Undecodable {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A guess that a language can't be written in is a wrong one.
func TestLoad_GuessesAnEncodingOnlyForTheLanguagesThatUseIt(t *testing.T) {
	const raw = "---\nlanguage: %\n---\nTarif v\xe8era 49 \x80"
	for language, want := range map[string]string{"fr": "", "cs": Undecodable, "tr": Undecodable} {
		_, err := Load("a.md", strings.NewReader(strings.ReplaceAll(raw, "%", language)), Defaults{})
		reason := ""
		if r, ok := err.(*Refusal); ok {
			reason = r.Reason
		}
		if reason != want {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range []string{"", "a", "\xff\xfe", "\xfe\xffa", "caf\xe9", "a\x00b\x00", "\x1b$B", "\x82\xa0"} {
		f.Add([]byte(raw), "")
		f.Add([]byte(raw), "shift_jis")
	}
	f.Fuzz(func(t *testing.T, raw []byte, declared string) {
		text, err := decode(raw, declared)
		if r, ok := err.(*Refusal); err != nil && (!ok || r.Reason != Undecodable) {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q became %q", raw, text)
		}
	})
}
