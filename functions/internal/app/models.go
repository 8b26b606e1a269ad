package app

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
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

// sharedPool is the quota pool of brands that have none of their own.
const sharedPool = "shared"

// attemptTimeout is how long one model may take: a person stands at a door.
const attemptTimeout = 12 * time.Second

// models are the models that the configuration gives access to.
type models struct {
	providers map[string]turn.Provider // by quota pool
	local     []turn.Embedder
	documents []ingest.Embedder
	sentences func(ctx context.Context, texts []string) ([][]float32, error) // nil without a local model
	close     func() error
}

// openModels opens what is configured. Without any model reviews still work, and a question gets 503.
func openModels(ctx context.Context, c config.Config) (*models, error) {
	m := &models{providers: map[string]turn.Provider{}, close: func() error { return nil }}
	if key := c.GeminiKey.Reveal(); key != "" {
		gemini, err := model.NewGemini(ctx, model.GeminiConfig{APIKey: key, BaseURL: c.GeminiBaseURL})
		if err != nil {
			return nil, fmt.Errorf("open Gemini: %w", err)
		}
		primary, fallback := gemini.Embedder("primary", primaryModel), gemini.Embedder("fallback", fallbackModel)
		m.providers[sharedPool] = turn.Provider{
			Embedders: []turn.Embedder{primary, fallback},
			Writer: model.Ladder{
				Generator: gemini, AttemptTimeout: attemptTimeout, Now: time.Now, Sleep: model.Sleep,
			},
		}
		m.documents = append(m.documents, primary, fallback)
	}
	if c.LocalModelDir != "" {
		local, err := openLocal(c.LocalModelDir)
		if err != nil {
			return nil, fmt.Errorf("open the local model: %w", err)
		}
		m.local, m.sentences, m.close = []turn.Embedder{local}, local.EmbedDocuments, local.Close
		m.documents = append(m.documents, local)
	}
	return m, nil
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
