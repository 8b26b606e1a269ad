// Package e2e tests Porchlight from outside: the built command serves on a database of its own, and the
// tests speak HTTP to it as clients do, look at every byte that comes back, and at the rows that stay.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"porchlight/functions/local/postgres"
)

// What all tests share. Only TestMain writes it.
var (
	root     string           // everything that a run writes; the user that Postgres runs as may enter
	binary   string           // the command
	cluster  *postgres.Server // one Postgres; every server of the tests has a database of its own in it
	doorstep *server          // the server with the two brands of tests/corpora, for tests that change nothing of theirs
	canary   *canaries        // words that tell whose a text is
	records  *recorder        // every byte that anybody was told
)

// The two brands, and the price list of each that nobody has verified in time.
const (
	glowmere  = "glowmere-energy"
	skeinwick = "skeinwick-fibre"
)

var leftStale = map[string]string{
	glowmere:  "prices/wallbox-hardware.csv",
	skeinwick: "prices/reelhouse-tv.csv",
}

const corpora = "../corpora"

func TestMain(m *testing.M) {
	code, err := runAll(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(ctx context.Context, m *testing.M) (code int, err error) {
	if root, err = os.MkdirTemp("", "porchlight-e2e-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := os.Chmod(root, 0o711); err != nil {
		return 1, err
	}
	if canary, err = readCanaries(); err != nil {
		return 1, err
	}
	records = newRecorder(http.DefaultTransport)
	http.DefaultTransport = records
	binary = filepath.Join(root, "porchlight")
	built := make(chan error, 1)
	go func() { built <- build(ctx) }() // while Postgres starts
	if cluster, err = postgres.Start(ctx, postgres.Options{Fast: true}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop(), noneLeft()) }()
	// it has been found: a test that starts one of its own means its own
	if err := os.Unsetenv("PORCHLIGHT_POSTGRES_URL"); err != nil {
		return 1, err
	}
	if _, err := cluster.Template(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, checkData(ctx)) }() // of every server, after all have ended
	if err := <-built; err != nil {
		return 1, err
	}
	if doorstep, err = openDoorstep(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, endAll(ctx)) }()
	return m.Run(), nil
}

// endAll stops the shared server and looks through everything that was told since the beginning.
func endAll(ctx context.Context) error {
	err := errors.Join(doorstep.end(ctx), recordDatabaseLog(ctx, records))
	summary, foreign := records.search(canary)
	fmt.Println(summary)
	return errors.Join(err, foreign)
}

func build(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../functions/local").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the command: %w\n%s", err, output)
	}
	return nil
}

// openDoorstep serves copies of the two brands. The tests ask more in a minute than a person may, and
// run in years when all prices of tests/corpora have become stale: the limit is lifted and all prices
// but one list of each brand are verified, as their admins would.
func openDoorstep(ctx context.Context) (*server, error) {
	library := filepath.Join(root, "brands")
	if err := os.CopyFS(library, os.DirFS(corpora)); err != nil {
		return nil, err
	}
	s, err := start(ctx, options{name: "doorstep", brands: library})
	if err != nil {
		return nil, err
	}
	err = s.exec(ctx, `update app.tenant_limits set turns_per_minute = 1000, turns_per_day = 100000`)
	for slug, key := range leftStale {
		if err == nil {
			err = s.exec(ctx, `update app.chunks c set verified_at = now() - interval '3 days'
				from app.sources s join app.tenants t on t.id = s.tenant_id
				where s.tenant_id = c.tenant_id and s.id = c.source_id and t.slug = $1 and s.source_key <> $2
					and c.verified_at < now() - interval '80 days'`, slug, key)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// patience is how long the tests wait for anything. It is long, since the machine may be busy; nothing
// is expected to take a part of it.
const patience = 90 * time.Second
