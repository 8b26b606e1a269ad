package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

// bench is a loaded database and what is asked of it.
type bench struct {
	sizes
	*corpus
	server   *postgres.Server
	admin    *pgx.Conn // superuser
	runtime  *pgx.Conn // the login of the functions
	owner    *pgx.Conn // role postgres, who may become service_role
	progress *progress
	results  *table
}

// measureSearch fills the rows of the table that a database alone can answer.
func measureSearch(ctx context.Context, s sizes, p *progress, results *table) (err error) {
	server, err := startServer(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	b := &bench{sizes: s, corpus: newCorpus(s), server: server, progress: p, results: results}
	for conn, role := range map[**pgx.Conn]string{
		&b.admin: postgres.Superuser, &b.runtime: "porchlight_runtime", &b.owner: "postgres",
	} {
		if *conn, err = connect(ctx, server.URL(role, database)); err != nil {
			return fmt.Errorf("connect as %s: %w", role, err)
		}
		defer func() { _ = (*conn).Close(context.WithoutCancel(ctx)) }()
	}
	if err := load(ctx, b.admin, b.corpus, p); err != nil {
		return err
	}
	p.begin("Vacuum and analyze")
	if err := settle(ctx, b.admin); err != nil {
		return err
	}
	if results.measured, err = describe(ctx, b.admin); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{
		b.recall, b.small, b.big, b.trips, b.tutorial,
	} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// describe says on what the figures are measured.
func describe(ctx context.Context, admin *pgx.Conn) (text string, err error) {
	err = admin.QueryRow(ctx, `select format('Postgres %s, pgvector %s, shared_buffers %s',
		current_setting('server_version'), e.extversion, current_setting('shared_buffers'))
		from pg_extension e where e.extname = 'vector'`).Scan(&text)
	return fmt.Sprintf("%s, %d processors", text, runtime.NumCPU()), err
}

// tie is how far two sums of 768 products of float32 may differ by the order of their terms: chunks
// that are nearer to each other than this may take each other's place.
const tie = 1e-6

// recall compares what each brand finds, among all the others' chunks, with the plain scan.
func (b *bench) recall(ctx context.Context) error {
	for _, brand := range searched(b.corpus) {
		b.progress.begin("Recall at %d chunks", brand.size)
		place := make(map[string]int, len(brand.ids))
		for i, id := range brand.ids {
			place[id] = i
		}
		found := 0
		for _, question := range b.questions(brand, b.queries) {
			ids, err := rep(b.runtime, brand).search(ctx, question, "")
			if err != nil {
				return fmt.Errorf("search %s: %w", brand.slug, err)
			}
			least := scan(brand.vectors, question, answers)[answers-1].similarity - tie
			for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
				i, isOwn := place[id]
				if isOwn && dot(brand.vectors[i*dimensions:(i+1)*dimensions], question) >= least {
					found++
				}
			}
		}
		b.results.recall(fmt.Sprintf("recall@%d of a plain scan, %d chunks among %d", answers, brand.size, b.total()-brand.size),
			found, answers*b.queries)
	}
	return nil
}

// small races a request of the smallest brand against a call that does nothing.
func (b *bench) small(ctx context.Context) error {
	brand := searched(b.corpus)[0]
	b.progress.begin("Requests at %d chunks", brand.size)
	asker, questions := rep(b.runtime, brand), b.questions(brand, b.queries)
	medians, err := race(3*b.rounds,
		func(round int) error { return second(asker.search(ctx, pick(questions, round), "")) },
		func(int) error { return second(asker.ask(ctx, noop)) })
	if err != nil {
		return err
	}
	b.results.compare(fmt.Sprintf("request, %d chunks / a call that does nothing", brand.size), medians[0], medians[1], 5, 0)
	return nil
}

// big races the requests of the biggest brand against each other and the plain scan.
func (b *bench) big(ctx context.Context) error {
	list := searched(b.corpus)
	brand := list[len(list)-1]
	b.progress.begin("Requests at %d chunks", brand.size)
	asker, service, questions := rep(b.runtime, brand), operator(b.owner, brand), b.questions(brand, b.queries)
	words := make([]string, len(questions))
	for i := range words {
		words[i] = b.question()
	}
	medians, err := race(b.rounds,
		func(round int) error { scan(brand.vectors, pick(questions, round), answers); return nil },
		func(round int) error { return second(asker.search(ctx, pick(questions, round), "")) },
		func(round int) error { return second(service.search(ctx, pick(questions, round), "")) },
		func(round int) error {
			return second(asker.search(ctx, pick(questions, round), pick(words, round)))
		})
	if err != nil {
		return err
	}
	plain, request, unguarded, fused := medians[0], medians[1], medians[2], medians[3]
	at := fmt.Sprintf("request, %d chunks", brand.size)
	b.results.compare(at+" / plain scan in Go", request, plain, 3.5, 0)
	b.results.compare(at+", with words / by cosine alone", fused, request, 0, 0)
	b.results.compare(at+" / the same without row-level security", request, unguarded, 0, 0)
	return nil
}

// linkDelay is that of each direction: a round trip takes 2 ms.
const linkDelay = time.Millisecond

// trips races one request in one round trip against the same, statement by statement, over a link.
func (b *bench) trips(ctx context.Context) error {
	b.progress.begin("Requests over a link of 2 ms a round trip")
	address, err := url.Parse(b.server.URL("porchlight_runtime", database))
	if err != nil {
		return err
	}
	link, err := openLink(address.Host, linkDelay)
	if err != nil {
		return err
	}
	defer link.Close()
	address.Host = link.Addr().String()
	conn, err := connect(ctx, address.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	brand := searched(b.corpus)[0]
	asker := rep(conn, brand)
	question := b.questions(brand, 1)[0]
	medians, err := race(b.rounds,
		func(int) error { return second(asker.search(ctx, question, "")) },
		func(int) error { return second(asker.askInTurn(ctx, match, question, primaryModel, "", answers, nil)) })
	if err != nil {
		return err
	}
	b.results.compare("request over 2 ms a round trip: one batch / in turn", medians[0], medians[1], 0.45, 0)
	return nil
}

// tutorial races the biggest brand's request against the function of the tutorials.
func (b *bench) tutorial(ctx context.Context) error {
	b.progress.begin("Loading the same into the tutorial's table")
	if err := loadTutorial(ctx, b.admin); err != nil {
		return err
	}
	if err := settle(ctx, b.admin); err != nil {
		return err
	}
	if err := b.raceTutorial(ctx, "the tutorial's function / request", 6); err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, tutorialIndex, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("index the tutorial's table: %w", err)
	}
	return b.raceTutorial(ctx, "the same with an index on its tenant_id / request", 0)
}

func (b *bench) raceTutorial(ctx context.Context, name string, least float64) error {
	list := searched(b.corpus)
	brand := list[len(list)-1]
	asker := rep(b.runtime, brand)
	var near [][]float32 // questions that pass its threshold
	for i, question := range b.questions(brand, b.queries) {
		if i%2 == 0 {
			near = append(near, question)
		}
	}
	b.progress.begin("Racing %s", name)
	var ours, theirs []string
	medians, err := race(b.slow,
		func(round int) (err error) { theirs, err = asker.searchTutorial(ctx, pick(near, round)); return err },
		func(round int) (err error) {
			ours, err = asker.search(ctx, pick(near, round), "")
			if err == nil && len(theirs) != answers {
				err = fmt.Errorf("the tutorial's function found %d rows, not %d", len(theirs), answers)
			}
			return err
		})
	if err != nil {
		return err
	}
	if ours[0] != theirs[0] {
		return fmt.Errorf("the tutorial's function and ours found different chunks")
	}
	b.results.compare(fmt.Sprintf("%s, %d chunks", name, brand.size), medians[0], medians[1], 0, least)
	return nil
}

func pick[T any](list []T, round int) T { return list[round%len(list)] }

// second drops the first result.
func second[T any](_ T, err error) error { return err }
