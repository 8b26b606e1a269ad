package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/extract"
	"porchlight/functions/internal/guard"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/prompt"
	"porchlight/functions/internal/sentence"
)

// write answers from the matches: by a model while one is open, else with the documents' own
// sentences. Without a relevant match nothing is generated; of the others the extractor takes only the
// price of a thing that the question names. When the best match is a price that nobody verified in
// time, no model sees the question: the extractor holds the price or finds a fresh one.
func (r *run) write(ctx context.Context, matches []corpus.Match) error {
	relevant, others := split(matches)
	if len(relevant) > 0 && r.provider.Writer != nil && len(r.begun.Models) > 0 && !relevant[0].IsStale {
		isWritten, err := r.generate(ctx, fresh(relevant))
		if isWritten || err != nil {
			return err
		}
	}
	return r.extract(ctx, relevant, others)
}

// fallBack says the brand's own words for a question that its documents do not answer.
func (r *run) fallBack() error {
	r.done.Status, r.done.Model = NoMatch, ""
	return r.say(r.begun.Fallback)
}

// generate reports whether the models wrote the answer. When none of them can, or none of their
// texts passes the guards, the extractive answer takes over.
func (r *run) generate(ctx context.Context, evidence []corpus.Match) (bool, error) {
	nonce := r.NewNonce()
	system, user := prompt.Build(prompt.Input{
		Brand: r.begun.Brand, Persona: r.begun.Persona, Language: r.begun.Language,
		Today: r.start, Evidence: evidence, Question: r.text, Nonce: nonce,
	})
	sink := &checked{run: r, rules: guard.Prepare(guard.Input{
		Question: r.text, Evidence: evidence, System: system, Nonce: nonce,
	})}
	result, err := r.provider.Writer.Generate(ctx, r.begun.Models, r.reserve, model.Prompt{
		System: system, History: r.history(), User: user, MaxOutputTokens: maxOutputTokens,
	}, sink)
	r.done.Attempts = append(r.done.Attempts, result.Attempts...)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case sink.broken != nil:
		return false, sink.broken
	case errors.Is(err, model.ErrExhausted), errors.Is(err, model.ErrBlockedPrompt), errors.Is(err, model.ErrSafety):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("write answer: %w", err)
	case sink.hasNoAnswer:
		return true, r.fallBack()
	}
	r.done.Status, r.done.Model = Answered, result.Model
	r.done.Used = evidence
	r.done.AsOf = asOf(sink.sentences, evidence, r.text)
	return true, nil
}

func (r *run) history() []model.Message {
	var messages []model.Message
	for _, x := range r.begun.History {
		messages = append(messages,
			model.Message{Role: model.RoleUser, Text: x.Question},
			model.Message{Role: model.RoleModel, Text: x.Answer})
	}
	return messages
}

// extract answers with sentences of the documents, word for word.
func (r *run) extract(ctx context.Context, relevant, others []corpus.Match) error {
	answer, err := r.Extractor.Answer(ctx, extract.Input{
		Question: r.text, Language: r.begun.Language, Matches: relevant, Others: others,
	})
	if err != nil {
		return fmt.Errorf("extract answer: %w", err)
	}
	matches := slices.Concat(relevant, others)
	if answer.Held {
		return r.hold(matches, answer.HeldChunk)
	}
	if len(answer.Sentences) == 0 {
		return r.fallBack()
	}
	r.done.Status, r.done.Model = Answered, extractive
	r.done.Used = only(matches, answer.Used)
	r.done.AsOf = answer.AsOf
	for _, s := range answer.Sentences {
		if err := r.say(s.Text); err != nil {
			return err
		}
	}
	return nil
}

// hold says that there is a price, and why it is not quoted.
func (r *run) hold(matches []corpus.Match, chunkID string) error {
	r.done.Status, r.done.Model = Held, extractive
	r.done.Used = only(matches, []string{chunkID})
	for _, m := range r.done.Used {
		r.done.AsOf = m.VerifiedAt
		return r.say(heldWords(r.begun, m))
	}
	return r.fallBack()
}

// say adds a sentence to the answer and tells it.
func (r *run) say(text string) error {
	r.done.Answer = strings.TrimSpace(r.done.Answer + " " + text)
	if err := r.emit(Sentence(text)); err != nil {
		return fmt.Errorf("tell a sentence: %w", err)
	}
	return nil
}

// checked lets only sentences through that pass the guards.
type checked struct {
	run         *run
	rules       guard.Input
	sentences   []string
	hasNoAnswer bool
	broken      error // the client is gone
}

// Delta takes whole sentences; one that a guard refuses gives the turn to the next model.
func (c *checked) Delta(text string) error {
	if c.hasNoAnswer || strings.Contains(text, prompt.NoAnswer) {
		c.hasNoAnswer = true
		return c.forget() // the brand's own words stand alone
	}
	for _, s := range sentence.Split(text) {
		if v := guard.Check(s, c.rules); !v.OK {
			return fmt.Errorf("%w: %s", model.ErrRejected, v.Reason)
		}
		c.sentences = append(c.sentences, s)
		if err := c.run.say(s); err != nil {
			c.broken = err
			return err
		}
	}
	return nil
}

// Reset forgets what a failed model has said.
func (c *checked) Reset(string) error {
	c.hasNoAnswer = false
	return c.forget()
}

// forget takes back the sentences so far.
func (c *checked) forget() error {
	if len(c.sentences) == 0 {
		return nil
	}
	c.sentences, c.run.done.Answer = nil, ""
	c.broken = c.run.emit(Reset())
	return c.broken
}

func fresh(matches []corpus.Match) []corpus.Match {
	var kept []corpus.Match
	for _, m := range matches {
		if !m.IsStale {
			kept = append(kept, m)
		}
	}
	return kept
}

func only(matches []corpus.Match, ids []string) []corpus.Match {
	var kept []corpus.Match
	for _, id := range ids {
		for _, m := range matches {
			if m.ChunkID == id {
				kept = append(kept, m)
			}
		}
	}
	return kept
}

// asOf is the oldest date at which a price of the answer was verified: that of the chunks which
// alone support all numbers of a sentence that has some.
func asOf(sentences []string, evidence []corpus.Match, question string) *time.Time {
	var oldest *time.Time
	for _, s := range sentences {
		if !strings.ContainsAny(s, "0123456789") {
			continue
		}
		for _, m := range evidence {
			alone := guard.Input{Question: question, Evidence: []corpus.Match{m}}
			if !m.IsPricing || m.VerifiedAt == nil || !guard.Numbers(s, alone).OK {
				continue
			}
			if oldest == nil || m.VerifiedAt.Before(*oldest) {
				oldest = m.VerifiedAt
			}
		}
	}
	return oldest
}
