package model_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/model"
	"porchlight/tests/gemini"

	"github.com/google/go-cmp/cmp"
)

const (
	embedding001 = "gemini-embedding-001"
	embedding2   = "gemini-embedding-2"
)

func length(v []float32) float64 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// constant is a vector of n numbers x.
func constant(n int, x float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// O48: documents and questions are embedded for their side of the search, in 768 numbers.
func TestGeminiEmbedder_SendsTaskAndDimensions(t *testing.T) {
	cases := []struct{ model, document, query string }{
		{embedding001, "Home Flex: 49 €", "What does it cost?"},
		// The task type means nothing to this model: it reads the task in the text.
		{embedding2, "title: none | text: Home Flex: 49 €", "task: search result | query: What does it cost?"},
	}
	for _, c := range cases {
		t.Run(c.model, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.On(c.model, gemini.WordVectors)
			e := newGemini(t, s).Embedder("primary", c.model)
			if _, err := e.EmbedDocuments(t.Context(), []string{"Home Flex: 49 €"}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.EmbedQuery(t.Context(), "What does it cost?"); err != nil {
				t.Fatal(err)
			}
			wire := func(text, task string) any {
				return map[string]any{"requests": []any{map[string]any{
					"model":    "models/" + c.model,
					"content":  map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}},
					"taskType": task, "outputDimensionality": 768.0,
				}}}
			}
			want := []any{wire(c.document, "RETRIEVAL_DOCUMENT"), wire(c.query, "RETRIEVAL_QUERY")}
			got := []any{sent(t, s.Requests()[0]), sent(t, s.Requests()[1])}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bodies (-want +got):\n%s", diff)
			}
		})
	}
}

