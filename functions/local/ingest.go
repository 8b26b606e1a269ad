package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"porchlight/functions/internal/app"
	"porchlight/functions/internal/config"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
)

// selection says which documents.
type selection struct {
	All    bool     `help:"The whole library; documents that are gone from it are removed." xor:"which" required:""`
	Source []string `help:"Key of a document, such as prices/homes.md; may be repeated." xor:"which" required:""`
}

// removal is said by a person who knows that much is gone.
type removal struct {
	AllowRemoval *int `help:"How many passages the run may remove; without: the share that the brand's limits allow."`
}

type ingestCmd struct {
	database  `embed:""`
	selection `embed:""`
	removal   `embed:""`
	Tenant    string `help:"Slug of the brand." required:""`
	Library   string `help:"The folder of the brand: brand.yaml and documents." required:"" type:"existingdir"`
	DryRun    bool   `help:"Only tell what would be done: nothing is written, no model is called."`
	JSON      bool   `help:"Print one JSON object."`
}

// Run indexes what differs. It ends with 3 when a document could not be indexed, or would not be.
func (c ingestCmd) Run(ctx context.Context) error {
	op, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer op.close()
	if err := op.requireTenant(ctx, c.Tenant); err != nil {
		return err
	}
	settings, err := config.LoadModels(os.Getenv)
	if err != nil {
		return err
	}
	if settings.LocalModelDir, err = postgres.CacheDir(); err != nil {
		return err
	}
	indexer, err := app.OpenIndexer(ctx, settings)
	if err != nil {
		return err
	}
	defer indexer.Close()
	selected := ingest.Selection{All: c.All, Keys: c.Source, AllowedRemoval: c.AllowRemoval}
	if c.DryRun {
		return c.preview(ctx, indexer, op.store, selected)
	}
	summary, err := index(ctx, indexer, op.store, c.Tenant, c.Library, selected, whisper)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(summaryOf(summary))
	} else {
		printSummary(summary)
	}
	if err == nil && len(summary.Failures) > 0 {
		return &exit{code: exitNothing}
	}
	return err
}

// index runs one reindex as the operator.
func index(
	ctx context.Context, x app.Indexer, db *store.Store, slug, dir string, sel ingest.Selection, say func(string),
) (ingest.Summary, error) {
	return x.Index(ctx, app.Job{
		Store: db, Principal: store.Service(slug), Selection: sel,
		Folder: func(string) string { return dir },
		Progress: func(p ingest.Progress) {
			say(fmt.Sprintf("%s: document %d of %d, %s", slug, p.Done, p.Total, p.Key))
		},
	})
}

// failure is a document that was not indexed.
type failure struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

func failuresOf(refusals []*ingest.Refusal) []failure {
	failures := []failure{}
	for _, r := range refusals {
		failures = append(failures, failure{r.Key, r.Why()})
	}
	return failures
}

func summaryOf(s ingest.Summary) map[string]any {
	return map[string]any{
		"run_id": s.Run.ID, "status": s.Status, "sources": s.Sources, "indexed": s.Indexed, "unchanged": s.Unchanged,
		"superseded": s.Superseded, "retired": s.Retired, "added": s.Added, "changed": s.Changed, "kept": s.Kept, "removed": s.Removed,
		"failures": failuresOf(s.Failures),
	}
}

func printSummary(s ingest.Summary) {
	fmt.Printf("%s: %d documents, %d written, %d unchanged, %d retired; passages: %d added, %d kept, %d removed\n",
		s.Status, s.Sources, s.Indexed, s.Unchanged, s.Retired, s.Added, s.Kept, s.Removed)
	if s.Superseded > 0 {
		fmt.Printf("  %d left to a run that started later\n", s.Superseded)
	}
	printFailures(s.Failures)
}

func printFailures(refusals []*ingest.Refusal) {
	for _, r := range refusals {
		fmt.Printf("  not indexed: %s: %s\n", r.Key, r.Why())
	}
}
