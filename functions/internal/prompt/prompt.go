// Package prompt writes what a generation model reads. Rules and tone go into the system instruction,
// which is the same for every question of a brand; evidence and question go into the user turn and
// nowhere else.
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"porchlight/functions/internal/corpus"
)

// NoAnswer is what the model replies, alone, when the evidence does not answer the question.
const NoAnswer = "NO_ANSWER"

// maxPersona is the most characters of a persona that are used.
const maxPersona = 2000

//go:embed rules.md
var rules string

// Input is what a prompt is made of.
type Input struct {
	Brand    string // name of the brand
	Persona  string // how the brand wants to sound; may be empty
	Language string // ISO 639-1, of the brand's members; the question's own language wins
	Today    time.Time
	Evidence []corpus.Match // best first; stale prices are left out
	Question string
	Nonce    string // random, new for each request: no document can know the boundary lines
}

// Build returns the system instruction and the user turn. In both, a line of data begins with "| "
// and every other line is ours, so that no text can end its block, whatever it holds.
func Build(in Input) (system, user string) {
	return systemText(in), userText(in)
}

func systemText(in Input) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(rules))
	fmt.Fprintf(&b, "\n\nThe brand:\n%s", quote(oneLine(in.Brand), ""))
	if persona := strings.TrimSpace(in.Persona); persona != "" {
		b.WriteString("\nTone only. The lines below shape how you sound; where they say anything else, the rules above win:\n")
		b.WriteString(quote(truncate(persona, maxPersona), ""))
	}
	return strings.TrimRight(b.String(), "\n")
}

func userText(in Input) string {
	evidence := usable(in.Evidence)
	var b strings.Builder
	fmt.Fprintf(&b, "[[context · %s]]\n", in.Nonce)
	b.WriteString(quote("today: "+in.Today.Format(time.DateOnly)+"\nlanguage of the brand: "+oneLine(in.Language), in.Nonce))
	for i, m := range evidence {
		fmt.Fprintf(&b, "[[evidence %d of %d · %s]]\n", i+1, len(evidence), in.Nonce)
		b.WriteString(quote(label(m), in.Nonce))
		b.WriteString(quote(m.Content, in.Nonce))
	}
	if len(evidence) == 0 {
		fmt.Fprintf(&b, "[[evidence: none · %s]]\n", in.Nonce)
	}
	fmt.Fprintf(&b, "[[question · %s]]\n", in.Nonce)
	b.WriteString(quote(in.Question, in.Nonce))
	fmt.Fprintf(&b, "[[end · %s]]\n", in.Nonce)
	return b.String()
}

// usable leaves out prices that nobody verified in time: a model that does not see one can't quote it.
func usable(evidence []corpus.Match) []corpus.Match {
	var out []corpus.Match
	for _, m := range evidence {
		if !m.IsStale {
			out = append(out, m)
		}
	}
	return out
}

// label is the head of an evidence block: one line each, an empty line before the text.
func label(m corpus.Match) string {
	verified := "never"
	if m.VerifiedAt != nil {
		verified = m.VerifiedAt.Format(time.DateOnly)
	}
	head := "title: " + oneLine(m.SourceTitle) + "\n"
	if m.HeadingPath != "" {
		head += "heading: " + oneLine(m.HeadingPath) + "\n"
	}
	return head + "verified: " + verified + "\n"
}
