package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"
)

var _ Generator = (*Gemini)(nil)

// errThinkingLevel is the one refusal that Generate answers by asking again.
var errThinkingLevel = fmt.Errorf("%w: it refuses the thinking level", ErrFailed)

const (
	// geminiURL is given to the library so that no environment variable can send the key elsewhere.
	geminiURL = "https://generativelanguage.googleapis.com/"
	// geminiTimeout bounds a request when the configuration does not.
	geminiTimeout = 30 * time.Second
)

// GeminiConfig configures NewGemini. Only APIKey is required.
type GeminiConfig struct {
	APIKey     string
	BaseURL    string        // empty: Google's
	HTTPClient *http.Client  // nil: a client of its own
	Timeout    time.Duration // of one request, its whole stream included; 0: 30 s
}

// Gemini is the Gemini API behind one key. It is safe for concurrent use.
type Gemini struct {
	client  *genai.Client
	timeout time.Duration
	lowOnly sync.Map // names of the models that refused the thinking level MINIMAL
}

// NewGemini returns a client; it sends nothing. The key travels in a header, never in an address,
// and redirects are not followed, because they would take the header to another host.
func NewGemini(ctx context.Context, cfg GeminiConfig) (*Gemini, error) {
	if cfg.APIKey == "" { // the library would look for one in the environment
		return nil, errors.New("gemini: there is no API key")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = geminiURL
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = geminiTimeout
	}
	var hc http.Client
	if cfg.HTTPClient != nil {
		hc = *cfg.HTTPClient
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: cfg.APIKey, Backend: genai.BackendGeminiAPI, HTTPClient: &hc,
		HTTPOptions: genai.HTTPOptions{BaseURL: cfg.BaseURL},
	})
	if err != nil { // its text holds the configuration, key included
		return nil, errors.New("gemini: the client can't be made from this configuration")
	}
	return &Gemini{client: client, timeout: cfg.Timeout}, nil
}

// Generate implements Generator by streamGenerateContent with thinking off, or as near to off as
// the model allows.
func (g *Gemini) Generate(ctx context.Context, model string, p Prompt, emit func(string) error) (Generation, error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	_, isLowOnly := g.lowOnly.Load(model)
	gen, err := g.stream(ctx, model, geminiTurns(p), geminiConfig(model, p, isLowOnly), emit)
	if errors.Is(err, errThinkingLevel) && !isLowOnly {
		g.lowOnly.Store(model, true)
		gen, err = g.stream(ctx, model, geminiTurns(p), geminiConfig(model, p, true), emit)
	}
	return gen, err
}

// stream makes one request and reads its stream to the end.
func (g *Gemini) stream(
	ctx context.Context, model string, turns []*genai.Content, config *genai.GenerateContentConfig, emit func(string) error,
) (Generation, error) {
	var gen Generation
	var text strings.Builder
	var finish genai.FinishReason
	for chunk, err := range g.client.Models.GenerateContentStream(ctx, model, turns, config) {
		if err != nil {
			return gen, geminiError(ctx, model, err)
		}
		if u := chunk.UsageMetadata; u != nil { // each is the total so far
			gen.InputTokens = int(u.PromptTokenCount)
			gen.OutputTokens = int(u.CandidatesTokenCount + u.ThoughtsTokenCount)
		}
		if f := chunk.PromptFeedback; f != nil && f.BlockReason != "" {
			return gen, &CallError{Model: model, Reason: geminiCode(string(f.BlockReason)), Err: ErrBlockedPrompt}
		}
		delta, reason := geminiDelta(chunk)
		if reason != "" {
			finish = reason
		}
		if delta == "" {
			continue
		}
		text.WriteString(delta)
		if err := emit(delta); err != nil {
			return gen, err
		}
	}
	gen.Text = text.String()
	var err error
	gen.Finish, err = geminiFinish(model, finish, gen.Text)
	return gen, err
}

// geminiConfig holds the rules and the settings of a request.
func geminiConfig(model string, p Prompt, isLowOnly bool) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(p.MaxOutputTokens, 1<<30)),
		ThinkingConfig:  geminiThinking(model, isLowOnly),
		// The library would answer a dropped stream with further paid requests of its own; whether
		// to ask again is the ladder's decision.
		AutomaticContinuation: genai.Ptr(false),
	}
	if p.System != "" {
		c.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: p.System}}}
	}
	return c
}

// geminiThinking turns thinking off: the 2.5 models take a budget of 0; later ones know levels only, and
// some of them none below LOW. Thoughts would spend the output budget and the person's time.
func geminiThinking(model string, isLowOnly bool) *genai.ThinkingConfig {
	if strings.HasPrefix(strings.TrimPrefix(model, "models/"), "gemini-2.5") {
		return &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](0)}
	}
	if isLowOnly {
		return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}
	}
	return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelMinimal}
}

// geminiTurns returns the history and the user's turn in the order that the API insists on: the
// user first, then roles that alternate. Empty turns are left out (the API refuses every later
// request of a conversation that holds one); turns that then meet share one turn, as parts.
func geminiTurns(p Prompt) []*genai.Content {
	var turns []*genai.Content
	for _, m := range append(p.History[:len(p.History):len(p.History)], Message{RoleUser, p.User}) {
		role := genai.RoleUser
		if m.Role == RoleModel {
			role = genai.RoleModel
		}
		isFirst := len(turns) == 0
		if strings.TrimSpace(m.Text) == "" || isFirst && role == genai.RoleModel {
			continue
		}
		if isFirst || turns[len(turns)-1].Role != string(role) {
			turns = append(turns, &genai.Content{Role: string(role)})
		}
		last := turns[len(turns)-1]
		last.Parts = append(last.Parts, &genai.Part{Text: m.Text})
	}
	return turns
}

// geminiDelta joins the text of a chunk, thoughts left out. Every level may be missing: the last
// chunks of a stream often hold only a finish reason or the usage.
func geminiDelta(chunk *genai.GenerateContentResponse) (string, genai.FinishReason) {
	if len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil {
		return "", ""
	}
	candidate := chunk.Candidates[0]
	if candidate.Content == nil {
		return "", candidate.FinishReason
	}
	var text strings.Builder
	for _, part := range candidate.Content.Parts {
		if part != nil && !part.Thought {
			text.WriteString(part.Text)
		}
	}
	return text.String(), candidate.FinishReason
}
