package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

func TestRedact_TakesOutLiterals(t *testing.T) {
	tests := []struct{ name, literal, in, want string }{
		{"as written", "Wren Halloway", "Ask Wren Halloway.", "Ask [redacted]."},
		{"another case", "Wren Halloway", "WREN HALLOWAY, wren halloway", "[redacted], [redacted]"},
		{"over a line end", "Wren Halloway", "Ask Wren\nHalloway now", "Ask [redacted] now"},
		{"letters apart", "Wren Halloway", "W R E N  H-A-L-L-O-W-A-Y", "[redacted]"},
		{"written together", "Wren Halloway", "wrenhalloway, Wren_Halloway, Wren.Halloway", "[redacted], [redacted], [redacted]"},
		{"in an ending", "Halloway", "Halloway's and Halloways Haus", "[redacted]'s and [redacted]s Haus"},
		{"in a longer word", "Wren Halloway", "MrWren Hallowaysmith", "Mr[redacted]smith"},
		{"without accents", "José Muñoz", "JOSE MUNOZ, José Muñoz", "[redacted], [redacted]"},
		{"sharp s", "Groß", "GROSS, Groß", "[redacted], [redacted]"},
		{"letters of another alphabet", "Halloway", "Ηаllоwау", "[redacted]"},
		{"another alphabet in any case", "Вера Мухина", "ВЕРА МУХИНА, вера мухина", "[redacted], [redacted]"},
		{"invisible characters", "Halloway", "Hal\u200blo\u00adway", "[redacted]"},
		{"no spaces between words", "王小明", "请找王小明先生", "请找[redacted]先生"},
		{"a number in groups", "4471 8829", "no. 44 71 88-29", "no. [redacted]"},
		{"a short one is a word", "Ann", "Ann planned an annual plan, an n.", "[redacted] planned an annual plan, [redacted]."},
		{"not over other words", "Martin", "smart in the home", "smart in the home"},
		{"markup between", "Wren Halloway", "**Wren** *Halloway*", "**[redacted]*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := redacted(t, tt.in, tt.literal)
			if err != nil || got != tt.want {
				t.Errorf("%q\n got %q, %v\nwant %q", tt.in, got, err, tt.want)
			}
		})
	}
}

// In whatever case its letters are and whatever stands between them, nothing of a literal is left.
func TestRedact_LeavesNoLiteralInAnyCaseOrSpacing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	gaps := []string{"", " ", "  ", "-", ".", "\n", "\t", "_", "\u00a0", "\u200b", " · ", "*"}
	literals := []string{"Wren Halloway", "Ivo", "José Muñoz-Ferrer", "Project Nightjar", "4471 8829", "Зоя Ковалёва", "Μαρία", "O'Hara", "Ångström"}
	for range 4000 {
		literal := literals[random.IntN(len(literals))]
		var hidden, bare strings.Builder
		every := gaps[random.IntN(len(gaps))]
		for i, r := range literal {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				hidden.WriteString(gaps[random.IntN(len(gaps))])
				continue
			}
			switch random.IntN(3) {
			case 0:
				r = unicode.ToUpper(r)
			case 1:
				r = unicode.ToLower(r)
			}
			if i > 0 {
				hidden.WriteString(every)
			}
			hidden.WriteRune(r)
			bare.WriteRune(unicode.ToLower(r))
		}
		got, err := redacted(t, "The sheet of "+hidden.String()+", for all.", literals...)
		left := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, got)
		if err != nil || strings.Contains(left, bare.String()) || got != "The sheet of [redacted], for all." {
			t.Fatalf("%q as %q: %q, %v", literal, hidden.String(), got, err)
		}
	}
}
