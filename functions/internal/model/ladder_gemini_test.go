package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/model"
	"porchlight/tests/gemini"

	"github.com/google/go-cmp/cmp"
)

const (
	second = "gemini-3.1-flash-lite"
	third  = "gemini-3.6-flash"
)

// climb runs the ladder of three models against the fake server.
func climb(ctx context.Context, t *testing.T, s *gemini.Server, sink model.Sink) (model.Result, error) {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	l := model.Ladder{Generator: newGemini(t, s), AttemptTimeout: time.Minute, Now: c.Now, Sleep: c.Sleep}
	return l.Generate(ctx, []string{lite, second, third}, free, question(), sink)
}

// O85, O86, O88, O96: the whole line over HTTP, from a quota of the day to the answer of the third.
func TestLadder_ClimbsOverGemini(t *testing.T) {
	cases := []struct {
		name          string
		first, second gemini.Response
		attempts      []string
		sinkSees      []string
	}{
		{
			"day and minute in one 429, then 503", gemini.Quota(27*time.Second, gemini.PerMinute, gemini.PerDay), gemini.Unavailable(),
			[]string{"quota_day", "unavailable", "ok"},
			nil,
		},
		{"recitation, then an answer without text", gemini.Finish("RECITATION"), gemini.Finish("MAX_TOKENS"), []string{"recitation", "empty", "ok"}, nil},
		{
			"a cut stream, then a broken-off one", gemini.Text("The plan is new. ", "It costs 7").ThenCut(),
			gemini.Text("The plan is old. It c").ThenFail(gemini.Unavailable()),
			[]string{"unavailable", "unavailable", "ok"},
			[]string{"The plan is new. ", "reset " + lite, "The plan is old. ", "reset " + second},
		},
		{"retired, then a quota of the minute", gemini.NotFound(), gemini.Quota(time.Second, gemini.PerMinute), []string{"not_found", "quota_minute", "ok"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, c.first)
			s.Queue(second, c.second)
			s.On(third, func(r gemini.Request) gemini.Response { // computed from what was sent
				return gemini.Text("You asked: ", strings.ToLower(r.User()))
			})
			sink := &recorder{}
			res, err := climb(t.Context(), t, s, sink)
			if err != nil || res.Model != third || res.Text != "You asked: what does it cost?" {
				t.Errorf("got %+v, %v", res, err)
			}
			var got []string
			for _, a := range res.Attempts {
				got = append(got, a.Outcome)
			}
			if diff := cmp.Diff(c.attempts, got); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append(c.sinkSees, res.Text), sink.log); diff != "" {
				t.Errorf("sink (-want +got):\n%s", diff)
			}
			for _, m := range []string{lite, second, third} {
				if n := s.Count(m); n != 1 {
					t.Errorf("%s got %d requests", m, n)
				}
			}
		})
	}
}

// O87: what one model's provider refuses is not offered to the next.
func TestLadder_OffersARefusedPromptToNoOtherGeminiModel(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Blocked("PROHIBITED_CONTENT"))
	if _, err := climb(t.Context(), t, s, &recorder{}); !errors.Is(err, model.ErrBlockedPrompt) {
		t.Errorf("got %v", err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// O99: when the asker leaves, the provider's stream is given up and no other model is asked.
func TestLadder_GivesUpTheStreamWhenTheAskerLeaves(t *testing.T) {
	s := gemini.NewServer(t)
	s.Queue(lite, gemini.Text("The plan is new. ", "It").ThenHang())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := climb(ctx, t, s, cancelling{cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-s.Left(); got != lite || len(s.Requests()) != 1 {
		t.Errorf("left %q after %d requests", got, len(s.Requests()))
	}
}

// cancelling is a sink whose asker leaves at the first sentence.
type cancelling struct{ leave func() }

func (c cancelling) Delta(string) error { c.leave(); return nil }
func (c cancelling) Reset(string) error { return nil }
