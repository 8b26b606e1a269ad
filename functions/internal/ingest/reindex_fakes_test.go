package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/problem"
)

// memory is a Store that keeps everything in maps and follows the contract of the interface. Calls
// out of order fail the test.
type memory struct {
	t           *testing.T
	indexes     []string // registered, also those that no embedder fills
	sources     map[string]*stored
	open        bool
	planned     []Apply           // what it was asked to plan
	applied     []Apply           // those that wrote
	vectors     int               // written
	failed      map[string]string // key → reason
	ends        []End             // one for each run that ended
	refused     int               // more chunks than the end of a run may remove
	planRefused map[string]int    // the same of a plan, by key

	planErr, applyErr map[string]error // by key
	overtaken         []func()         // each is an older run that writes between a plan and its apply
	renewed           int
	renewErr          error
	startErr, failErr error
}

// stored is what memory has of one source.
type stored struct {
	generation int64
	source     corpus.Source
	order      []passageID
	rows       map[passageID]*row
}

// passageID is a chunk's identity in its source: the n-th chunk of that hash.
type passageID struct {
	hash       [sha256.Size]byte
	occurrence int
}

type row struct {
	content string
	models  map[string]string // index → model of its vector
}

func identify(chunks []corpus.Chunk) []passageID {
	ids := make([]passageID, len(chunks))
	seen := map[[sha256.Size]byte]int{}
	for i, c := range chunks {
		ids[i] = passageID{c.Hash(), seen[c.Hash()]}
		seen[c.Hash()]++
	}
	return ids
}

func newMemory(t *testing.T, indexes ...string) *memory {
	return &memory{t: t, indexes: indexes, sources: map[string]*stored{}, failed: map[string]string{}}
}

func (m *memory) StartReindex(context.Context, Selection) (Run, error) {
	m.open = m.startErr == nil
	return Run{ID: "run-1"}, m.startErr
}

func (m *memory) RenewReindex(_ context.Context, run Run) error {
	m.check(run)
	m.renewed++
	return m.renewErr
}

func (m *memory) PlanReindex(_ context.Context, run Run, src corpus.Source, chunks []corpus.Chunk) (Plan, error) {
	m.check(run)
	m.planned = append(m.planned, Apply{Source: src, Chunks: chunks})
	if err := m.planErr[src.Key]; err != nil {
		return Plan{}, err
	}
	old := m.held(src.Key)
	p := Plan{Generation: old.generation, Missing: map[string][]int{}}
	for at, id := range identify(chunks) {
		held := old.rows[id]
		if held == nil {
			p.New = append(p.New, at)
		} else {
			p.Kept++
		}
		for _, index := range m.indexes {
			if held == nil || held.models[index] == "" {
				p.Missing[index] = append(p.Missing[index], at)
			}
		}
	}
	p.Removed = len(old.order) - p.Kept
	p.RefusedRemoval = m.planRefused[src.Key]
	return p, nil
}

func (m *memory) ApplyReindex(_ context.Context, run Run, a Apply) (Applied, error) {
	m.check(run)
	if err := m.applyErr[a.Source.Key]; err != nil {
		return Applied{}, err
	}
	if len(m.overtaken) > 0 {
		m.overtaken[0]()
		m.overtaken = m.overtaken[1:]
	}
	old, ids := m.held(a.Source.Key), identify(a.Chunks)
	if old.generation != a.Generation {
		return Applied{}, problem.New(problem.ReindexRunning, nil)
	}
	kept := len(ids) - len(a.New)
	done := Applied{Counts: Counts{Added: len(a.New), Kept: kept, Removed: len(old.order) - kept}}
	done.Unchanged = reflect.DeepEqual(old.source, a.Source) && slices.Equal(old.order, ids) && len(a.Vectors) == 0
	if done.Unchanged {
		return done, nil
	}
	next := &stored{generation: old.generation + 1, source: a.Source, order: ids, rows: map[passageID]*row{}}
	for at, id := range ids {
		held := old.rows[id]
		if isNew := slices.Contains(a.New, at); isNew == (held != nil) {
			m.t.Errorf("%s: chunk %d: new %t, but stored %t", a.Source.Key, at, isNew, held != nil)
		} else if isNew {
			held = &row{a.Chunks[at].Content, map[string]string{}}
		}
		next.rows[id] = held
	}
	for _, v := range a.Vectors {
		for i, at := range v.Places {
			if len(v.Values[i]) == 0 {
				m.t.Errorf("%s: no vector at %d", a.Source.Key, at)
			}
			next.rows[ids[at]].models[v.Index] = v.Model
			m.vectors++
		}
	}
	m.sources[a.Source.Key] = next
	m.applied = append(m.applied, a)
	return done, nil
}

