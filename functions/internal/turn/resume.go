package turn

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// How a request waits for another one that answers the same turn.
const (
	lookAgainAfter = 200 * time.Millisecond
	waitWithin     = time.Minute // longer than a turn takes
)

// begin opens the turn. While another request answers it, begin waits; when that one fails or its
// reader leaves, the turn is this request's.
func (s *Service) begin(ctx context.Context, p identity.Principal, q Question) (Begun, error) {
	pools := slices.Sorted(maps.Keys(s.Providers))
	for range waitWithin / lookAgainAfter {
		begun, err := s.Store.BeginTurn(ctx, p, q, pools)
		if err != nil || begun.State != Running {
			return begun, err
		}
		if err := s.Sleep(ctx, lookAgainAfter); err != nil {
			return Begun{}, fmt.Errorf("wait for the same turn: %w", err)
		}
	}
	return Begun{}, &problem.Error{Code: problem.TurnRunning, RetryAfter: waitWithin}
}

// Turn returns a turn of the principal as it was stored; Status is Running while it is being answered.
// One that is not there and one of somebody else are problem.NotFound.
func (s *Service) Turn(ctx context.Context, p identity.Principal, turnID string) (Finished, error) {
	return s.Store.StoredTurn(ctx, p, turnID)
}

// tellAgain tells the answer of a finished turn once more.
func (s *Service) tellAgain(ctx context.Context, p identity.Principal, turnID string, emit func(Event) error) error {
	f, err := s.Store.StoredTurn(ctx, p, turnID)
	if err != nil {
		return err
	}
	return f.Tell(emit)
}

// Tell tells emit the events of a turn that has ended, its answer in one piece.
func (f Finished) Tell(emit func(Event) error) error {
	if err := emit(Began(f.TurnID)); err != nil {
		return fmt.Errorf("tell the turn: %w", err)
	}
	if f.Answer != "" {
		if err := emit(Sentence(f.Answer)); err != nil {
			return fmt.Errorf("tell the answer: %w", err)
		}
	}
	if err := tellSources(f.Used, f.Language, emit); err != nil {
		return err
	}
	return emit(f.ended())
}

func (f Finished) ended() Event {
	return Ended(Done{Outcome: f.Status, Model: f.Model, Index: f.Index, AsOf: day(f.AsOf), MS: f.MS})
}