// O44: what comes in any length leaves with length 1, so that ranking does not depend on length.
func TestGeminiEmbedder_NormalisesOnWriteAndOnQuery(t *testing.T) {
	s := gemini.NewServer(t)
	s.On(embedding001, func(r gemini.Request) gemini.Response {
		var vectors [][]float32
		for range r.Embeds {
			v := make([]float32, 768)
			v[0], v[1] = 2, 1
			vectors = append(vectors, v)
		}
		return gemini.Vectors(vectors...)
	})
	e := newGemini(t, s).Embedder("primary", embedding001)
	documents, err := e.EmbedDocuments(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	query, err := e.EmbedQuery(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range append(documents, query) {
		if math.Abs(length(v)-1) > 1e-6 || math.Abs(float64(v[0])-2/math.Sqrt(5)) > 1e-6 {
			t.Errorf("vector %d: length %v, first %v", i, length(v), v[0])
		}
	}
	if math.Abs(dot(documents[0], query)-1) > 1e-6 {
		t.Errorf("the same direction gives %v", dot(documents[0], query))
	}
}

// O45, O56: a vector that can't be stored or compared never leaves, and the error says why.
func TestGeminiEmbedder_RefusesBadVectors(t *testing.T) {
	cases := []struct {
		name   string
		answer gemini.Response
		says   []string
	}{
		{"the dimensions were ignored", gemini.Vectors(constant(3072, 1)), []string{embedding001, "3072", "768"}},
		{"one number short", gemini.Vectors(constant(767, 1)), []string{embedding001, "767"}},
		{"no numbers", gemini.Vectors(nil), []string{embedding001, "0 numbers"}},
		{"null for a vector", gemini.Raw(200, `{"embeddings":[null]}`), []string{embedding001, "0 numbers"}},
		{"zero vector", gemini.Vectors(constant(768, 0)), []string{embedding001, "length is 0"}},
		{"too many vectors", gemini.Vectors(constant(768, 1), constant(768, 2)), []string{embedding001, "2 vectors", "1 texts"}},
		{"no vectors", gemini.Raw(200, `{}`), []string{embedding001, "0 vectors"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.On(embedding001, func(gemini.Request) gemini.Response { return c.answer })
			e := newGemini(t, s).Embedder("primary", embedding001)
			v, queryErr := e.EmbedQuery(t.Context(), "q")
			all, documentErr := e.EmbedDocuments(t.Context(), []string{"d"})
			if v != nil || all != nil {
				t.Errorf("a vector left: %d numbers, %d vectors", len(v), len(all))
			}
			for _, err := range []error{queryErr, documentErr} {
				if !errors.Is(err, model.ErrBadVector) {
					t.Fatalf("got %v", err)
				}
				for _, part := range c.says {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
			}
		})
	}
}

// O56: a question without a word must not become a vector that ranks at random.
func TestGeminiEmbedder_RefusesTheZeroVectorOfAWordlessQuestion(t *testing.T) {
	s := gemini.NewServer(t)
	s.On(embedding001, gemini.WordVectors)
	e := newGemini(t, s).Embedder("primary", embedding001)
	for _, q := range []string{"   ", "👍"} {
		if v, err := e.EmbedQuery(t.Context(), q); !errors.Is(err, model.ErrBadVector) || v != nil {
			t.Errorf("%q: got %d numbers, %v", q, len(v), err)
		}
	}
}

func TestGeminiEmbedder_KeepsTheOrderOverBatchesOfAHundred(t *testing.T) {
	s := gemini.NewServer(t) // it refuses more than 100
	s.On(embedding001, gemini.WordVectors)
	texts := make([]string, 205)
	for i := range texts {
		texts[i] = fmt.Sprintf("passage number%d of the corpus", i)
	}
	vectors, err := newGemini(t, s).Embedder("primary", embedding001).EmbedDocuments(t.Context(), texts)
	if err != nil || len(vectors) != len(texts) {
		t.Fatalf("got %d vectors, %v", len(vectors), err)
	}
	for i, v := range vectors {
		raw := gemini.WordVector(texts[i], "RETRIEVAL_DOCUMENT", 768)
		if got := dot(v, raw) / length(raw); math.Abs(got-1) > 1e-5 {
			t.Errorf("vector %d is not that of its text: cosine %v", i, got)
		}
	}
	var sizes []int
	for _, r := range s.Requests() {
		sizes = append(sizes, len(r.Embeds))
	}
	if diff := cmp.Diff([]int{100, 100, 5}, sizes); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestGeminiEmbedder_ReturnsAllVectorsOrNone(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(embedding001, gemini.Vectors(slice(100, constant(768, 1))...), gemini.Unavailable())
	vectors, err := newGemini(t, s).Embedder("primary", embedding001).EmbedDocuments(t.Context(), slice(150, "text"))
	if vectors != nil || !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("got %d vectors, %v", len(vectors), err)
	}
}

func slice[T any](n int, x T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = x
	}
	return s
}

func TestGeminiEmbedder_EmbedsNothingForNothing(t *testing.T) {
	s := gemini.NewServer(t)
	vectors, err := newGemini(t, s).Embedder("primary", embedding001).EmbedDocuments(t.Context(), nil)
	if err != nil || len(vectors) != 0 || len(s.Requests()) != 0 {
		t.Errorf("got %d vectors, %v, %d requests", len(vectors), err, len(s.Requests()))
	}
}

// O49: on failure the embedder names its index and asks no other model.
func TestGeminiEmbedder_NeverFallsBackToAnotherModel(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(embedding001, gemini.Quota(3*time.Second, gemini.PerMinute), gemini.Quota(0, gemini.PerMinute, gemini.PerDay))
	s.On(embedding2, gemini.WordVectors)
	e := newGemini(t, s).Embedder("primary", embedding001)
	if e.Index() != "primary" || e.Model() != embedding001 {
		t.Errorf("got %s, %s", e.Index(), e.Model())
	}
	for _, daily := range []bool{false, true} { // O85
		v, err := e.EmbedQuery(t.Context(), "q")
		var quota *model.QuotaError
		if v != nil || !errors.As(err, &quota) || quota.Daily != daily || quota.Model != embedding001 {
			t.Errorf("got %d numbers, %v", len(v), err)
		}
	}
	if n := s.Count(embedding2); n != 0 {
		t.Errorf("the other model got %d requests", n)
	}
}

// O50: a retired model is the operator's business, not a quota to wait for.
func TestGeminiEmbedder_TellsARetiredModel(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(embedding001, gemini.NotFound())
	_, err := newGemini(t, s).Embedder("primary", embedding001).EmbedQuery(t.Context(), "q")
	var quota *model.QuotaError
	if !errors.Is(err, model.ErrModelNotFound) || errors.As(err, &quota) || !strings.Contains(err.Error(), embedding001) {
		t.Errorf("got %v", err)
	}
}
