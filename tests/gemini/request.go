package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The methods of a model that the server knows.
const (
	GenerateContent       = "generateContent"
	StreamGenerateContent = "streamGenerateContent"
	EmbedContent          = "embedContent"
	BatchEmbedContents    = "batchEmbedContents"
)

// maxBatch is the most texts that batchEmbedContents takes in one request.
const maxBatch = 100

// Embed is one text of an embedding request.
type Embed struct {
	Text       string
	TaskType   string
	Dimensions int // 0: not sent
}

// Request is a request as it arrived.
type Request struct {
	Model  string // without "models/"
	Method string
	Path   string
	Query  string
	Header http.Header
	Raw    []byte

	System   string           // text of the system instruction
	Contents []Content        // the turns, oldest first
	Config   GenerationConfig // zero when none was sent
	Embeds   []Embed          // the texts of an embedding request, in their order
}

// User is the text of the last turn.
func (r Request) User() string {
	if len(r.Contents) == 0 {
		return ""
	}
	return r.Contents[len(r.Contents)-1].Text()
}

// readRequest decodes what arrived. Its error is what a real service would answer 400 or 403 to.
func readRequest(h *http.Request) (Request, error) {
	raw, err := io.ReadAll(h.Body)
	r := Request{Path: h.URL.Path, Query: h.URL.RawQuery, Header: h.Header.Clone(), Raw: raw}
	if err != nil {
		return r, fmt.Errorf("the body could not be read: %w", err)
	}
	name, ok := strings.CutPrefix(h.URL.Path, "/v1beta/models/")
	r.Model, r.Method, _ = strings.Cut(name, ":")
	if !ok || h.Method != http.MethodPost {
		return r, fmt.Errorf("there is no %s %s", h.Method, h.URL.Path)
	}
	if err := r.decode(); err != nil {
		return r, err
	}
	return r, r.check()
}

func (r *Request) decode() error {
	switch r.Method {
	case GenerateContent, StreamGenerateContent:
		return r.decodeGenerate()
	case EmbedContent:
		var b embedBody
		if err := strict(r.Raw, &b); err != nil {
			return err
		}
		return r.addEmbeds(b)
	case BatchEmbedContents:
		var b batchBody
		if err := strict(r.Raw, &b); err != nil {
			return err
		}
		return r.addEmbeds(b.Requests...)
	default:
		return fmt.Errorf("there is no method %q", r.Method)
	}
}

func (r *Request) decodeGenerate() error {
	var b generateBody
	if err := strict(r.Raw, &b); err != nil {
		return err
	}
	r.Contents = b.Contents
	if b.SystemInstruction != nil {
		r.System = b.SystemInstruction.Text()
	}
	if b.GenerationConfig != nil {
		r.Config = *b.GenerationConfig
	}
	return nil
}

func (r *Request) addEmbeds(bodies ...embedBody) error {
	for _, b := range bodies {
		if b.Model != "models/"+r.Model {
			return fmt.Errorf("the request in the batch is for %q, the path for %q", b.Model, r.Model)
		}
		r.Embeds = append(r.Embeds, Embed{
			Text: b.Content.Text(), TaskType: b.TaskType, Dimensions: b.OutputDimensionality,
		})
	}
	return nil
}

// check refuses what the real service refuses.
func (r *Request) check() error {
	if r.Header.Get("X-Goog-Api-Key") == "" {
		return fmt.Errorf("the header x-goog-api-key is missing")
	}
	if strings.Contains(r.Query, "key=") {
		return fmt.Errorf("the key is in the address")
	}
	switch r.Method {
	case StreamGenerateContent:
		if r.Query != "alt=sse" {
			return fmt.Errorf("the query is %q, not alt=sse", r.Query)
		}
		return r.checkTurns()
	case GenerateContent:
		return r.checkTurns()
	}
	if n := len(r.Embeds); n == 0 || n > maxBatch {
		return fmt.Errorf("* BatchEmbedContentsRequest.requests: at most %d requests can be in one batch, got %d", maxBatch, n)
	}
	for i, e := range r.Embeds {
		if e.Text == "" {
			return fmt.Errorf("* BatchEmbedContentsRequest.requests[%d].content: empty", i)
		}
	}
	return nil
}

func (r *Request) checkTurns() error {
	if len(r.Contents) == 0 {
		return fmt.Errorf("* GenerateContentRequest.contents: contents is not specified")
	}
	for i, c := range r.Contents {
		if want := []string{"user", "model"}[i%2]; c.Role != want {
			return fmt.Errorf("turn %d has the role %q instead of %q: roles must alternate", i, c.Role, want)
		}
		if len(c.Parts) == 0 {
			return fmt.Errorf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty", i)
		}
		for j, p := range c.Parts {
			if strings.TrimSpace(p.Text) == "" {
				return fmt.Errorf("part %d of turn %d has no text", j, i)
			}
		}
	}
	if len(r.Contents)%2 == 0 {
		return fmt.Errorf("the last turn must be the user's")
	}
	if t := r.Config.ThinkingConfig; t != nil && t.ThinkingBudget != nil && t.ThinkingLevel != "" {
		return fmt.Errorf("you can only set one of thinking budget and thinking level")
	}
	return nil
}

func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("invalid JSON payload received: %w", err)
	}
	return nil
}
