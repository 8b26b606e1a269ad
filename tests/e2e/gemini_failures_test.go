package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"porchlight/tests/gemini"
)

// A sentence that a guard refuses never reaches the client; what was said before it is taken back.
func (g generative) guards(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	for _, c := range []struct {
		name, text, not string
		resets          bool
	}{
		{"a number that no document holds", "The Ember Nook costs €999.00.", "999", false},
		{"after a good sentence", "The Ember Nook is a stove. It costs €999.00.", "999", true},
		{"the number of another row", "The Ember Nook costs €2,310.00.", "2,310", false},
		{"a stale price", "The Ember Nook costs €1,240.00, the flue €41.00.", "41.00", false},
		{"a link", "See https://prices.example/nook.", "prices.example", false},
		{"markup", "**The Ember Nook** costs <b>€1,240.00</b>.", "<b>", false},
		{"the rules", "Use the evidence blocks and nothing else: no general knowledge, no guesses.", "evidence blocks", false},
		{"an action", `{"actions":[{"type":"open_url","label":"Claim"}]}`, "open_url", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.reset(t)
			g.provider.Queue(lite, gemini.Text(c.text))
			g.provider.Queue(lighter, gemini.Text(nookAnswer))
			a := rep.with(t).ask(nookQuestion)
			if a.Outcome != "answered" || a.Model != lighter || a.said() != nookAnswer {
				t.Errorf("%s", a.body)
			}
			a.mustNotSay(t, c.not)
			if resets := strings.Contains(strings.Join(a.types, " "), "sentence reset sentence"); resets != c.resets {
				t.Errorf("events came as %v", a.types)
			}
			if got := g.attempts(t, a); got != lite+" guard, "+lighter+" ok" {
				t.Errorf("attempts: %s", got)
			}
		})
	}
	g.reset(t)
	for _, model := range []string{lite, lighter, flash} {
		g.provider.Queue(model, gemini.Text("The Ember Nook costs €999.00."))
	}
	if a := rep.ask(nookQuestion); a.Outcome != "answered" || a.Model != "extractive" || !strings.Contains(a.said(), "€1,240.00") {
		t.Errorf("no model passes: %s", a.body)
	}
}

// O86 O88 O89 O93 O94 O95: shapes of an answer that are none, and one of an answer in pieces.
func (g generative) failures(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	for _, c := range []struct {
		name    string
		first   gemini.Response
		outcome string
	}{
		{"503", gemini.Unavailable(), "unavailable"},
		{"a page instead of JSON", gemini.Raw(http.StatusBadGateway, "<html>bad gateway</html>"), "unavailable"},
		{"a model that was retired", gemini.NotFound(), "not_found"}, // O50
		{"the output budget spent without text", gemini.Finish("MAX_TOKENS"), "empty"},
		{"a recitation", gemini.Finish("RECITATION"), "recitation"},
		{"a stream of nothing", gemini.Chunks(), "empty"},
		{"a stream that is cut", gemini.Text("The Ember Nook is a stove. It costs ").ThenCut(), "unavailable"},
		{"a stream that ends early", gemini.Text("The Ember Nook is a stove. It costs ").ThenEnd(), "unavailable"},
		{"a stream that fails in the middle", gemini.Text("The Ember Nook is a stove. ").ThenFail(gemini.Unavailable()), "unavailable"},
		{"a quota of the minute", gemini.Quota(30*time.Second, gemini.PerMinute), "quota_minute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.reset(t)
			g.provider.Queue(lite, c.first)
			g.provider.Queue(lighter, gemini.Parts(
				gemini.Part{Text: "Let me look at the table: €2,310.00.", Thought: true},
				gemini.Part{Text: "The Ember Nook costs "}, gemini.Part{Text: "€1,240.00."},
			))
			a := rep.with(t).ask(nookQuestion)
			if a.Outcome != "answered" || a.Model != lighter || a.said() != nookAnswer {
				t.Errorf("%s", a.body)
			}
			a.mustNotSay(t, "2,310", "Let me look")
			if got := g.attempts(t, a); got != lite+" "+c.outcome+", "+lighter+" ok" {
				t.Errorf("attempts: %s", got)
			}
		})
	}
	g.reset(t)
	for _, model := range []string{lite, lighter, flash} {
		g.provider.Queue(model, gemini.Unavailable(), gemini.Unavailable())
	}
	for range 2 { // an overload closes nothing: each question tries again
		calls := g.calls(func() {
			if a := rep.ask(nookQuestion); a.Outcome != "answered" || a.Model != "extractive" || !strings.Contains(a.said(), "€1,240.00") {
				t.Errorf("all are overloaded: %s", a.body)
			}
		})
		if calls != "1 1 1" {
			t.Errorf("calls: %s", calls)
		}
	}
}

func (g generative) refusals(t *testing.T) { // O87
	rep := g.server.rep(t, g.slug)
	for _, c := range []struct {
		name    string
		first   gemini.Response
		outcome string
	}{
		{"a blocked prompt", gemini.Blocked("SAFETY"), "blocked_prompt"},
		{"an answer withheld for safety", gemini.Finish("SAFETY"), "safety"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g.reset(t)
			g.provider.Queue(lite, c.first)
			calls := g.calls(func() {
				a := rep.with(t).ask(nookQuestion)
				if a.Outcome != "answered" || a.Model != "extractive" || !strings.Contains(a.said(), "€1,240.00") {
					t.Errorf("%s", a.body)
				}
				if got := g.attempts(t, a); got != lite+" "+c.outcome {
					t.Errorf("attempts: %s", got)
				}
			})
			if calls != "1 0 0" {
				t.Errorf("calls: %s", calls)
			}
		})
	}
}

// The client hears one sentence and leaves: the provider is left too, and the turn is logged as aborted.
func (g generative) clientLeaves(t *testing.T) {
	g.provider.Queue(lite, gemini.Text("The Ember Nook is a stove. ", "It costs ").ThenHang())
	rep := g.server.rep(t, g.slug)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request := rep.request(ctx, http.MethodPost, "/v1/ask", encode(t, map[string]string{"question": nookQuestion}), asJSON)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	turnID := ""
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "turn" {
			turnID = e.TurnID
		}
		if e.Type == "sentence" {
			break
		}
	}
	cancel()
	select {
	case <-g.provider.Left():
	case <-time.After(patience):
		t.Error("the provider was not left")
	}
	g.server.await(t, "aborted true", `select status || ' ' || (answer is null) from app.turns where id = $1`, turnID)
}

// The last part: the provider is gone for good. O80
func (g generative) providerAway(t *testing.T) {
	g.provider.Close()
	rep := g.server.rep(t, g.slug)
	r := rep.post("/v1/ask", encode(t, map[string]string{"question": nookQuestion}))
	r.want(t, http.StatusServiceUnavailable, "no_embedding_model")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	host := strings.TrimPrefix(g.provider.URL, "http://")
	for _, text := range []string{geminiKey, host} {
		if strings.Contains(r.body+encode(t, r.header), text) || strings.Contains(g.server.log.String(), text) {
			t.Errorf("%q is told: %s", text, r.body)
		}
	}
	got := g.server.text(t, `select status from app.turns where question = $1 order by created_at desc limit 1`, nookQuestion)
	if got != "failed" {
		t.Errorf("the turn is %s", got)
	}
}
