package app

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

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

// models are the models that the configuration gives access to.
type models struct {
	queries   []turn.Embedder
	documents []ingest.Embedder
	generator model.Generator                                                // nil without a key
	sentences func(ctx context.Context, texts []string) ([][]float32, error) // nil without a local model
	local     *model.MiniLM
}

// embedder serves questions and documents alike.
type embedder interface {
	turn.Embedder
	ingest.Embedder
}

// openModels opens what is configured. Without any model reviews still work, and a question gets 503.
func openModels(ctx context.Context, c config.Config) (*models, error) {
	m := &models{}
	if key := c.GeminiKey.Reveal(); key != "" {
		gemini, err := model.NewGemini(ctx, model.GeminiConfig{APIKey: key, BaseURL: c.GeminiBaseURL})
		if err != nil {
			return nil, fmt.Errorf("open Gemini: %w", err)
		}
		m.generator = gemini
		m.add(gemini.Embedder("primary", primaryModel))
		m.add(gemini.Embedder("fallback", fallbackModel))
	}
	if c.LocalModelDir != "" {
		local, err := openLocal(c.LocalModelDir)
		if err != nil {
			return nil, fmt.Errorf("open the local model: %w", err)
		}
		m.local, m.sentences = local, local.EmbedDocuments
		m.add(local)
	}
	return m, nil
}

func (m *models) add(e embedder) {
	m.queries = append(m.queries, e)
	m.documents = append(m.documents, e)
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

func (m *models) close() error {
	if m.local == nil {
		return nil
	}
	return m.local.Close()
}
