package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	p        identity.Principal
	begun    Begun
	provider Provider
	reserved map[string]bool // models of which the begin has reserved one call
	text     string
	emit     func(Event) error
	start    time.Time
	mark     time.Time
	done     Finished
}

// Ask answers one question and tells every step to emit, the end included. When it fails after the
// turn began, the turn is logged as failed or aborted before the error is returned. A turn that was
// asked before is told once more, and waited for while another request answers it.
func (s *Service) Ask(ctx context.Context, p identity.Principal, q Question, emit func(Event) error) error {
	if !utf8.ValidString(q.Text) {
		return problem.New(problem.QuestionNotUTF8, nil)
	}
	q.Text = corpus.Normalise(q.Text)
	r := &run{Service: s, p: p, text: q.Text, emit: emit, start: s.Now()}
	r.mark = r.start
	begun, err := s.begin(ctx, p, q)
	if err != nil {
		return err
	}
	if begun.State == Over {
		return s.tellAgain(ctx, p, begun.TurnID, emit)
	}
	r.take(begun)
	if err := r.answer(ctx); err != nil {
		return r.fail(ctx, err)
	}
	return r.finish(ctx)
}

// take notes what the turn began with. The database has reserved a call of the first index's model
// and one of the first model that writes.
func (r *run) take(begun Begun) {
	r.begun, r.provider = begun, r.Providers[begun.Pool]
	r.done.TurnID, r.done.Run, r.done.Language = begun.TurnID, begun.Run, begun.Language
	r.reserved = map[string]bool{}
	if len(begun.Models) > 0 {
		r.reserved[begun.Models[0]] = true
	}
	for _, e := range r.provider.Embedders {
		if len(begun.Indexes) > 0 && e.Index() == begun.Indexes[0] {
			r.reserved[e.Model()] = true
		}
	}
	r.done.MS.Store = r.lap()
}

// reserve takes a call of a metered model, unless the begin has.
func (r *run) reserve(ctx context.Context, model string) (bool, error) {
	if r.reserved[model] {
		delete(r.reserved, model)
		return true, nil
	}
	return r.Store.ReserveCall(ctx, r.p, r.begun.TurnID, r.begun.Run, model)
}

// answer tells nothing before the search is done: until then a failure still has its own HTTP status.
func (r *run) answer(ctx context.Context) error {
	if !r.begun.HasDocuments {
		if err := r.emit(Began(r.begun.TurnID)); err != nil {
			return fmt.Errorf("tell the turn: %w", err)
		}
		return r.fallBack()
	}
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
	var wait time.Duration
	for _, index := range r.begun.Indexes {
		e, isMetered := r.embedder(index)
		if e == nil {
			continue
		}
		vector, err := r.vector(ctx, e, isMetered)
		var quota *model.QuotaError
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
	return Search{}, &problem.Error{
		Code: problem.NoEmbeddingModel, RetryAfter: max(wait, 30*time.Second),
		Err: errors.New("no index of the brand has a model that can be reached"),
	}
}

// embedder is the one of an index; those of a provider have a quota.
func (r *run) embedder(index string) (e Embedder, isMetered bool) {
	isOfIndex := func(e Embedder) bool { return e.Index() == index }
	if i := slices.IndexFunc(r.provider.Embedders, isOfIndex); i >= 0 {
		return r.provider.Embedders[i], true
	}
	if i := slices.IndexFunc(r.Local, isOfIndex); i >= 0 {
		return r.Local[i], false
	}
	return nil, false
}

// vector embeds the question and notes the call.
func (r *run) vector(ctx context.Context, e Embedder, isMetered bool) ([]float32, error) {
	if isMetered {
		switch isReserved, err := r.reserve(ctx, e.Model()); {
		case err != nil:
			return nil, err
		case !isReserved:
			return nil, &model.QuotaError{Model: e.Model(), Daily: true}
		}
	}
	began := r.Now()
	vector, err := e.EmbedQuery(ctx, r.text)
	r.done.Attempts = append(r.done.Attempts, model.NewAttempt(e.Model(), r.Now().Sub(began), err))
	return vector, err
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
	if err := tellSources(r.done.Used, r.begun.Language, r.emit); err != nil {
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
	return r.emit(r.done.ended())
}

// fail logs a turn that can't go on. The client may be gone, so the log has a deadline of its own.
func (r *run) fail(ctx context.Context, cause error) error {
	r.done.Status, r.done.Answer, r.done.Used, r.done.AsOf = failed, "", nil, nil
	var stop *problem.Error
	switch {
	case errors.As(context.Cause(ctx), &stop): // the server ends, not the reader
		cause = stop
	case errors.Is(cause, context.Canceled), ctx.Err() != nil:
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
