package house_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/local/postgres"
)

const baseline = "supabase/migrations/20261201000000_baseline.sql"

func TestSchema_TheBaselineIsFresh(t *testing.T) {
	generated, err := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "scripts/baseline.sh"), "--print").Output()
	if err != nil {
		t.Fatal(err)
	}
	if difference := diffLines(string(generated), read(t, baseline)); difference != "" {
		t.Errorf("%s is not what sql/ says now (make baseline):\n%s", baseline, difference)
	}
}

func TestSchema_FromSQLEqualsThatFromMigrations(t *testing.T) {
	t.Setenv("PORCHLIGHT_POSTGRES_URL", "") // pg_dump is of the embedded release
	product := fstest.MapFS{}
	for _, path := range files(t, []string{"supabase/shim"}, []string{".sql"}) {
		product[filepath.Base(path)] = &fstest.MapFile{Data: []byte(read(t, path))}
	}
	for i, path := range files(t, []string{"sql/"}, []string{".sql"}) {
		product[fmt.Sprintf("migrations/%03d_part.sql", i)] = &fstest.MapFile{Data: []byte(read(t, path))}
	}
	fromSQL := dump(t, postgres.Options{Fast: true, Files: product})
	fromMigrations := dump(t, postgres.Options{Fast: true, Files: os.DirFS(filepath.Join(root, "supabase"))})
	if difference := diffLines(fromSQL, fromMigrations); difference != "" {
		t.Errorf("sql/ (-) and supabase/migrations (+) make different schemas:\n%s", difference)
	}
}

func diffLines(a, b string) string { return cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")) }

func dump(t *testing.T, options postgres.Options) string {
	t.Helper()
	server, err := postgres.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if err := server.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	schema, err := server.DumpSchema(t.Context(), "postgres", "api", "app", "private")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
