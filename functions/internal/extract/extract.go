// Package extract answers without a model: it picks, word for word, the sentences of the retrieved
// chunks that answer the question, or none. It holds a price that nobody verified in time.
package extract

import (
	"cmp"
	"context"
	"fmt"
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

// Answer picks the sentences. They come from one chunk, in its order, beginning with the one that
// answers; a second chunk adds one sentence when the question asks for something that the first
// leaves open. The error is that of Embed.
func (e Extractor) Answer(ctx context.Context, in Input) (Answer, error) {
	q := readQuestion(in.Question)
	c := readChunks(in.Matches)
	if len(c.passages) == 0 || q.isEmpty() || c.misses(q) {
		return Answer{}, nil
	}
	q.weigh(c)
	s := scorer{question: q, chunks: c, language: cmp.Or(q.language, in.Language)}
	s.compareWords()
	if e.Embed != nil {
		if err := e.compareMeaning(ctx, &s); err != nil {
			return Answer{}, err
		}
	}
	limit := in.MaxSentences
	if limit <= 0 {
		limit = maxSentences
	}
	return s.answer(limit), nil
}

// compareMeaning finds how near the headings and the best passages are to the question.
func (e Extractor) compareMeaning(ctx context.Context, s *scorer) error {
	passages := s.candidates(maxEmbedded)
	texts := []string{s.question.text}
	for _, k := range s.chunks.list {
		texts = append(texts, k.title)
	}
	for _, p := range passages {
		texts = append(texts, p.title+": "+p.text) // the heading carries the subject
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed sentences: %w", err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("embed sentences: %d vectors for %d texts", len(vectors), len(texts))
	}
	for i, k := range s.chunks.list {
		k.cosine = dot(vectors[0], vectors[1+i])
		k.near = nearness(k.cosine)
	}
	for i, p := range passages {
		p.near = nearness(dot(vectors[0], vectors[1+len(s.chunks.list)+i]))
		p.chunk.near = max(p.chunk.near, p.near)
	}
	s.hasMeaning = true
	return nil
}

// dot is the cosine of two unit vectors.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
