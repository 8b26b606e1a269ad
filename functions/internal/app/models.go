package app

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"porchlight/functions/internal/config"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/turn"
)

// The models behind the hosted indexes, as app.embedding_indexes registers them. The database refuses
// any other.
const (
	primaryModel  = "gemini-embedding-001"
	fallbackModel = "gemini-embedding-2"
)

// attemptTimeout is how long one model may take: a person stands at a door.
const attemptTimeout = 12 * time.Second

// models are the models that the configuration gives access to.
type models struct {
	providers map[string]turn.Provider // by quota pool
	local     []turn.Embedder
	hosted    map[string][]ingest.Embedder                                   // for documents, by quota pool
	documents []ingest.Embedder                                              // of this machine
	sentences func(ctx context.Context, texts []string) ([][]float32, error) // nil without a local model
	close     func() error
}

// openModels opens what is configured. Without any model reviews still work, and a question gets 503.
func openModels(ctx context.Context, c config.Config) (*models, error) {
	m := &models{
		providers: map[string]turn.Provider{}, hosted: map[string][]ingest.Embedder{},
		close: func() error { return nil },
	}
	for pool, key := range c.Keys() {
		if err := m.openGemini(ctx, pool, model.GeminiConfig{APIKey: key.Reveal(), BaseURL: c.GeminiBaseURL}); err != nil {
			return nil, fmt.Errorf("open Gemini: %w", err)
		}
	}
	if c.LocalModelDir != "" {
		local, err := openLocal(c.LocalModelDir)
		if err != nil {
			return nil, fmt.Errorf("open the local model: %w", err)
		}
		m.local, m.sentences, m.close = []turn.Embedder{local}, local.EmbedDocuments, local.Close
		m.documents = []ingest.Embedder{local}
	}
	return m, nil
}

// openGemini opens the models that the key of a pool gives access to.
func (m *models) openGemini(ctx context.Context, pool string, c model.GeminiConfig) error {
	gemini, err := model.NewGemini(ctx, c)
	if err != nil {
		return err
	}
	primary, fallback := gemini.Embedder("primary", primaryModel), gemini.Embedder("fallback", fallbackModel)
	m.hosted[pool] = []ingest.Embedder{primary, fallback}
	m.providers[pool] = turn.Provider{
		Embedders: []turn.Embedder{primary, fallback},
		Writer: model.Ladder{
			Generator: gemini, AttemptTimeout: attemptTimeout, Now: time.Now, Sleep: model.Sleep,
		},
	}
	return nil
}

// embedders are those for the documents of a brand of that pool. take is asked before each call of a
// hosted model.
func (m *models) embedders(pool string, take func(ctx context.Context, model string) error) []ingest.Embedder {
	var all []ingest.Embedder
	for _, e := range m.hosted[pool] {
		all = append(all, metered{e, take})
	}
	return append(all, m.documents...)
}

// metered is an embedder each of whose calls is counted.
type metered struct {
	ingest.Embedder
	take func(ctx context.Context, model string) error
}

// EmbedDocuments takes a call for each request that it makes.
func (m metered) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, model.GeminiBatch) {
		if err := m.take(ctx, m.Model()); err != nil {
			return nil, err
		}
		vectors, err := m.Embedder.EmbedDocuments(ctx, batch)
		if err != nil {
			return nil, err
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// openLocal finds the files where scripts/parts.sh puts them.
func openLocal(dir string) (*model.MiniLM, error) {
	library := "libonnxruntime.so"
	if runtime.GOOS == "darwin" {
		library = "libonnxruntime.dylib"
	}
	minilm := filepath.Join(dir, "minilm-int8-1.0.0")
	return model.NewMiniLM(filepath.Join(minilm, "model.onnx"), filepath.Join(minilm, "tokenizer.json"),
		filepath.Join(dir, "onnxruntime-1.32.0", library))
}
