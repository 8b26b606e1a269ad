package guard

import (
	"regexp"
	"strings"
)

// leakWords is the number of words in a row that make a sentence a copy of the rules. Shorter runs
// occur by chance ("the price of the plan").
const leakWords = 8

// boundary is the shape of the lines between which the evidence stands in the prompt; token that of
// a code word such as the one for "no answer".
var (
	boundary = regexp.MustCompile(`(?i)\[\[\s*/?\s*(end|evidence|question)\b`)
	token    = regexp.MustCompile(`\b[A-Z]+_[A-Z_]+\b`)
)

// Leak refuses a sentence that gives out the system instruction or the marks of the prompt.
func Leak(text string, in Input) Verdict {
	if in.Nonce != "" && strings.Contains(text, in.Nonce) || boundary.MatchString(text) {
		return refuse(ReasonBoundary)
	}
	for _, t := range token.FindAllString(text, -1) {
		if strings.Contains(in.System, t) {
			return refuse(ReasonRules)
		}
	}
	said, rules := Words(text), runOf(Words(in.System))
	for i := range len(said) - leakWords + 1 {
		run := runOf(said[i : i+leakWords])
		if strings.Contains(rules, run) && !in.states(run) {
			return refuse(ReasonRules)
		}
	}
	return pass
}

// runOf joins words so that a run is found only at word boundaries.
func runOf(ws []string) string { return " " + strings.Join(ws, " ") + " " }

func (in Input) states(run string) bool {
	for _, m := range in.trusted() {
		if strings.Contains(runOf(Words(m.Content)), run) {
			return true
		}
	}
	return false
}
