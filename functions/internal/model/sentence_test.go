package model

import (
	"strings"
	"testing"
)

// O89: text that was cut off ends with its last whole sentence, never with half a number.
func TestSentenceEnd_CutsNoSentenceAndNoNumber(t *testing.T) {
	cases := []struct{ name, text, streaming, cutOff string }{
		{"no sentence", "The monthly fee is 4", "", ""},
		{"half a number after a sentence", "It is Home Flex. The fee is 12.", "It is Home Flex. ", "It is Home Flex. "},
		{"decimal point", "It costs 12.50 a month and 99.", "", ""},
		{"decimal comma", "Es kostet 12,5", "", ""},
		{"complete at the very end", "The fee is 49 €.", "", "The fee is 49 €."},
		{"a letter may still follow", "The fee is low.", "", "The fee is low."},
		{"question and exclamation", "Really? Yes! Bec", "Really? Yes! ", "Really? Yes! "},
		{"quote closes after the stop", "She said “yes.” Then sh", "She said “yes.” ", "She said “yes.” "},
		{"emphasis closes after the stop", "**It is 49 €.** Then", "**It is 49 €.** ", "**It is 49 €.** "},
		{"German ordinal", "Der Vertrag beginnt am 3. Oktober und", "", ""},
		{"German abbreviation", "Das gilt z. B. Kunden mit", "", ""},
		{"long abbreviation", "Das kostet 49 € inkl. MwSt und", "", ""},
		{"lower case goes on", "Das gilt fürs Netz. und so", "", ""},
		{"list lines", "Prices:\n- A: 12 €\n- B: 1", "Prices:\n- A: 12 €\n", "Prices:\n- A: 12 €\n"},
		{"blank line", "It is so.\n\nAnd th", "It is so.\n\n", "It is so.\n\n"},
		{"Spanish", "Cuesta 49 €. ¿Quiere m", "Cuesta 49 €. ", "Cuesta 49 €. "},
		{"Chinese", "每月49元。每年", "每月49元。", "每月49元。"},
		{"stop alone", ".", "", ""},
		{"empty", "", "", ""},
		{"not UTF-8", "Yes it was. \xff\xfe. ", "Yes it was. ", "Yes it was. \xff\xfe. "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.text[:sentenceEnd(c.text, false)]; got != c.streaming {
				t.Errorf("while it streams: %q, want %q", got, c.streaming)
			}
			if got := c.text[:sentenceEnd(c.text, true)]; got != c.cutOff {
				t.Errorf("when cut off: %q, want %q", got, c.cutOff)
			}
		})
	}
}

func FuzzSentenceEnd(f *testing.F) {
	for _, s := range []string{"It is Home Flex. The fee is 12.", "a.\nb", "。x", "\xff. A", "A… \u2028B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		streaming, cutOff := sentenceEnd(s, false), sentenceEnd(s, true)
		if streaming > cutOff || cutOff > len(s) {
			t.Fatalf("%q: streaming %d, cut off %d", s, streaming, cutOff)
		}
		kept := strings.TrimRight(s[:streaming], " \t\r\n")
		if last := strings.LastIndexAny(kept, "0123456789"); last >= 0 && kept[last:] == kept[last:last+1]+"." && s[streaming-1] != '\n' {
			t.Fatalf("%q was cut after a digit and a full stop", s)
		}
	})
}
