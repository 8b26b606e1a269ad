package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

// storedTurns holds the turns of alice.
type storedTurns map[string]turn.Finished

func (s storedTurns) Ask(context.Context, identity.Principal, turn.Question, func(turn.Event) error) error {
	return errors.New("not expected")
}

func (s storedTurns) Turn(_ context.Context, p identity.Principal, id string) (turn.Finished, error) {
	f, ok := s[id]
	if !ok || p.UserID != alice.UserID {
		return f, problem.New(problem.NotFound, nil)
	}
	return f, nil
}

func TestGetTurn_AnswersWithTheStoredTurn(t *testing.T) {
	verified := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, id string
		turn     turn.Finished
		status   int
		golden   string
	}{
		{"an answered one", turnID, turn.Finished{
			Status: turn.Answered, Answer: "It costs 12,50 €. It has no term.", Language: "en", AsOf: &verified,
			Index: "local", Model: "extractive", MS: turn.Millis{Total: 12},
			Used: []corpus.Match{{SourceID: givenID, SourceType: "price", SourceTitle: "Tariffs", VerifiedAt: &verified}},
		}, 200, "turn.json"},
		{"one that still runs", turnID, turn.Finished{Status: turn.Running}, 202, "turn_running.json"},
		{"one whose reader left has no answer", turnID, turn.Finished{Status: "aborted"}, 200, "turn_aborted.json"},
		{"one that is not there", givenID, turn.Finished{}, 404, "not_found.json"},
		{"an id that is none", "1", turn.Finished{}, 404, "not_found.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			tt.turn.TurnID = turnID
			r := httptest.NewRequest(http.MethodGet, "/v1/turns/"+tt.id, nil)
			r.Header.Set("Authorization", "Bearer alice")
			w := serve(NewAsk(o, knows(t, "alice"), storedTurns{turnID: tt.turn}), r)
			if w.Code != tt.status {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
			if waits := w.Header().Get("Retry-After") != ""; waits != (tt.status == http.StatusAccepted) {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
			golden(t, tt.golden, w.Body.Bytes())
		})
	}
}
