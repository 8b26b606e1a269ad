package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// write sends the answer in the shape of the request's method. Errors of the connection are the
// client's to see; there is nobody to tell here.
func write(w http.ResponseWriter, r Request, a Response) {
	switch {
	case a.body != nil:
		writeJSON(w, a.code, body(r, a))
	case r.Method == StreamGenerateContent:
		writeStream(w, r, a)
	case a.end == complete:
		writeJSON(w, http.StatusOK, merged(r, a))
	}
}

// body turns the list of embeddings into the single one of embedContent.
func body(r Request, a Response) any {
	if m, ok := a.body.(map[string]any); ok && r.Method == EmbedContent {
		if list, ok := m["embeddings"].([]embedding); ok && len(list) == 1 {
			return map[string]any{"embedding": list[0]}
		}
	}
	return a.body
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	if code == 0 {
		code = http.StatusOK
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	if text, ok := v.(raw); ok {
		_, _ = io.WriteString(w, string(text))
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

// writeStream sends one event per chunk and flushes each, so that the client sees them apart.
func writeStream(w http.ResponseWriter, r Request, a Response) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush(w)
	for i := range a.chunks {
		event(w, stamped(r, Response{chunks: a.chunks[:i+1]}))
	}
	if a.end == errorEvent {
		event(w, a.last)
	}
}

func event(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types always marshal
	}
	_, _ = fmt.Fprintf(w, "data: %s\r\n\r\n", data)
	flush(w)
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// stamped is the last chunk with what the real service puts on each: model, id, and the tokens so
// far, estimated at four bytes each, unless the test gave them.
func stamped(r Request, sofar Response) Chunk {
	c := sofar.chunks[len(sofar.chunks)-1]
	c.ModelVersion, c.ResponseID = r.Model, "fake-response"
	if c.UsageMetadata == nil {
		in, out := len(r.Raw)/4+1, (len(sofar.text())+3)/4
		c.UsageMetadata = &Usage{PromptTokenCount: in, CandidatesTokenCount: out, TotalTokenCount: in + out}
	}
	return c
}

// merged is the answer of generateContent: all chunks in one.
func merged(r Request, a Response) Chunk {
	var whole Chunk
	var cand *Candidate
	for _, c := range a.chunks {
		if c.PromptFeedback != nil {
			whole.PromptFeedback = c.PromptFeedback
		}
		if c.UsageMetadata != nil {
			whole.UsageMetadata = c.UsageMetadata
		}
		for _, next := range c.Candidates {
			if cand == nil {
				cand = &Candidate{}
			}
			if next.Content != nil {
				cand.add(*next.Content)
			}
			if next.FinishReason != "" {
				cand.FinishReason = next.FinishReason
			}
		}
	}
	if cand != nil {
		whole.Candidates = []Candidate{*cand}
	}
	return stamped(r, Response{chunks: []Chunk{whole}})
}

func (c *Candidate) add(next Content) {
	if c.Content == nil {
		c.Content = &Content{Role: next.Role}
	}
	c.Content.Parts = append(c.Content.Parts, next.Parts...)
}
