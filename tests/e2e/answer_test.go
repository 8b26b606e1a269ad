package e2e

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// event is a line of an answer.
type event struct {
	Type, Text, Code, Message string
	TurnID                    string `json:"turn_id"`
	facts
}

// facts are what both forms of an answer say.
type facts struct {
	Outcome string           `json:"outcome"`
	Model   string           `json:"model"`
	Index   string           `json:"index"`
	AsOf    *string          `json:"as_of"`
	Sources []source         `json:"sources"`
	Actions []action         `json:"actions"`
	MS      map[string]int64 `json:"ms"`
}

type source struct {
	SourceID   string  `json:"source_id"`
	Title      string  `json:"title"`
	Type       string  `json:"type"`
	URL        string  `json:"url"`
	Heading    string  `json:"heading"`
	VerifiedAt *string `json:"verified_at"`
	IsStale    bool    `json:"is_stale"`
}

type action struct {
	Type     string `json:"type"`
	SourceID string `json:"source_id"`
	Label    string `json:"label"`
}

// answer is what a question brought, as its events told it.
type answer struct {
	reply
	facts
	turnID    string
	types     []string // of the events, in their order
	sentences []string
}

// said is the answer as one text.
func (a answer) said() string { return strings.Join(a.sentences, " ") }

// titles are those of the sources.
func (a answer) titles() string {
	var titles []string
	for _, s := range a.Sources {
		titles = append(titles, s.Title)
	}
	return strings.Join(titles, ", ")
}

// ask asks a question, wants it to be taken, and checks what is true of every answer.
func (p person) ask(question string, headers ...string) answer {
	p.t.Helper()
	return p.askWith(map[string]string{"question": question}, headers...)
}

// askUntilServed comes back when it is told to, as a client does.
func (p person) askUntilServed(question string) answer {
	p.t.Helper()
	for begun := time.Now(); ; {
		r := p.post("/v1/ask", encode(p.t, map[string]string{"question": question}))
		if r.status != http.StatusServiceUnavailable || time.Since(begun) > patience {
			r.want(p.t, http.StatusOK, "")
			a := readAnswer(p.t, r)
			checkAnswer(p.t, a)
			return a
		}
		seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
		if err != nil {
			p.t.Errorf("Retry-After: %v", err)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func (p person) askWith(fields map[string]string, headers ...string) answer {
	p.t.Helper()
	p.server.told.add(fields["question"])
	r := p.post("/v1/ask", encode(p.t, fields), headers...)
	r.want(p.t, http.StatusOK, "")
	if kind := r.header.Get("Content-Type"); kind != "application/x-ndjson; charset=utf-8" {
		p.t.Errorf("Content-Type %q", kind)
	}
	a := readAnswer(p.t, r)
	checkAnswer(p.t, a)
	return a
}

func readAnswer(t *testing.T, r reply) answer {
	t.Helper()
	a := answer{reply: r}
	for line := range strings.Lines(r.body) {
		var e event
		decode(t, line, &e)
		a.types = append(a.types, e.Type)
		switch e.Type {
		case "turn":
			a.turnID = e.TurnID
		case "sentence":
			a.sentences = append(a.sentences, e.Text)
		case "reset":
			a.sentences = nil
		case "sources":
			a.Sources = e.Sources
		case "actions":
			a.Actions = e.Actions
		case "done":
			sources, actions := a.Sources, a.Actions
			a.facts = e.facts
			a.Sources, a.Actions = sources, actions
		default:
			t.Errorf("an event of type %q: %s", e.Type, line)
		}
	}
	return a
}

// order is the only one in which events come; a reset stands among the sentences.
func order(types []string) bool {
	if len(types) == 0 || types[0] != "turn" {
		return false
	}
	rest := types[1:]
	for len(rest) > 0 && (rest[0] == "sentence" || rest[0] == "reset") {
		rest = rest[1:]
	}
	return slices.Equal(rest, []string{"sources", "actions", "done"})
}

// checkAnswer checks what is true of every answer, whatever the question: the order of events, one
// action for each source and nothing else, and sentences that can be said aloud.
func checkAnswer(t *testing.T, a answer) {
	t.Helper()
	if !order(a.types) {
		t.Errorf("events came as %v", a.types)
	}
	if a.turnID == "" || len(a.sentences) == 0 || a.Index == "" && a.Outcome != "no_match" {
		t.Errorf("no turn, no sentence or no index: %s", a.body)
	}
	if (a.Outcome == "no_match") != (len(a.Sources) == 0) {
		t.Errorf("outcome %s with %d sources", a.Outcome, len(a.Sources))
	}
	if a.Outcome == "no_match" && (a.Model != "" || a.AsOf != nil) {
		t.Errorf("no match, but model %q and date %v", a.Model, a.AsOf)
	}
	checkActions(t, a)
	for _, s := range a.sentences {
		for _, source := range a.Sources {
			if strings.Contains(s, source.SourceID) || a.Outcome == "answered" && strings.Contains(s, source.Title) {
				t.Errorf("a source is printed inside %q", s)
			}
		}
		for _, trace := range []string{"http:", "https:", "](", "<", "NO_ANSWER", "[["} {
			if strings.Contains(s, trace) {
				t.Errorf("%q in %q", trace, s)
			}
		}
	}
	if a.AsOf != nil {
		if _, err := time.Parse(time.DateOnly, *a.AsOf); err != nil {
			t.Errorf("as_of %q", *a.AsOf)
		}
	}
}

// checkActions wants one "open_source" for each source, with the id that the server gave it.
func checkActions(t *testing.T, a answer) {
	t.Helper()
	var ids, offered []string
	for _, s := range a.Sources {
		ids = append(ids, s.SourceID)
	}
	for _, x := range a.Actions {
		if x.Type != "open_source" || x.Label == "" {
			t.Errorf("action %+v", x)
		}
		offered = append(offered, x.SourceID)
	}
	if !slices.Equal(ids, offered) {
		t.Errorf("actions for %v, sources %v", offered, ids)
	}
	var extra []map[string]any
	for line := range strings.Lines(a.body) {
		var e struct{ Actions []map[string]any }
		if json.Unmarshal([]byte(line), &e) == nil {
			extra = append(extra, e.Actions...)
		}
	}
	for _, x := range extra {
		if len(x) != 3 {
			t.Errorf("an action carries more than type, id and label: %v", x)
		}
	}
}

// chance matches what is made of random digits or of times: a number may stand in it by chance.
var chance = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"ms":\{[^}]*\}`)

// mustNotSay fails when the answer holds one of the texts anywhere, in any case.
func (a answer) mustNotSay(t *testing.T, texts ...string) {
	t.Helper()
	body := chance.ReplaceAllString(a.body, "")
	for _, text := range texts {
		if holds(body, text) {
			t.Errorf("%q is in %s", text, a.body)
		}
	}
}
