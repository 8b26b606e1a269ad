package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

const turnID = "22222222-2222-4222-8222-222222222222"

// asker answers as told, for alice only.
type asker func(ctx context.Context, q turn.Question, emit func(turn.Event) error) error

func (a asker) Ask(ctx context.Context, p identity.Principal, q turn.Question, emit func(turn.Event) error) error {
	if p.UserID != alice.UserID {
		return errors.New("asked by somebody else")
	}
	return a(ctx, q, emit)
}

// Turn is asked for by no test of this fake.
func (a asker) Turn(context.Context, identity.Principal, string) (turn.Finished, error) {
	return turn.Finished{}, errors.New("not expected")
}

// tells emits events and ends with err.
func tells(err error, events ...turn.Event) asker {
	return func(_ context.Context, _ turn.Question, emit func(turn.Event) error) error {
		for _, e := range events {
			if err := emit(e); err != nil {
				return err
			}
		}
		return err
	}
}

func day(s string) *string { return &s }

// wholeTurn is one of each event; the sentences before the reset belong to a model that failed.
func wholeTurn() []turn.Event {
	return []turn.Event{
		turn.Began(turnID),
		turn.Sentence("A wrong start."),
		turn.Reset(),
		turn.Sentence("Home Flex costs 12,50 € a month <as printed>."),
		turn.Sentence("Mañana también & después."),
		turn.Cited([]turn.Source{{
			SourceID: givenID, Title: "Prices", Type: "price", URL: "https://lumen.example/prices",
			Heading: "Prices › Home", VerifiedAt: day("2026-11-20"),
		}}),
		turn.Offered([]turn.Action{{Type: "open_source", SourceID: givenID, Label: "Open Prices"}}),
		turn.Ended(turn.Done{
			Outcome: "answered", Model: "extractive", Index: "local", AsOf: day("2026-11-20"),
			MS: turn.Millis{Embed: 3, Match: 4, Answer: 5, Store: 6, Total: 18},
		}),
	}
}

func emptyTurn() []turn.Event {
	return []turn.Event{
		turn.Began(turnID), turn.Sentence("I can't find that."), turn.Cited(nil), turn.Offered(nil),
		turn.Ended(turn.Done{Outcome: "no_match", Index: "local"}),
	}
}

func TestAsk_StreamsEventsOrAnswersInOneBody(t *testing.T) {
	unavailable := &problem.Error{Code: problem.DatabaseUnavailable, RetryAfter: 2 * time.Second}
	tests := []struct {
		name   string
		accept string
		asker  asker
		status int
		kind   string
		golden string
	}{
		{"a whole turn, line by line", "", tells(nil, wholeTurn()...), 200, typeNDJSON, "ask.ndjson"},
		{"a whole turn, one body without the sentences before the reset", "application/json", tells(nil, wholeTurn()...), 200, typeJSON, "ask.json"},
		{"no match has empty lists and a null date", "*/*", tells(nil, emptyTurn()...), 200, typeNDJSON, "ask_no_match.ndjson"},
		{"no match in one body", "application/json", tells(nil, emptyTurn()...), 200, typeJSON, "ask_no_match.json"},
		{"a failure before the first event has its status", "", tells(unavailable), 503, typeJSON, "database_unavailable.json"},
		{"a failure after the first event is the last line", "", tells(unavailable, wholeTurn()[:2]...), 200, typeNDJSON, "ask_failed.ndjson"},
		{"a failure after the first event has its status in one body", "application/json", tells(unavailable, wholeTurn()[:2]...), 503, typeJSON, "database_unavailable.json"},
		{"a turn without its last event is our fault", "", tells(nil, turn.Began(turnID)), 200, typeNDJSON, "ask_no_done.ndjson"}, // O95
		{"a turn without any event is our fault", "", tells(nil), 500, typeJSON, "internal.json"},
		{"a turn without its last event is our fault in one body", "application/json", tells(nil, turn.Began(turnID)), 500, typeJSON, "internal.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			r := post("/v1/ask", `{"question":"What is the monthly fee?"}`)
			r.Header.Set("Accept", tt.accept)
			w := serve(NewAsk(o, knows(t, "alice"), tt.asker), r)
			if w.Code != tt.status || w.Header().Get("Content-Type") != tt.kind {
				t.Errorf("status %d, Content-Type %q", w.Code, w.Header().Get("Content-Type"))
			}
			golden(t, tt.golden, w.Body.Bytes())
		})
	}
}

