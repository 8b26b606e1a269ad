package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"porchlight/functions/internal/config"
	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/redact"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/web"
)

// Indexer runs reindexes with the models that the configuration gives access to.
type Indexer struct{ models *models }

// OpenIndexer is for commands that only index: of the configuration it reads what concerns models.
func OpenIndexer(ctx context.Context, c config.Config) (Indexer, error) {
	m, err := openModels(ctx, c)
	return Indexer{m}, err
}

// Close closes the models.
func (x Indexer) Close() error { return x.models.close() }

// Job is one reindex.
type Job struct {
	Store     *store.Store
	Principal identity.Principal
	Selection ingest.Selection
	Folder    func(slug string) string // where the documents of the brand are
	Began     func(runID string)       // told as soon as there is a run; may be nil
	Progress  func(ingest.Progress)    // told after each source; may be nil
}

// Index does the job. A source that fails is in the summary, not an error.
func (x Indexer) Index(ctx context.Context, j Job) (ingest.Summary, error) {
	started, err := j.Store.StartReindex(ctx, j.Principal, j.Selection.All, j.Selection.AllowedRemoval)
	if err != nil {
		return ingest.Summary{}, err
	}
	id := started.RunID
	if j.Began != nil {
		j.Began(id)
	}
	stored := brandStore{db: j.Store, p: j.Principal, runID: id}
	stored.embedders = x.models.embedders(started.Pool, stored.takeCall)
	summary, err := x.run(ctx, j, stored, started.Tenant)
	if err != nil && summary.Run.ID == "" { // it never came to the run that was opened for it
		_, finishErr := stored.FinishReindex(ctx, ingest.Run{ID: id}, ingest.End{IsInterrupted: true})
		err = errors.Join(err, finishErr)
	}
	return summary, err
}

func (x Indexer) run(ctx context.Context, j Job, stored brandStore, slug string) (s ingest.Summary, err error) {
	err = x.withLibrary(j, stored, slug, func(r *ingest.Reindexer) error {
		s, err = r.Run(ctx, j.Selection)
		return err
	})
	return s, err
}

// Preview tells what Index would do, for the brand that the principal names, and what is left of the quota of
// the hosted models. It writes nothing and calls no model.
func (x Indexer) Preview(ctx context.Context, j Job) (p ingest.Preview, quota []store.Quota, err error) {
	brand, err := j.Store.PreviewListing(ctx, j.Principal, nil)
	if err != nil {
		return p, nil, err
	}
	stored := brandStore{db: j.Store, p: j.Principal, embedders: x.models.embedders(brand.Pool, nil)}
	err = x.withLibrary(j, stored, j.Principal.Tenant, func(r *ingest.Reindexer) error {
		p, err = r.Preview(ctx, stored, j.Selection)
		return err
	})
	if err == nil {
		quota, err = j.Store.EmbeddingQuota(ctx, j.Principal)
	}
	return p, quota, err
}

// withLibrary opens the folder of the brand for as long as the work takes.
func (x Indexer) withLibrary(j Job, stored brandStore, slug string, work func(*ingest.Reindexer) error) error {
	fsys, folder, err := ingest.OpenFolder(j.Folder(slug))
	if err != nil {
		return missingLibrary(err)
	}
	defer folder.Close()
	brand, err := ingest.ReadBrand(fsys)
	if err != nil {
		return missingLibrary(err)
	}
	if brand.Slug != slug {
		return problem.New(problem.LibraryMismatch, errors.New("brand.yaml names another brand"))
	}
	policy, err := redact.ReadPolicy(fsys)
	if err != nil {
		return missingLibrary(err)
	}
	defaults := brand.Defaults()
	defaults.Today = time.Now()
	err = work(&ingest.Reindexer{
		Library: ingest.NewFolder(fsys), Store: stored, Embedders: stored.embedders,
		Profile: ingest.Doorstep(), Defaults: defaults, PDF: newPDF(), Policy: policy, Progress: j.Progress,
	})
	if errors.Is(err, ingest.ErrEmptyLibrary) {
		return missingLibrary(err)
	}
	return err
}

func missingLibrary(err error) error { return problem.New(problem.LibraryMissing, err) }

// brandStore is the store as one run of one brand sees it.
type brandStore struct {
	db        *store.Store
	p         identity.Principal
	runID     string
	embedders []ingest.Embedder
}

// takeCall takes one call of a hosted model from the brand's quota.
func (b brandStore) takeCall(ctx context.Context, name string) error {
	isTaken, err := b.db.TakeReindexCall(ctx, b.p, b.runID, name)
	if err == nil && !isTaken {
		err = &model.QuotaError{Model: name, Daily: true}
	}
	return err
}

func (b brandStore) StartReindex(context.Context, ingest.Selection) (ingest.Run, error) {
	return ingest.Run{ID: b.runID}, nil
}

func (b brandStore) RenewReindex(ctx context.Context, run ingest.Run) error {
	return b.db.RenewReindex(ctx, b.p, run.ID)
}

