package model_test

import (
	"errors"
	"testing"

	"porchlight/functions/internal/model"
	"porchlight/tests/gemini"
)

// O88, O89: every finish reason has one meaning, whether text came with it or not.
func TestGenerate_MapsEveryFinishReason(t *testing.T) {
	const text = "The fee is 49 €."
	cases := []struct {
		reason   string
		withText error // nil: an answer
		bare     error
		finish   model.Finish
	}{
		{"STOP", nil, model.ErrEmpty, model.FinishStop},
		{"MAX_TOKENS", nil, model.ErrEmpty, model.FinishMaxTokens}, // O86 when bare
		{"SAFETY", model.ErrSafety, model.ErrSafety, ""},
		{"BLOCKLIST", model.ErrSafety, model.ErrSafety, ""},
		{"PROHIBITED_CONTENT", model.ErrSafety, model.ErrSafety, ""},
		{"SPII", model.ErrSafety, model.ErrSafety, ""},
		{"IMAGE_SAFETY", model.ErrSafety, model.ErrSafety, ""},
		{"IMAGE_PROHIBITED_CONTENT", model.ErrSafety, model.ErrSafety, ""},
		{"RECITATION", model.ErrRecitation, model.ErrRecitation, ""},
		{"IMAGE_RECITATION", model.ErrRecitation, model.ErrRecitation, ""},
		{"LANGUAGE", model.ErrFailed, model.ErrEmpty, ""},
		{"OTHER", model.ErrFailed, model.ErrEmpty, ""},
		{"MALFORMED_FUNCTION_CALL", model.ErrFailed, model.ErrEmpty, ""},
		{"UNEXPECTED_TOOL_CALL", model.ErrFailed, model.ErrEmpty, ""},
		{"TOO_MANY_TOOL_CALLS", model.ErrFailed, model.ErrEmpty, ""},
		{"NO_IMAGE", model.ErrFailed, model.ErrEmpty, ""},
		{"IMAGE_OTHER", model.ErrFailed, model.ErrEmpty, ""},
		{"CONTINUATION", model.ErrFailed, model.ErrEmpty, ""},
		{"FINISH_REASON_UNSPECIFIED", model.ErrUnavailable, model.ErrEmpty, ""},
		{"A_REASON_OF_TOMORROW", model.ErrFailed, model.ErrEmpty, ""},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, gemini.Finish(c.reason, text), gemini.Finish(c.reason))
			g := newGemini(t, s)
			gen, _, err := generate(t, g, lite, question())
			if !errors.Is(err, c.withText) || gen.Text != text && err == nil || gen.Finish != c.finish {
				t.Errorf("with text: got %+v, %v; want %q, %v", gen, err, c.finish, c.withText)
			}
			_, _, err = generate(t, g, lite, question())
			var call *model.CallError
			if !errors.Is(err, c.bare) || !errors.As(err, &call) || call.Model != lite {
				t.Errorf("without text: got %v, want %v", err, c.bare)
			} else if call.Reason != c.reason { // the log of the turn keeps the provider's word
				t.Errorf("reason %q, want %q", call.Reason, c.reason)
			}
			if n := s.Count(lite); n != 2 {
				t.Errorf("%d requests were sent, want 2", n)
			}
		})
	}
}

// O87: a refused prompt is told apart from an empty answer.
func TestGenerate_TellsARefusedPrompt(t *testing.T) {
	for _, reason := range []string{"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK"} {
		t.Run(reason, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, gemini.Blocked(reason))
			_, deltas, err := generate(t, newGemini(t, s), lite, question())
			var call *model.CallError
			if !errors.Is(err, model.ErrBlockedPrompt) || !errors.As(err, &call) || call.Reason != reason {
				t.Errorf("got %v", err)
			}
			if len(deltas) > 0 {
				t.Errorf("got text %q", deltas)
			}
		})
	}
}

// O94: all parts are joined, thoughts are left out.
func TestGenerate_JoinsPartsWithoutThoughts(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Parts(
		gemini.Part{Text: "Let me look at the plans.", Thought: true},
		gemini.Part{Text: "The fee is "}, gemini.Part{Text: "49 €"}, gemini.Part{Text: "."},
	))
	gen, _, err := generate(t, newGemini(t, s), lite, question())
	if err != nil || gen.Text != "The fee is 49 €." {
		t.Errorf("got %q, %v", gen.Text, err)
	}
}

