// Package guard judges each sentence of an answer before a person sees it. A verdict is a pure
// function of the sentence and of what the answer was made from; one kind of verdict a file.
package guard

import "porchlight/functions/internal/corpus"

// Input is what an answer was made from.
type Input struct {
	Question string
	Evidence []corpus.Match // chunks of the caller's own brand; untrusted ones count for nothing
	System   string         // the system instruction, whose text must not come out
	Nonce    string         // the boundary of the evidence blocks; empty when there is none

	known *facts // set by Prepare
}

// Prepare reads the evidence once, for callers that judge several sentences with the same input. The
// verdicts are the same without it.
func Prepare(in Input) Input {
	in.Evidence = in.trusted()
	in.known = factsOf(in)
	return in
}

// Verdict says whether a sentence may be shown and, when it may not, why.
type Verdict struct {
	OK     bool
	Reason string // one of the Reason constants; empty when OK
}

// The reasons. They are stable and hold no content, so that they may be logged.
const (
	ReasonControl     = "control_characters"
	ReasonHTML        = "html"
	ReasonLink        = "link"
	ReasonFormat      = "format"
	ReasonRules       = "rules_leak"
	ReasonBoundary    = "boundary_leak"
	ReasonInstruction = "instruction"
	ReasonNumber      = "number_not_in_evidence"
	ReasonUnit        = "unit_differs"
	ReasonRow         = "number_of_another_row"
	ReasonDate        = "date_not_in_evidence"
)

var pass = Verdict{OK: true}

func refuse(reason string) Verdict { return Verdict{Reason: reason} }

// Check runs every guard in order and returns the first refusal.
func Check(text string, in Input) Verdict {
	for _, judge := range []func(string, Input) Verdict{Markup, Leak, Injection, Numbers} {
		if v := judge(text, in); !v.OK {
			return v
		}
	}
	return pass
}

// Trusted says whether facts may be taken from a chunk: it is not a stale price and no sentence of
// it tries to instruct the reader's model. What stands beside a planted instruction is planted too.
func Trusted(m corpus.Match) bool { return !m.IsStale && !Hostile(m) }

// Hostile says whether a chunk carries a planted instruction.
func Hostile(m corpus.Match) bool {
	return !Injection(m.SourceTitle+"\n"+m.HeadingPath+"\n"+m.Content, Input{}).OK
}

// trusted returns the chunks that count as evidence.
func (in Input) trusted() []corpus.Match {
	if in.known != nil {
		return in.Evidence
	}
	var out []corpus.Match
	for _, m := range in.Evidence {
		if Trusted(m) {
			out = append(out, m)
		}
	}
	return out
}
