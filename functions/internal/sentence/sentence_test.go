package sentence

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

var splitCases = []struct {
	name string
	text string
	want []string
}{
	{"empty text has no sentence", " \n\t ", nil},
	{"two plain sentences", "It is simple. It works.", []string{"It is simple.", "It works."}},
	{"a text without an end mark is one sentence", "no end mark", []string{"no end mark"}},
	{"a price with a decimal comma stays whole", "Home Flex kostet 12,50 €. Der Vertrag läuft 12 Monate.", []string{"Home Flex kostet 12,50 €.", "Der Vertrag läuft 12 Monate."}},
	{"a price with a decimal point stays whole", "It costs 12.50 a month. Setup is $1,299.00. That is all.", []string{"It costs 12.50 a month.", "Setup is $1,299.00.", "That is all."}},
	{"German grouping stays whole", "Die Anlage kostet 1.299,00 €. Die Montage ist dabei.", []string{"Die Anlage kostet 1.299,00 €.", "Die Montage ist dabei."}},
	{"a price right before the full stop ends the sentence", "The fee is €99. Home Flex is flexible.", []string{"The fee is €99.", "Home Flex is flexible."}},
	{"a number right before the full stop ends the sentence", "The fee is 99. It is paid once.", []string{"The fee is 99.", "It is paid once."}},
	{"a year ends the sentence", "Valid until 2026. Then it is 14 €.", []string{"Valid until 2026.", "Then it is 14 €."}},
	{"a sentence may begin with a number", "You may cancel within 14 days. 12 months is the term.", []string{"You may cancel within 14 days.", "12 months is the term."}},
	{"z. B. with a space", "Wir liefern z. B. Strom und Gas. Das ist alles.", []string{"Wir liefern z. B. Strom und Gas.", "Das ist alles."}},
	{"z.B. without a space", "Wir liefern z.B. Strom. Gas auch.", []string{"Wir liefern z.B. Strom.", "Gas auch."}},
	{"d. h. and inkl.", "Der Preis ist fest, d. h. Sie zahlen inkl. MwSt. immer 12 €. Garantiert.", []string{"Der Preis ist fest, d. h. Sie zahlen inkl. MwSt. immer 12 €.", "Garantiert."}},
	{"e.g. and i.e.", "Some plans, e.g. Home Flex, are monthly, i.e. 30 days. Ask us.", []string{"Some plans, e.g. Home Flex, are monthly, i.e. 30 days.", "Ask us."}},
	{"No. before a number", "See clause No. 3 of the terms. It is short.", []string{"See clause No. 3 of the terms.", "It is short."}},
	{"No as an answer", "Is it a trap? No. You can leave.", []string{"Is it a trap?", "No.", "You can leave."}},
	{"Nr. and Abs.", "Es gilt § 5 Abs. 2 Nr. 3 des Vertrags. Mehr nicht.", []string{"Es gilt § 5 Abs. 2 Nr. 3 des Vertrags.", "Mehr nicht."}},
	{"U.S. inside a sentence", "The U.S. Energy Office agrees. So do we.", []string{"The U.S. Energy Office agrees.", "So do we."}},
	{"U.S. at the end of a sentence", "We do not sell in the U.S. We sell here.", []string{"We do not sell in the U.S.", "We sell here."}},
	{"German date", "Stand ist der 2. März 2026. Danach ändert sich nichts.", []string{"Stand ist der 2. März 2026.", "Danach ändert sich nichts."}},
	{"German date in figures with spaces", "Gültig ab 1. 3. 2026 für alle. Ohne Ausnahme.", []string{"Gültig ab 1. 3. 2026 für alle.", "Ohne Ausnahme."}},
	{"German ordinal before a noun", "Ab dem 13. Monat kostet es mehr. Im 2. Jahr sind es 14 €.", []string{"Ab dem 13. Monat kostet es mehr.", "Im 2. Jahr sind es 14 €."}},
	{"Spanish marks", "¿Cuánto cuesta? Son 12,50 € al mes. ¡Sin permanencia! Llame hoy.", []string{"¿Cuánto cuesta?", "Son 12,50 € al mes.", "¡Sin permanencia!", "Llame hoy."}},
	{"Spanish abbreviations", "Algunos planes, p. ej. Fibra Uno, no tienen alta. El Sr. López lo sabe.", []string{"Algunos planes, p. ej. Fibra Uno, no tienen alta.", "El Sr. López lo sabe."}},
	{"EE.UU. inside a sentence", "En EE.UU. Fibra Uno no existe. Aquí sí.", []string{"En EE.UU. Fibra Uno no existe.", "Aquí sí."}},
	{"ellipsis that goes on", "Well... it depends. Wait… Really.", []string{"Well... it depends.", "Wait…", "Really."}},
	{"a quote closes after the full stop", `Say: "It is free." Then smile.`, []string{`Say: "It is free."`, "Then smile."}},
	{"German quotes", "Sagen Sie: „Das ist fest.“ Danach warten.", []string{"Sagen Sie: „Das ist fest.“", "Danach warten."}},
	{"a quoted question inside a sentence", "“Is it free?” he asked. We said yes.", []string{"“Is it free?” he asked.", "We said yes."}},
	{"lower-case chat", "is it free? yes it is.", []string{"is it free?", "yes it is."}},
	{"several marks", "Really?! Yes.", []string{"Really?!", "Yes."}},
	{"a domain does not end a sentence", "Write to help@lumen.example today. We answer.", []string{"Write to help@lumen.example today.", "We answer."}},
	{"a table row is one sentence", "Plan: Home Flex; Monthly fee: 12,50 €; Note: Incl. VAT. No setup.\nPlan: Home Fix; Monthly fee: 10,90 €; Note: None.", []string{"Plan: Home Flex; Monthly fee: 12,50 €; Note: Incl. VAT. No setup.", "Plan: Home Fix; Monthly fee: 10,90 €; Note: None."}},
	{"a line with one colon is prose", "Good news: it is free. And it stays so.", []string{"Good news: it is free.", "And it stays so."}},
	{"list items are sentences", "You need:\n- an ID card\n- a bill\n1. Call us\n2. Sign", []string{"You need:", "- an ID card", "- a bill", "1. Call us", "2. Sign"}},
	{"a wrapped line goes on", "The contract runs for twelve months and is then\nextended monthly. You may cancel.", []string{"The contract runs for twelve months and is then\nextended monthly.", "You may cancel."}},
	{"a wrapped list item ends at the next item", "- an item that is long enough to have been wrapped by\n  the editor\n- another", []string{"- an item that is long enough to have been wrapped by\n  the editor", "- another"}},
	{"a blank line ends a sentence", "A heading without any end mark that is long\n\nText.", []string{"A heading without any end mark that is long", "Text."}},
	{"CRLF", "One.\r\nTwo.\r\n", []string{"One.", "Two."}},
	{"wide full stops", "价格是九十九元。没有合同。", []string{"价格是九十九元。", "没有合同。"}},
	{"initials", "Ask J. Smith about Plan A. The plan is new.", []string{"Ask J. Smith about Plan A.", "The plan is new."}},
	{"an abbreviation at the end of a wrapped line", "Wir liefern alles, was Sie im Haus brauchen, z. B.\nStrom. Gas auch.", []string{"Wir liefern alles, was Sie im Haus brauchen, z. B.\nStrom.", "Gas auch."}},
	{"etc. before a capital letter", "Router, Kabel usw. Das ist alles dabei.", []string{"Router, Kabel usw.", "Das ist alles dabei."}},
}

