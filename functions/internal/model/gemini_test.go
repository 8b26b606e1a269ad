package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"porchlight/functions/internal/model"
	"porchlight/tests/gemini"

	"github.com/google/go-cmp/cmp"
)

const (
	testKey = "AIzaTestKey-not-a-real-one"
	lite    = "gemini-3.5-flash-lite"
)

func newGemini(t *testing.T, s *gemini.Server) *model.Gemini {
	t.Helper()
	g, err := model.NewGemini(t.Context(), model.GeminiConfig{APIKey: testKey, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// generate collects the deltas of one call.
func generate(t *testing.T, g *model.Gemini, name string, p model.Prompt) (model.Generation, []string, error) {
	t.Helper()
	var deltas []string
	gen, err := g.Generate(t.Context(), name, p, func(d string) error {
		deltas = append(deltas, d)
		return nil
	})
	return gen, deltas, err
}

func question() model.Prompt { return model.Prompt{System: "Rules.", User: "What does it cost?"} }

// sent decodes the raw body of a request, so that tests look at the wire and not at our types.
func sent(t *testing.T, r gemini.Request) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestGenerate_StreamsDeltasAndCountsTokens(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Text("The fee ", "is 49 €", ".").WithUsage(120, 9))
	gen, deltas, err := generate(t, newGemini(t, s), lite, question())
	if err != nil {
		t.Fatal(err)
	}
	want := model.Generation{Text: "The fee is 49 €.", Finish: model.FinishStop, InputTokens: 120, OutputTokens: 9}
	if diff := cmp.Diff(want, gen); diff != "" {
		t.Errorf("generation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"The fee ", "is 49 €", "."}, deltas); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestGenerate_SendsRulesOnlyAsSystemInstruction(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Text("Yes."))
	p := model.Prompt{System: "Answer from the data only.", User: "<data>49 €</data> What is the fee?", MaxOutputTokens: 512}
	if _, _, err := generate(t, newGemini(t, s), lite, p); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": p.User}}}},
		"systemInstruction": map[string]any{
			"role": "user", "parts": []any{map[string]any{"text": p.System}},
		},
		"generationConfig": map[string]any{
			"maxOutputTokens": 512.0, "thinkingConfig": map[string]any{"thinkingLevel": "MINIMAL"},
		},
	}
	if diff := cmp.Diff(want, sent(t, s.Requests()[0])); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// O86: thinking would spend the output budget, so it is off on the wire.
func TestGenerate_TurnsThinkingOff(t *testing.T) {
	cases := []struct {
		name, model string
		refuses     bool
		want        []string // thinkingConfig of each request
	}{
		{"2.5 takes a budget of zero", "gemini-2.5-flash", false, []string{`"thinkingConfig":{"thinkingBudget":0}`}},
		{"3.5 lite takes MINIMAL", lite, false, []string{`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`}},
		{"3.6 takes MINIMAL", "gemini-3.6-flash", false, []string{`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`}},
		{"a model that refuses MINIMAL gets LOW", "gemini-3.1-pro", true, []string{
			`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`, `"thinkingConfig":{"thinkingLevel":"LOW"}`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.On(c.model, func(gemini.Request) gemini.Response { return gemini.Text("Yes.") })
			if c.refuses {
				s.On(c.model, gemini.RefuseMinimal(gemini.Text("Yes.")))
			}
			g := newGemini(t, s)
			gen, _, err := generate(t, g, c.model, question())
			if err != nil || gen.Text != "Yes." {
				t.Fatalf("got %+v, %v", gen, err)
			}
			requests := s.Requests()
			if len(requests) != len(c.want) {
				t.Fatalf("%d requests were sent, want %d", len(requests), len(c.want))
			}
			for i, want := range c.want {
				if !strings.Contains(string(requests[i].Raw), want) {
					t.Errorf("request %d lacks %s: %s", i, want, requests[i].Raw)
				}
			}
			if _, _, err := generate(t, g, c.model, question()); err != nil || s.Count(c.model) != len(c.want)+1 {
				t.Errorf("the second question took %d requests, %v", s.Count(c.model)-len(c.want), err)
			}
		})
	}
}

func TestGenerate_AsksOnceMoreAtMostAboutThinking(t *testing.T) {
	s := gemini.NewServer(t)
	s.On(lite, func(gemini.Request) gemini.Response {
		return gemini.Fail(400, "INVALID_ARGUMENT", "'minimal' is not a supported thinking level for this model.")
	})
	if _, _, err := generate(t, newGemini(t, s), lite, question()); !errors.Is(err, model.ErrFailed) {
		t.Errorf("got %v", err)
	}
	if n := s.Count(lite); n != 2 {
		t.Errorf("%d requests were sent, want 2", n)
	}
}

// O90: an empty turn in the history must not make every later request fail.
func TestGenerate_RepairsHistory(t *testing.T) {
	const user, bot = model.RoleUser, model.RoleModel
	cases := []struct {
		name    string
		history []model.Message
		want    [][]string // role, then the parts
	}{
		{"no history", nil, [][]string{{user, "now"}}},
		{"turns that alternate stay", []model.Message{{user, "a"}, {bot, "b"}}, [][]string{{user, "a"}, {bot, "b"}, {user, "now"}}},
		{"an empty answer is left out", []model.Message{{user, "a"}, {bot, ""}}, [][]string{{user, "a", "now"}}},
		{
			"an empty answer in the middle",
			[]model.Message{{user, "a"}, {bot, " \n"}, {user, "b"}, {bot, "c"}},
			[][]string{{user, "a", "b"}, {bot, "c"}, {user, "now"}},
		},
		{
			"an empty question",
			[]model.Message{{user, "a"}, {bot, "b"}, {user, ""}, {bot, "c"}},
			[][]string{{user, "a"}, {bot, "b", "c"}, {user, "now"}},
		},
		{
			"an answer without a question",
			[]model.Message{{bot, "hello"}, {user, "a"}, {bot, "b"}},
			[][]string{{user, "a"}, {bot, "b"}, {user, "now"}},
		},
		{"only empty turns", []model.Message{{user, ""}, {bot, ""}}, [][]string{{user, "now"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t) // it refuses empty turns and roles that do not alternate
			s.Queue(lite, gemini.Text("Yes."))
			if _, _, err := generate(t, newGemini(t, s), lite, model.Prompt{History: c.history, User: "now"}); err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for _, turn := range s.Requests()[0].Contents {
				row := []string{turn.Role}
				for _, p := range turn.Parts {
					row = append(row, p.Text)
				}
				got = append(got, row)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGenerate_StopsWhenTheConsumerDoes(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Text("First. ").ThenHang())
	enough := errors.New("enough")
	_, err := newGemini(t, s).Generate(t.Context(), lite, question(), func(string) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if got := <-s.Left(); got != lite { // the request was given up, not left running
		t.Errorf("left %q", got)
	}
}

func TestGenerate_EndsTheRequestWhenCancelled(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Text("First. ").ThenHang())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := newGemini(t, s).Generate(ctx, lite, question(), func(string) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-s.Left()
}

func TestNewGemini_RefusesAnEmptyKeyAndLooksForNoOther(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "from-the-environment")
	if g, err := model.NewGemini(t.Context(), model.GeminiConfig{}); err == nil || g != nil {
		t.Errorf("got %v, %v", g, err)
	}
}

// O80: a redirect would hand the header with the key to another host.
func TestGenerate_FollowsNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked, key %q", r.Header.Get("x-goog-api-key"))
	}))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	g, err := model.NewGemini(t.Context(), model.GeminiConfig{APIKey: testKey, BaseURL: first.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := generate(t, g, lite, question()); !errors.Is(err, model.ErrFailed) {
		t.Errorf("got %v", err)
	}
}

func TestGenerate_LearnsTheThinkingLevelWhileManyAsk(t *testing.T) {
	s := gemini.NewServer(t)
	s.On(lite, gemini.RefuseMinimal(gemini.Text("Yes.")))
	g := newGemini(t, s)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := g.Generate(t.Context(), lite, question(), func(string) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
