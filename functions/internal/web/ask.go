package web

import (
	"context"
	"errors"
	"net/http"
	"unicode"
	"unicode/utf8"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

// Asker answers one question, telling emit each event as soon as it is known. The turn is stored
// before its last event, "done", is emitted and before Ask returns: what runs after the response may
// never run. An error of emit means that nobody reads any more.
type Asker interface {
	Ask(ctx context.Context, p identity.Principal, q turn.Question, emit func(turn.Event) error) error
	// Turn returns a turn of the principal as it was stored.
	Turn(ctx context.Context, p identity.Principal, turnID string) (turn.Finished, error)
}

var errNoDone = errors.New("the turn ended without its last event")

// NewAsk serves POST /v1/ask and GET /v1/turns/{id}.
func NewAsk(o Options, v Verifier, a Asker) http.Handler {
	return mount(o, map[string]Handler{
		"POST /v1/ask":       Authenticate(v, ask(a)),
		"GET /v1/turns/{id}": Authenticate(v, getTurn(a)),
	})
}

func ask(a Asker) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		q, err := readQuestion(w, r)
		if err != nil {
			return err
		}
		c := newCollector()
		emit, asJSON := c.add, WantsJSON(r)
		if !asJSON {
			emit = c.through(NewStream(w))
		}
		if err := a.Ask(r.Context(), p, q, emit); err != nil {
			return err
		}
		if !c.done {
			return errNoDone
		}
		if asJSON {
			return writeJSON(w, http.StatusOK, c.answer)
		}
		return nil
	}
}

func readQuestion(w http.ResponseWriter, r *http.Request) (turn.Question, error) {
	q := turn.Question{Language: language(r)}
	err := Decode(w, r, maxBody, Fields{
		"question":        &q.Text,
		"turn_id":         &q.TurnID,
		"conversation_id": &q.ConversationID,
	})
	if err != nil {
		return q, err
	}
	if err := takeUUID("turn_id", &q.TurnID); err != nil {
		return q, err
	}
	return q, takeUUID("conversation_id", &q.ConversationID)
}

// takeUUID brings an optional id into its one spelling.
func takeUUID(field string, id *string) error {
	if *id == "" {
		return nil
	}
	var ok bool
	if *id, ok = parseUUID(*id); !ok {
		return badRequest("The field " + field + " must be a uuid.")
	}
	return nil
}

// answer is the one JSON body that stands for the whole stream.
type answer struct {
	TurnID  string        `json:"turn_id"`
	Outcome string        `json:"outcome"`
	Answer  string        `json:"answer"`
	AsOf    *string       `json:"as_of"`
	Model   string        `json:"model"`
	Index   string        `json:"index"`
	Sources []turn.Source `json:"sources"`
	Actions []turn.Action `json:"actions"`
	MS      turn.Millis   `json:"ms"`
}

// getTurn answers with the stored turn, or with 202 while it is being answered.
func getTurn(a Asker) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		id, ok := parseUUID(r.PathValue("id"))
		if !ok {
			return problem.New(problem.NotFound, nil)
		}
		t, err := a.Turn(r.Context(), p, id)
		if err != nil {
			return err
		}
		c := newCollector()
		if err := t.Tell(c.add); err != nil {
			return err
		}
		status := http.StatusOK
		if t.Status == turn.Running {
			status = http.StatusAccepted
			w.Header().Set("Retry-After", "1")
		}
		return writeJSON(w, status, c.answer)
	}
}

// collector adds events up to an answer.
type collector struct {
	answer answer
	done   bool
}

func newCollector() *collector {
	return &collector{answer: answer{Sources: []turn.Source{}, Actions: []turn.Action{}}}
}

func (c *collector) add(e turn.Event) error {
	switch e.Type {
	case turn.TypeTurn:
		c.answer.TurnID = e.TurnID
	case turn.TypeSentence:
		c.answer.Answer = join(c.answer.Answer, e.Text)
	case turn.TypeReset:
		c.answer.Answer = ""
	case turn.TypeSources:
		c.answer.Sources = e.Sources
	case turn.TypeActions:
		c.answer.Actions = e.Actions
	case turn.TypeDone:
		c.answer.Outcome, c.answer.AsOf = e.Outcome, e.AsOf
		c.answer.Model, c.answer.Index, c.answer.MS = e.Model, e.Index, e.MS
		c.done = true
	}
	return nil
}

// through passes each event on to the stream and keeps only whether the last one came.
func (c *collector) through(s *Stream) func(turn.Event) error {
	return func(e turn.Event) error {
		c.done = c.done || e.Type == turn.TypeDone
		return s.Send(e)
	}
}

// join puts one space between two sentences unless either brings its own.
func join(text, next string) string {
	last, _ := utf8.DecodeLastRuneInString(text)
	first, _ := utf8.DecodeRuneInString(next)
	if text == "" || unicode.IsSpace(last) || unicode.IsSpace(first) {
		return text + next
	}
	return text + " " + next
}
