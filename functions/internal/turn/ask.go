package turn

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
)

// run is one question on its way.
type run struct {
	*Service
	p     identity.Principal
	begun Begun
	text  string
	emit  func(Event) error
	start time.Time
	mark  time.Time
	done  Finished
	asOf  *time.Time
}

// Ask answers one question and tells every step to emit, the end included. When it fails after the
// turn began, the turn is logged as failed or aborted before the error is returned.
func (s *Service) Ask(ctx context.Context, p identity.Principal, q Question, emit func(Event) error) error {
	if !utf8.ValidString(q.Text) {
		return problem.New(problem.QuestionNotUTF8, nil)
	}
	q.Text = corpus.Normalise(q.Text)
	r := &run{Service: s, p: p, text: q.Text, emit: emit, start: s.Now()}
	r.mark = r.start
	begun, err := s.Store.BeginTurn(ctx, p, q)
	if err != nil {
		return err
	}
	r.begun = begun
	r.done.TurnID = begun.TurnID
	r.done.MS.Store = r.lap()
	if err := r.answer(ctx); err != nil {
		return r.fail(ctx, err)
	}
	return r.finish(ctx)
}

// answer tells nothing before the search is done: until then a failure still has its own HTTP status.
func (r *run) answer(ctx context.Context) error {
	search, err := r.embed(ctx)
	if err != nil {
		return err
	}
	r.done.Index = search.Index
	r.done.MS.Embed = r.lap()
	matches, err := r.Store.MatchChunks(ctx, r.p, search)
	if err != nil {
		return err
	}
	r.done.MS.Match = r.lap()
	if err := r.emit(Began(r.begun.TurnID)); err != nil {
		return fmt.Errorf("tell the turn: %w", err)
	}
	if err := r.write(ctx, matches); err != nil {
		return err
	}
	r.done.MS.Answer = r.lap()
	return nil
}

// embed makes the vector with the first index that holds vectors of the brand and whose model can
// be reached. Only a spent quota moves the question to the next index, and it moves as a whole:
// vector and search function stay together.
func (r *run) embed(ctx context.Context) (Search, error) {
	var quota *model.QuotaError
	var wait time.Duration
	for _, index := range r.begun.Indexes {
		for _, e := range r.Embedders {
			if e.Index() != index {
				continue
			}
			began := r.Now()
			vector, err := e.EmbedQuery(ctx, r.text)
			r.done.Attempts = append(r.done.Attempts, model.NewAttempt(e.Model(), r.Now().Sub(began), err))
			if errors.As(err, &quota) {
				wait = quota.RetryAfter
				continue
			}
			if err != nil {
				return Search{}, fmt.Errorf("embed question: %w", embedProblem(err))
			}
			s := Search{Index: index, Model: e.Model(), Vector: vector, Question: r.text, Limit: matchLimit}
			if w, ok := e.(Weigher); ok {
				weight := w.DenseWeight(r.text)
				s.DenseWeight = &weight
			}
			return s, nil
		}
	}
	return Search{}, &problem.Error{
		Code: problem.NoEmbeddingModel, RetryAfter: max(wait, 30*time.Second),
		Err: errors.New("no index of the brand has a model that can be reached"),
	}
}

// embedProblem tells a provider that is away, which passes, from one that is wrongly configured.
func embedProblem(err error) error {
	if errors.Is(err, model.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return &problem.Error{Code: problem.NoEmbeddingModel, RetryAfter: 5 * time.Second, Err: err}
	}
	return err
}

// split parts the matches that reach the threshold of the index from the others.
func split(matches []corpus.Match) (relevant, others []corpus.Match) {
	for _, m := range matches {
		if m.IsRelevant {
			relevant = append(relevant, m)
		} else {
			others = append(others, m)
		}
	}
	return relevant, others
}

// lap is the time since the last lap, in milliseconds.
func (r *run) lap() int64 {
	now := r.Now()
	d := now.Sub(r.mark)
	r.mark = now
	return d.Milliseconds()
}

// finish tells what the answer rests on, logs the turn and only then says that it is done.
func (r *run) finish(ctx context.Context) error {
	if err := r.tellSources(); err != nil {
		return r.fail(ctx, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	r.done.MS.Total = r.Now().Sub(r.start).Milliseconds()
	if err := r.Store.FinishTurn(ctx, r.p, r.done); err != nil {
		return err
	}
	r.done.MS.Store += r.lap()
	r.done.MS.Total = r.Now().Sub(r.start).Milliseconds()
	return r.emit(Ended(Done{
		Outcome: r.done.Status, Model: r.done.Model, Index: r.done.Index, AsOf: day(r.asOf), MS: r.done.MS,
	}))
}

// fail logs a turn that can't go on. The client may be gone, so the log has a deadline of its own.
func (r *run) fail(ctx context.Context, cause error) error {
	r.done.Status, r.done.Answer, r.done.Used = failed, "", nil
	if errors.Is(cause, context.Canceled) || ctx.Err() != nil {
		r.done.Status = aborted
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	r.done.MS.Total = r.Now().Sub(r.start).Milliseconds()
	if err := r.Store.FinishTurn(ctx, r.p, r.done); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// day is the date of a time as events carry it.
func day(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := t.UTC().Format(time.DateOnly)
	return &s
}