func (b brandStore) PlanReindex(
	ctx context.Context, run ingest.Run, src corpus.Source, chunks []corpus.Chunk,
) (ingest.Plan, error) {
	plan, err := b.db.PlanReindex(ctx, b.p, run.ID, src, chunks, b.indexes())
	return ingest.Plan(plan), err
}

func (b brandStore) PreviewSource(ctx context.Context, src corpus.Source, chunks []corpus.Chunk) (ingest.Plan, error) {
	plan, err := b.db.PreviewSource(ctx, b.p, src, chunks, b.indexes())
	return ingest.Plan(plan), err
}

func (b brandStore) PreviewListing(ctx context.Context, listing []string) (ingest.Listing, error) {
	l, err := b.db.PreviewListing(ctx, b.p, listing)
	return ingest.Listing{Chunks: l.Chunks, Retired: l.Retired, Lost: l.Lost, RemovalLimit: l.RemovalLimit}, err
}

func (b brandStore) indexes() []string {
	names := make([]string, len(b.embedders))
	for i, e := range b.embedders {
		names[i] = e.Index()
	}
	return names
}

func (b brandStore) ApplyReindex(ctx context.Context, run ingest.Run, a ingest.Apply) (ingest.Applied, error) {
	vectors := make([]store.Vectors, len(a.Vectors))
	for i, v := range a.Vectors {
		vectors[i] = store.Vectors(v)
	}
	done, err := b.db.ApplyReindex(ctx, b.p, run.ID, store.Apply{
		Source: a.Source, Chunks: a.Chunks, Generation: a.Generation, New: a.New, Vectors: vectors,
	})
	return ingest.Applied{Unchanged: done.Unchanged, Counts: ingest.Counts{
		Added: done.Added, Changed: done.Changed, Kept: done.Kept, Removed: done.Removed,
	}}, err
}

func (b brandStore) FailSource(ctx context.Context, run ingest.Run, key, reason string) error {
	return b.db.FailSource(ctx, b.p, run.ID, key, reason)
}

func (b brandStore) FinishReindex(
	ctx context.Context, run ingest.Run, end ingest.End,
) (ingest.Ended, error) {
	view, err := b.db.FinishReindex(ctx, b.p, run.ID, store.End(end))
	return ingest.Ended{Retired: view.Retired, RefusedRemoval: view.RefusedRemoval}, err
}

// reindexer serves the routes of /v1/reindex.
type reindexer struct {
	Indexer
	store *store.Store
	root  string // one folder of documents a brand, named by its slug
}

// Reindex runs a reindex and tells its progress.
func (x *reindexer) Reindex(
	ctx context.Context, p identity.Principal, req web.ReindexRequest, progress func(web.ReindexEvent) error,
) error {
	p.Tenant = req.Tenant
	if x.root == "" {
		return missingLibrary(errors.New("PORCHLIGHT_LIBRARY_DIR is not set"))
	}
	var gone error // the first error of progress: nobody reads any more
	tell := func(e web.ReindexEvent) {
		if gone == nil {
			gone = progress(e)
		}
	}
	summary, err := x.Index(ctx, Job{
		Store: x.store, Principal: p,
		Selection: ingest.Selection{All: req.All, Keys: req.Sources, AllowedRemoval: req.AllowedRemoval},
		Folder:    func(slug string) string { return filepath.Join(x.root, slug) },
		Began:     func(runID string) { tell(web.RunBegan(runID)) },
		Progress:  func(s ingest.Progress) { tell(web.SourceEnded(s.Key, s.Status, s.Why)) },
	})
	if err != nil {
		return fmt.Errorf("reindex: %w", err)
	}
	tell(web.RunEnded(string(summary.Status), web.Counts{
		Added: summary.Added, Changed: summary.Changed, Kept: summary.Kept, Removed: summary.Removed,
		Failed: len(summary.Failures),
	}))
	return gone
}

// Run shows a run of the caller's brand.
func (x *reindexer) Run(ctx context.Context, p identity.Principal, runID string) (web.RunView, error) {
	run, err := x.store.GetReindex(ctx, p, runID)
	if err != nil {
		return web.RunView{}, err
	}
	view := web.RunView{
		RunID: run.ID, Tenant: run.Tenant, Status: run.Status, StartedAt: run.StartedAt, FinishedAt: run.FinishedAt,
		Refused: run.RefusedRemoval,
		Counts: web.Counts{
			Added: run.Added, Changed: run.Changed, Kept: run.Kept, Removed: run.Removed, Failed: run.Failed,
		},
	}
	if run.Reason != nil {
		view.Reason = *run.Reason
	}
	for _, s := range run.Sources {
		source := web.SourceView{Key: s.Key, Status: s.Status}
		if s.Reason != nil {
			source.Reason = *s.Reason
		}
		view.Sources = append(view.Sources, source)
	}
	return view, nil
}
