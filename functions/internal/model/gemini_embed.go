package model

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

const (
	// GeminiDimensions is the length of the vectors that GeminiEmbedder returns.
	GeminiDimensions = 768
	// GeminiBatch is the most texts that batchEmbedContents takes in one request; it answers 400 to
	// more.
	GeminiBatch = 100
)

// geminiTask is one of the two sides of a search. A text embedded for one side must not be compared
// with texts of the same side.
type geminiTask struct {
	name   string // what gemini-embedding-001 is told
	prefix string // what gemini-embedding-2 is told: it reads the task in the text, and ignores the name
}

var (
	geminiDocument = geminiTask{"RETRIEVAL_DOCUMENT", "title: none | text: "}
	geminiQuery    = geminiTask{"RETRIEVAL_QUERY", "task: search result | query: "}
)

// GeminiEmbedder makes the vectors of one index with one model. It never falls back to another
// model: vectors of two models can't be compared, however alike they look.
type GeminiEmbedder struct {
	gemini *Gemini
	index  string
	model  string
}

// Embedder returns the embedder of an index, such as "primary" with "gemini-embedding-001".
func (g *Gemini) Embedder(index, model string) *GeminiEmbedder {
	return &GeminiEmbedder{gemini: g, index: index, model: model}
}

// Index returns the name of the index that the vectors belong to.
func (e *GeminiEmbedder) Index() string { return e.index }

// Model returns the name of the model.
func (e *GeminiEmbedder) Model() string { return e.model }

// EmbedQuery returns the vector of a question: GeminiDimensions numbers of unit length. Its errors
// are those of EmbedDocuments.
func (e *GeminiEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.embed(ctx, []string{text}, geminiQuery)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedDocuments returns the vectors of passages, one per text in the same order, each of
// GeminiDimensions numbers and unit length; all of them or none. Its errors are a *QuotaError, a
// *CallError (ErrModelNotFound: the operator must act), or ErrBadVector when the provider's answer
// is not what was asked for.
func (e *GeminiEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), GeminiBatch)
		vectors, err := e.embed(ctx, texts[:n], geminiDocument)
		if err != nil {
			return nil, err
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

// embed makes one request. Each text is a content of its own: several parts of one content would
// come back as a single vector.
func (e *GeminiEmbedder) embed(ctx context.Context, texts []string, task geminiTask) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.gemini.timeout)
	defer cancel()
	contents := make([]*genai.Content, len(texts))
	for i, text := range texts {
		if strings.HasPrefix(e.model, "gemini-embedding-2") {
			text = task.prefix + text
		}
		contents[i] = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{Text: text}}}
	}
	answer, err := e.gemini.client.Models.EmbedContent(ctx, e.model, contents, &genai.EmbedContentConfig{
		TaskType: task.name, OutputDimensionality: genai.Ptr[int32](GeminiDimensions),
	})
	if err != nil {
		return nil, geminiError(ctx, e.model, err)
	}
	if len(answer.Embeddings) != len(texts) {
		return nil, fmt.Errorf("model %s: %w: %d vectors came for %d texts",
			e.model, ErrBadVector, len(answer.Embeddings), len(texts))
	}
	vectors := make([][]float32, len(texts))
	for i, embedding := range answer.Embeddings {
		if vectors[i], err = e.vector(embedding); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// vector checks one embedding and scales it to length 1: a shortened gemini-embedding-001 comes in
// any length.
func (e *GeminiEmbedder) vector(embedding *genai.ContentEmbedding) ([]float32, error) {
	if embedding == nil {
		embedding = &genai.ContentEmbedding{}
	}
	if n := len(embedding.Values); n != GeminiDimensions {
		return nil, fmt.Errorf("model %s: %w: it has %d numbers instead of %d", e.model, ErrBadVector, n, GeminiDimensions)
	}
	v := make([]float64, GeminiDimensions)
	for i, x := range embedding.Values {
		v[i] = float64(x)
	}
	scaled, err := unit(v)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", e.model, err)
	}
	return scaled, nil
}
