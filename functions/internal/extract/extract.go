// Package extract answers without a model: it picks, word for word, the sentences of the retrieved
// chunks that answer the question, or none. It holds a price that nobody verified in time.
package extract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"porchlight/functions/internal/corpus"
)

// maxSentences is the length of an answer when the caller does not say.
const maxSentences = 3

// Extractor answers questions. The zero value compares words only.
type Extractor struct {
	// Embed returns one unit vector per text, in order. With it, sentences are compared by meaning
	// too; nil is allowed.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
}

// Input is a question and what a search of the asker's own brand found for it.
type Input struct {
	Question     string
	Language     string         // ISO 639-1, where the question's own words do not tell its language
	Matches      []corpus.Match // relevant ones only, best first; stale prices may be among them
	Others       []corpus.Match // what was found below the threshold: there only the price of a thing by its name counts
	MaxSentences int            // 0: 3
}

// Sentence is a sentence of a chunk, without list marks and emphasis.
type Sentence struct {
	Text    string
	ChunkID string
	Index   int // of the sentence in its chunk, from 0
}

// Answer is what the documents say. Without sentences they do not answer the question, unless Held.
type Answer struct {
	Sentences []Sentence
	AsOf      *time.Time // the oldest verification among the pricing chunks used; nil without one
	Held      bool       // the answer is a price of HeldChunk, too old to be quoted
	HeldChunk string
	Used      []string // ids of the chunks quoted, in order
}

// Answer picks the sentences. A question for a price is answered by the rows of tables that it names, or
// by all that it fits equally, at most four. Otherwise the sentences come from one chunk, in its order,
// beginning with the one that answers; a second chunk adds one sentence when the question asks for
// something that the first leaves open. The error is that of Embed.
func (e Extractor) Answer(ctx context.Context, in Input) (Answer, error) {
	q := readQuestion(in.Question)
	if q.isEmpty() {
		return Answer{}, nil
	}
	if q.price == priceAsked {
		if s, isKnown := newScorer(q, in, in.Others); isKnown {
			if listed, isFound := s.listed(); isFound {
				return listed, nil
			}
		}
	}
	s, isKnown := newScorer(q, in, nil)
	if !isKnown {
		return Answer{}, nil
	}
	limit := in.MaxSentences
	if limit <= 0 {
		limit = maxSentences
	}
	if e.Embed != nil {
		if err := e.compareMeaning(ctx, &s); err != nil {
			return Answer{}, err
		}
	}
	return s.answer(limit), nil
}

// newScorer compares the words of the question with those of the chunks. It reports false where the
// question is about something that none of them knows.
func newScorer(q question, in Input, others []corpus.Match) (scorer, bool) {
	c := readChunks(in.Matches, others)
	if len(c.passages) == 0 || c.misses(q) {
		return scorer{}, false
	}
	q.terms = slices.Clone(q.terms)
	q.weigh(c)
	s := scorer{question: q, chunks: c, language: cmp.Or(q.language, in.Language)}
	s.compareWords()
	return s, true
}

// maxEmbedded is the number of texts that are embedded for a question, itself included: each takes
// several milliseconds of a processor.
const maxEmbedded = 10

// compareMeaning finds how near the headings and the best passages are to the question.
func (e Extractor) compareMeaning(ctx context.Context, s *scorer) error {
	texts := []string{s.question.text}
	place := map[string]int{} // of a text among texts
	add := func(text string) {
		if _, isKnown := place[text]; !isKnown && len(texts) < maxEmbedded {
			place[text] = len(texts)
			texts = append(texts, text)
		}
	}
	for _, k := range s.chunks.list {
		add(k.title)
	}
	passages := s.candidates()
	for _, p := range passages {
		add(p.embedded())
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed sentences: %w", err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed sentences: %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, k := range s.chunks.list {
		if i, isKnown := place[k.title]; isKnown {
			k.cosine = dot(vectors[0], vectors[i])
			k.near = nearness(k.cosine)
		}
	}
	for _, p := range passages {
		if i, isKnown := place[p.embedded()]; isKnown {
			p.near = nearness(dot(vectors[0], vectors[i]))
			p.chunk.near = max(p.chunk.near, p.near)
		}
	}
	s.hasMeaning = true
	return nil
}

// embedded is the text of a passage as it is embedded: the heading carries the subject.
func (p *passage) embedded() string { return p.title + ": " + p.text }

// dot is the cosine of two unit vectors.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
