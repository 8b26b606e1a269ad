package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"porchlight/functions/internal/app"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
)

// How long embedding takes, about: a chunk with the model of this machine, a call of a hosted one.
const (
	localChunk = 15 * time.Millisecond
	hostedCall = time.Second
)

// work is what one index would have to embed.
type work struct {
	Index  string `json:"index"`
	Model  string `json:"model"`
	Texts  int    `json:"texts"`
	Tokens int    `json:"tokens"`          // about
	Calls  int    `json:"calls,omitempty"` // of a hosted model
	// Share is how much of today's free calls that takes, in percent; more than 100 is more than a day has.
	// Left is how many calls today has left. Both are absent where there is no quota.
	Share *float64 `json:"quota_percent,omitempty"`
	Left  *int     `json:"calls_left,omitempty"`
}

func worksOf(p ingest.Preview, quota []store.Quota) (all []work, takes time.Duration) {
	for _, w := range p.Work {
		one := work{Index: w.Index, Model: w.Model, Texts: w.Texts, Tokens: w.Tokens}
		spent := time.Duration(w.Texts) * localChunk
		for _, q := range quota {
			if q.Model == w.Model {
				share := math.Round(1000*float64(w.Batches)/float64(max(q.PerDay, 1))) / 10
				one.Calls, one.Share, one.Left = w.Batches, &share, &q.Left
				spent = time.Duration(w.Batches) * hostedCall
			}
		}
		all, takes = append(all, one), takes+spent
	}
	return all, takes
}

// preview tells what the same command without --dry-run would do.
func (c ingestCmd) preview(ctx context.Context, x app.Indexer, db *store.Store, sel ingest.Selection) error {
	p, quota, err := x.Preview(ctx, app.Job{
		Store: db, Principal: store.Service(c.Tenant), Selection: sel, Folder: func(string) string { return c.Library },
	})
	if err != nil {
		return err
	}
	works, takes := worksOf(p, quota)
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{
			"sources": p.Sources, "differ": p.Differ, "retired": p.Retired, "stored": p.Chunks,
			"added": p.Added, "changed": p.Changed, "kept": p.Kept, "removed": p.Removed + p.Lost,
			"removal": p.Removal, "removal_limit": p.RemovalLimit, "is_refused": p.IsRefused(),
			"embed": works, "minutes": minutes(takes), "failures": failuresOf(p.Failures),
		})
	} else {
		printPreview(p, works, takes)
	}
	if err == nil && (len(p.Failures) > 0 || p.IsRefused()) {
		return &exit{code: exitNothing}
	}
	return err
}

func minutes(d time.Duration) int { return int(math.Ceil(d.Minutes())) }

func printPreview(p ingest.Preview, works []work, takes time.Duration) {
	fmt.Printf("would write %d of %d documents and retire %d; passages: %d added (%d of them changed), %d kept, %d removed of %d\n",
		p.Differ, p.Sources, p.Retired, p.Added, p.Changed, p.Kept, p.Removed+p.Lost, p.Chunks)
	for _, w := range works {
		fmt.Printf("  index %s (%s): %d passages to embed, about %d tokens", w.Index, w.Model, w.Texts, w.Tokens)
		if w.Share != nil {
			fmt.Printf(", %d calls: %.1f %% of a day's free quota, %d calls are left today", w.Calls, *w.Share, *w.Left)
		}
		fmt.Println()
	}
	if takes > 0 {
		fmt.Printf("  about %d min\n", minutes(takes))
	}
	printFailures(p.Failures)
	if p.IsRefused() {
		fmt.Printf("  it would stop: %d passages would go and nothing would replace them, %d may; to let them go: --allow-removal %d\n",
			p.Removal, *p.RemovalLimit, p.Removal)
	}
	fmt.Println("nothing was written, no model was called")
}
