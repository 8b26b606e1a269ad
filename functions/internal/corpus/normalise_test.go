package corpus

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestNormalise_GivesOneSpelling(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"keeps plain text", "Home Flex: 12,50 € per month.", "Home Flex: 12,50 € per month."},
		{"turns CRLF into LF", "a\r\nb\r\n", "a\nb"},                                       // O29
		{"turns a lone CR into LF", "a\rb", "a\nb"},                                        // O29
		{"drops trailing spaces and blank edges", "\n \n  a \t\nb\u00a0\n\n \n", "  a\nb"}, // O29
		{"keeps blank lines inside", "a\n \n\nb", "a\n\n\nb"},
		{"does not glue words at page and line controls", "one\ftwo\vthree\u0085four", "one\ntwo\nthree\nfour"},
		{"composes to NFC", "cafe\u0301", "caf\u00e9"}, // O30
		{"does not fold compatibility forms", "½ ² ① ﬁ 1⁄2 m²", "½ ² ① ﬁ 1⁄2 m²"},
		{"drops NUL and controls but not tabs", "Pre\x00cios\x1b[0m\tx\u009f", "Precios[0m\tx"},
		{"drops zero-width characters", "p\u200br\u2060i\ufeffce", "price"},
		{"drops bidi controls", "\u202e€ 94\u202c \u2066x\u2069\u200e\u061c", "€ 94 x"},
		{"drops soft hyphens", "Strom\u00adpreis", "Strompreis"},
		{"drops tag characters and keeps the visible text", "49 €\U000E0069\U000E0067\U000E006E per month", "49 € per month"},
		{"drops variation selectors", "1\ufe0f9\ufe0f € ❤\ufe0f\U000E0101", "19 € ❤"},
		{"drops joiners between Latin letters", "pri\u200dce\u200c", "price"},
		{"keeps the non-joiner of a Persian word", "می\u200cخواهم", "می\u200cخواهم"},
		{"keeps one of several joiners", "می\u200c\u200c\u200cخواهم", "می\u200cخواهم"},
		{"keeps the joiner of an emoji", "👩🏽\u200d💻", "👩🏽\u200d💻"},
		{"drops a non-joiner between emoji", "👩\u200c💻", "👩💻"},
		{"composes across a dropped joiner", "e\u200d\u0301", "\u00e9"},
		{"keeps a dozen combining marks of a pile", "x" + strings.Repeat("\u0327", 50) + "y", "x" + strings.Repeat("\u0327", 12) + "y"},
		{"keeps line and paragraph separators inside a line", "a\u2028b\u2029c", "a\u2028b\u2029c"},
		{"gives nothing for accents without a letter", "\u0301\u0336 \u0308", ""},
		{"gives nothing for format characters alone", "\u0600\u06dd\u070f\U000110bd", ""},
		{"gives nothing for private use alone", "\ue000\n\U000f0000", ""},
		{"gives nothing for what was no character", "\ufffd \ufffd", ""},
		{"keeps all of these beside one to read", "\u0600\u0661\ue000\ufffd", "\u0600\u0661\ue000\ufffd"},
		{"keeps an emoji, a sign and a mark that takes room", "😀 € \u0903", "😀 € \u0903"},
		{"gives nothing for nothing visible", " \u200b\ufeff\n\t\u00ad ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Normalise(tt.in); got != tt.want {
				t.Errorf("Normalise(%+q) = %+q, want %+q", tt.in, got, tt.want)
			}
		})
	}
}

// O29: the same text saved on three platforms has one hash.
func TestNormalise_HashesEveryLineEndingAlike(t *testing.T) {
	want := Chunk{HeadingPath: "Tarifas", Content: Normalise("Plan Uno\n49 €")}.Hash()
	for _, text := range []string{"Plan Uno\r\n49 €", "Plan Uno\r49 €\r", "Plan Uno\n49 €\n\n", "Plan Uno  \n49 €\t"} {
		if got := (Chunk{HeadingPath: "Tarifas", Content: Normalise(text)}).Hash(); got != want {
			t.Errorf("%q hashes to %x, want %x", text, got, want)
		}
	}
}

// O30: a heading path and a content typed on macOS (NFD) and elsewhere (NFC) have one hash.
func TestNormalise_HashesDecomposedTextAlike(t *testing.T) {
	const heading, content = "Café › Menú", "El café cuesta 1,20 €; ñandú, Größe"
	want := Chunk{HeadingPath: heading, Content: content}.Hash()
	got := Chunk{
		HeadingPath: Normalise(norm.NFD.String(heading)),
		Content:     Normalise(norm.NFD.String(content)),
	}.Hash()
	if got != want {
		t.Errorf("NFD hashes to %x, NFC to %x", got, want)
	}
}

func TestNormalise_IsIdempotentAndValid(t *testing.T) {
	// Random strings rarely meet; these pieces make joiners, marks and breaks stand side by side.
	pieces := []string{
		"a", "e", "\u0301", "\u0334", "\u094d", "\u064b", "\u200c", "\u200d", "क", "م", "👩", "💻",
		"🏽", "\ufe0f", "\u0958", "\u0344", "\u212a", "가", "\u1100", "\u1161", " ", "\t", "\n", "\r",
		"\u2028", "\u00a0", "\u200b", "\x00", "½", "\U000E0041",
	}
	property := func(raw string, picks []uint8) bool {
		var b strings.Builder
		for _, p := range picks {
			b.WriteString(pieces[int(p)%len(pieces)])
		}
		return isNormal(Normalise(raw)) && isNormal(Normalise(b.String()))
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "Home Flex: 12,50 €", "a\r\n\r\x00b", "\u0958\u200d\u0301م\u200c\u064b", strings.Repeat("\u0344\u200d", 40), "\xff\xfe1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Normalise(s); !isNormal(got) {
			t.Errorf("Normalise(%+q) = %+q is not normal", s, got)
		}
	})
}

func isNormal(s string) bool {
	return (s == "" || strings.ContainsFunc(s, isReadable)) && utf8.ValidString(s) && norm.NFC.IsNormalString(s) && Normalise(s) == s
}