func TestSplit_CutsWhereAReaderWould(t *testing.T) {
	for _, tc := range splitCases {
		t.Run(tc.name, func(t *testing.T) {
			if got := Split(tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("Split(%q)\n got %q\nwant %q", tc.text, got, tc.want)
			}
		})
	}
}

// O98: wherever the stream is cut, also inside a character, the sentences are the same.
func TestSplitter_GivesTheSameSentencesForEverySplit(t *testing.T) {
	for _, tc := range splitCases {
		t.Run(tc.name, func(t *testing.T) {
			for i := range len(tc.text) + 1 {
				if got := pushed(tc.text[:i], tc.text[i:]); !slices.Equal(got, tc.want) {
					t.Fatalf("cut at byte %d: got %q want %q", i, got, tc.want)
				}
			}
			var bytes []string
			for i := range len(tc.text) {
				bytes = append(bytes, tc.text[i:i+1])
			}
			if got := pushed(bytes...); !slices.Equal(got, tc.want) {
				t.Fatalf("byte by byte: got %q want %q", got, tc.want)
			}
		})
	}
}

func TestSplitter_GivesASentenceOutBeforeTheTextEnds(t *testing.T) {
	var s Splitter
	if got := s.Push("Home Flex costs 12,50 €. It "); !slices.Equal(got, []string{"Home Flex costs 12,50 €."}) {
		t.Fatalf("got %q", got)
	}
	if got := s.Push("runs"); got != nil {
		t.Fatalf("unfinished sentence given out: %q", got)
	}
	if got := s.Flush(); !slices.Equal(got, []string{"It runs"}) {
		t.Fatalf("got %q", got)
	}
}

func pushed(pieces ...string) []string {
	var s Splitter
	var out []string
	for _, p := range pieces {
		out = append(out, s.Push(p)...)
	}
	return append(out, s.Flush()...)
}

func FuzzSplitter_LosesNothingAndAgreesWithSplit(f *testing.F) {
	for _, tc := range splitCases {
		f.Add(tc.text, len(tc.text)/2)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = min(max(cut, 0), len(text))
		whole := Split(text)
		if got := pushed(text[:cut], text[cut:]); !slices.Equal(got, whole) {
			t.Fatalf("cut at %d: %q, whole %q", cut, got, whole)
		}
		if squeeze(strings.Join(whole, " ")) != squeeze(text) {
			t.Fatalf("text changed: %q", whole)
		}
	})
}

// squeeze drops white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