// O95: chunks without content, parts or candidates are read without a panic.
func TestGenerate_ReadsIncompleteChunks(t *testing.T) {
	text := func(s string) gemini.Chunk {
		return gemini.Chunk{Candidates: []gemini.Candidate{{Content: &gemini.Content{Role: "model", Parts: []gemini.Part{{Text: s}}}}}}
	}
	stop := gemini.Chunk{Candidates: []gemini.Candidate{{FinishReason: "STOP"}}}
	bare := gemini.Chunk{Candidates: []gemini.Candidate{{Content: &gemini.Content{Role: "model"}}}}
	usage := gemini.Chunk{UsageMetadata: &gemini.Usage{PromptTokenCount: 7, CandidatesTokenCount: 3, ThoughtsTokenCount: 2}}
	cases := []struct {
		name   string
		chunks []gemini.Chunk
		want   string
		err    error
	}{
		{"finish reason without content", []gemini.Chunk{text("Yes."), stop}, "Yes.", nil},
		{"content without parts", []gemini.Chunk{bare, text("Yes."), bare, stop}, "Yes.", nil},
		{"usage alone at the end", []gemini.Chunk{text("Yes."), stop, usage}, "Yes.", nil},
		{"empty candidate", []gemini.Chunk{{Candidates: []gemini.Candidate{{}}}}, "", model.ErrEmpty},
		{"finish reason alone", []gemini.Chunk{stop}, "", model.ErrEmpty},
		{"usage alone", []gemini.Chunk{usage}, "", model.ErrEmpty},
		{"only thoughts", []gemini.Chunk{{Candidates: []gemini.Candidate{{Content: &gemini.Content{
			Parts: []gemini.Part{{Text: "Hm.", Thought: true}},
		}, FinishReason: "STOP"}}}}, "", model.ErrEmpty},
		{"nothing at all", nil, "", model.ErrEmpty},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, gemini.Chunks(c.chunks...))
			gen, _, err := generate(t, newGemini(t, s), lite, question())
			if !errors.Is(err, c.err) || gen.Text != c.want {
				t.Errorf("got %q, %v; want %q, %v", gen.Text, err, c.want, c.err)
			}
		})
	}
}

func TestGenerate_CountsThoughtsAsOutput(t *testing.T) {
	s := gemini.NewServer(t)
	r := gemini.Text("Yes.")
	s.Queue(lite, r.WithUsage(10, 3), gemini.Chunks(gemini.Chunk{
		Candidates:    []gemini.Candidate{{Content: &gemini.Content{Parts: []gemini.Part{{Text: "Yes."}}}, FinishReason: "STOP"}},
		UsageMetadata: &gemini.Usage{PromptTokenCount: 10, CandidatesTokenCount: 3, ThoughtsTokenCount: 40},
	}))
	g := newGemini(t, s)
	for i, want := range []int{3, 43} {
		gen, _, err := generate(t, g, lite, question())
		if err != nil || gen.InputTokens != 10 || gen.OutputTokens != want {
			t.Errorf("answer %d: got %+v, %v; want %d output tokens", i, gen, err, want)
		}
	}
}

func TestGenerate_TellsAStreamThatWasCut(t *testing.T) {
	cases := []struct {
		name   string
		answer gemini.Response
		err    error
	}{
		{"connection broken", gemini.Text("The fee ", "is 4").ThenCut(), model.ErrUnavailable},
		{"closed politely without a finish reason", gemini.Text("The fee ", "is 4").ThenEnd(), model.ErrUnavailable},
		{"error as an event", gemini.Text("The fee ").ThenFail(gemini.Unavailable()), model.ErrUnavailable},
		{"cut with an invitation to ask for the rest", gemini.Chunks(gemini.Chunk{Candidates: []gemini.Candidate{{
			Content: &gemini.Content{Role: "model", Parts: []gemini.Part{{Text: "The fee "}}}, ContinuationToken: "dG9rZW4=",
		}}}).ThenCut(), model.ErrUnavailable},
		{"no stream at all", gemini.Raw(200, `<html>proxy</html>`), model.ErrUnavailable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, c.answer)
			if _, _, err := generate(t, newGemini(t, s), lite, question()); !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
			if n := s.Count(lite); n != 1 { // the library must not ask again by itself
				t.Errorf("%d requests were sent, want 1", n)
			}
		})
	}
}