func TestAsk_PassesTheQuestionOnAsItWasSent(t *testing.T) {
	tests := []struct {
		name, language, body string
		want                 turn.Question
	}{
		{"only a question", "", `{"question":"¿Cuánto cuesta? 49 €"}`, turn.Question{Text: "¿Cuánto cuesta? 49 €"}},
		{"ids are lowered", "de-CH, en;q=0.5", `{"question":"q","turn_id":"` + strings.ToUpper(turnID) + `","conversation_id":"` + givenID + `"}`, turn.Question{Text: "q", TurnID: turnID, ConversationID: givenID, Language: "de"}},
		{"null is not said", "", `{"question":"q","turn_id":null}`, turn.Question{Text: "q"}},
		{"emptiness is for the turn to refuse and to log", "", `{}`, turn.Question{}},
		{"spaces and control characters too", "", `{"question":" \u0000\n"}`, turn.Question{Text: " \x00\n"}},
		{"a pair of surrogates is one character", "", `{"question":"\ud83d\ude00"}`, turn.Question{Text: "😀"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			var got turn.Question
			a := asker(func(_ context.Context, q turn.Question, emit func(turn.Event) error) error {
				got = q
				return emit(turn.Ended(turn.Done{}))
			})
			r := post("/v1/ask", tt.body)
			r.Header.Set("Accept-Language", tt.language)
			if w := serve(NewAsk(o, knows(t, "alice"), a), r); w.Code != 200 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestAsk_RefusesIdsThatAreNoUUIDs(t *testing.T) {
	for _, field := range []string{"turn_id", "conversation_id"} {
		for _, id := range []string{"1", "{" + turnID + "}", turnID + " ", "' or 1=1 --"} {
			o, _ := options()
			w := serve(NewAsk(o, knows(t, "alice"), asker(nil)), post("/v1/ask", `{"question":"q","`+field+`":"`+id+`"}`))
			if w.Code != 400 || !strings.Contains(w.Body.String(), "The field "+field+" must be a uuid.") {
				t.Errorf("%s %q: %d %s", field, id, w.Code, w.Body)
			}
		}
	}
}

func TestAsk_StopsTheTurnWhenTheClientLeaves(t *testing.T) {
	o, _ := options()
	stopped := make(chan error, 1)
	a := asker(func(ctx context.Context, _ turn.Question, emit func(turn.Event) error) error {
		if err := emit(turn.Began(turnID)); err != nil {
			return err
		}
		<-ctx.Done()
		stopped <- ctx.Err()
		return ctx.Err()
	})
	srv := httptest.NewServer(NewAsk(o, knows(t, "alice"), a))
	defer srv.Close()
	ctx, leave := context.WithTimeout(t.Context(), 30*time.Second) // so that a line that never comes fails
	defer leave()
	r := post(srv.URL+"/v1/ask", `{"question":"q"}`).WithContext(ctx)
	r.RequestURI = ""
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the turn ended with %v", err)
	}
}

// A client in Go reads what we write with the same type.
func TestEvent_SurvivesTheWire(t *testing.T) {
	for _, e := range append(wholeTurn(), turn.Failed(problem.Internal, "Sorry.")) {
		line, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		var back turn.Event
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		again, err := encode(back)
		if err != nil || string(again) != string(line) {
			t.Errorf("%v\nsent %sread %s", err, line, again)
		}
	}
}
