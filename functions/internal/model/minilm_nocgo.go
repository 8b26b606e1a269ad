//go:build !cgo

package model

import (
	"context"
	"errors"
)

var errNoCgo = errors.New("the local index needs a program built with cgo, on your own machine; " +
	"set GEMINI_API_KEY or use the hosted index")

// MiniLM can't exist in a build without cgo: NewMiniLM always refuses.
type MiniLM struct{}

// NewMiniLM says plainly that this build has no local index.
func NewMiniLM(_, _, _ string) (*MiniLM, error) { return nil, errNoCgo }

// Index is the registered index that MiniLM belongs to.
func (*MiniLM) Index() string { return "local" }

// Model is the model name registered for that index.
func (*MiniLM) Model() string { return "all-MiniLM-L6-v2" }

// EmbedQuery always refuses.
func (*MiniLM) EmbedQuery(context.Context, string) ([]float32, error) { return nil, errNoCgo }

// EmbedDocuments always refuses.
func (*MiniLM) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return nil, errNoCgo
}

// Close does nothing.
func (*MiniLM) Close() error { return nil }
