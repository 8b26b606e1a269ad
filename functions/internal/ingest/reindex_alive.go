package ingest

import (
	"context"
	"errors"
	"time"

	"porchlight/functions/internal/problem"
)

// renewEvery is how often a run says that it is alive: several times within the minute after which it
// would be given up.
const renewEvery = 15 * time.Second

// keepAlive renews the run until stop is called. The context that it returns ends when the run has been
// given up, so that nothing is embedded for it any more.
func (r *Reindexer) keepAlive(ctx context.Context, run Run) (alive context.Context, stop func()) {
	alive, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-tick.C:
			}
			// a database that is away for a moment is asked again with the next tick
			if err := r.Store.RenewReindex(alive, run); endsRun(err) {
				cancel(err)
			}
		}
	}()
	return alive, func() {
		cancel(nil)
		<-ended
	}
}

// endsRun says whether err is the store's word that the run, or whoever started it, has no business with
// the brand any more.
func endsRun(err error) bool {
	var p *problem.Error
	if !errors.As(err, &p) {
		return false
	}
	switch p.Code {
	case problem.NotFound, problem.NotAMember, problem.NotAnAdmin, problem.TenantSuspended, problem.RemovalRefused:
		return true
	}
	return false
}