// held returns what is stored of a source, which may be nothing.
func (m *memory) held(key string) *stored {
	if s := m.sources[key]; s != nil {
		return s
	}
	return &stored{}
}

func (m *memory) FailSource(_ context.Context, run Run, key, reason string) error {
	m.check(run)
	m.failed[key] = reason
	return m.failErr
}

func (m *memory) FinishReindex(
	ctx context.Context, run Run, end End,
) (Ended, error) {
	m.check(run)
	m.ends = append(m.ends, end)
	if ctx.Err() != nil {
		m.t.Error("the end of a run can't be recorded in a context that is over")
	}
	m.open = false
	if m.refused > 0 {
		return Ended{RefusedRemoval: m.refused}, nil
	}
	var ended Ended
	for key := range m.sources {
		if end.Listing != nil && !slices.Contains(end.Listing, key) {
			ended.Retired++
			delete(m.sources, key)
		}
	}
	return ended, nil
}

func (m *memory) check(run Run) {
	m.t.Helper()
	if !m.open || run.ID != "run-1" {
		m.t.Errorf("call outside a run (%q)", run.ID)
	}
}

// vectorFake is an Embedder that remembers what it was asked and fails on the texts it is told to.
type vectorFake struct {
	index string
	calls [][]string
	fail  map[string]error // by text
	short bool             // forgets the last vector
	hook  func()           // before each call
}

func (v *vectorFake) Index() string { return v.index }
func (v *vectorFake) Model() string { return v.index + "-model" }

func (v *vectorFake) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if v.hook != nil {
		v.hook()
	}
	if len(texts) == 0 {
		return nil, errors.New("called without texts")
	}
	v.calls = append(v.calls, texts)
	var vectors [][]float32
	for _, text := range texts {
		if err := errors.Join(v.fail[text], ctx.Err()); err != nil {
			return nil, err
		}
		vectors = append(vectors, []float32{1})
	}
	if v.short {
		vectors = vectors[1:]
	}
	return vectors, nil
}

// world is a reindexer over a library of files, with the fakes behind it.
type world struct {
	*Reindexer
	files    fstest.MapFS
	store    *memory
	primary  *vectorFake
	progress []Progress
}

func newWorld(t *testing.T, files map[string]string) *world {
	w := &world{files: fstest.MapFS{}, store: newMemory(t, "primary", "fallback"), primary: &vectorFake{index: "primary"}}
	for _, key := range slices.Sorted(maps.Keys(files)) {
		w.put(key, files[key])
	}
	w.Reindexer = &Reindexer{
		Library: NewFolder(w.files), Store: w.store, Embedders: []Embedder{w.primary}, Profile: Doorstep(),
		Progress: func(p Progress) { w.progress = append(w.progress, p) },
	}
	return w
}

func (w *world) put(key, text string) {
	w.files[key] = &fstest.MapFile{Data: []byte(text), Mode: fs.FileMode(0o644)}
}

// run reindexes the whole library and fails the test on an error.
func (w *world) run(t *testing.T) Summary {
	t.Helper()
	s, err := w.Run(context.Background(), Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// texts returns every content that is stored of a source, in order.
func (m *memory) texts(key string) []string {
	var all []string
	s := m.held(key)
	for _, id := range s.order {
		all = append(all, s.rows[id].content)
	}
	return all
}
