//go:build !cgo

package model

import (
	"strings"
	"testing"
)

func TestNewMiniLM_WithoutCgoSaysWhatToDo(t *testing.T) {
	_, err := NewMiniLM("model.onnx", "tokenizer.json", "libonnxruntime.so")
	if err == nil || !strings.Contains(err.Error(), "cgo") || !strings.Contains(err.Error(), "GEMINI_API_KEY") {
		t.Errorf("error %v, want one that names cgo and GEMINI_API_KEY", err)
	}
}
