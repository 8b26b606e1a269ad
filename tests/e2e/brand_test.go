package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ownBrand is a brand that one test may change: its folder lies in the library of the server.
type ownBrand struct {
	server    *server
	slug, dir string
}

// newBrand writes the folder of a brand with a rep and an admin into a library. limits is a YAML mapping
// such as "{turns_per_minute: 2}". Unless it says otherwise, a reindex may remove whatever is gone.
func newBrand(t *testing.T, library, slug, limits string, documents map[string]string) ownBrand {
	t.Helper()
	b := ownBrand{slug: slug, dir: filepath.Join(library, slug)}
	if !strings.Contains(limits, "removal_percent") {
		limits = strings.Replace(limits, "{", "{removal_percent: 100, ", 1)
	}
	b.write(t, "brand.yaml", fmt.Sprintf(`slug: %[1]s
name: Brand %[1]s
language: en
personas:
  en: {persona: "Speak plainly.", fallback: "Nothing on that here."}
limits: %[2]s
members:
  - {email: rep@%[1]s.example, role: rep}
  - {email: admin@%[1]s.example, role: admin}
`, slug, limits))
	for key, text := range documents {
		b.write(t, key, text)
	}
	return b
}

// serve starts a server of the test's own for the brand alone, which indexes it.
func (b ownBrand) serve(t *testing.T, o options) ownBrand {
	t.Helper()
	o.brands = filepath.Dir(b.dir)
	b.server = open(t, o)
	return b
}

// addBrand adds a new brand to a server that runs, with the command. Nothing is indexed yet.
func (s *server) addBrand(t *testing.T, slug, limits string, documents map[string]string) ownBrand {
	t.Helper()
	b := newBrand(t, s.library, slug, limits, documents)
	b.server = s
	var added struct {
		Slug    string
		Members []struct{ Email, Role, Password string }
	}
	decode(t, s.mustRun(t, "tenant", "add", "--json", b.dir).stdout, &added)
	if added.Slug != slug || len(added.Members) != 2 {
		t.Fatalf("tenant add said %d members of %q", len(added.Members), added.Slug)
	}
	for _, m := range added.Members {
		s.setPassword(m.Email, m.Password)
	}
	return b
}

// write writes a document.
func (b ownBrand) write(t *testing.T, key, text string) {
	t.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b ownBrand) remove(t *testing.T, key string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, filepath.FromSlash(key))); err != nil {
		t.Fatal(err)
	}
}

// ingested is what `porchlight ingest --json` says.
type ingested struct {
	RunID                                string `json:"run_id"`
	Status                               string
	Sources, Indexed, Unchanged, Retired int
	Superseded                           int
	Added, Changed, Kept, Removed        int
	Failures                             []struct{ Key, Reason string }
}

// ingest runs the operator's command over the whole folder and wants that exit code.
func (b ownBrand) ingest(t *testing.T, code int) ingested {
	t.Helper()
	r := b.server.run(t, "ingest", "--json", "--tenant", b.slug, "--library", b.dir, "--all")
	if r.code != code {
		t.Fatalf("ingest ended with %d, want %d: %s%s", r.code, code, r.stdout, r.stderr)
	}
	var i ingested
	decode(t, r.stdout, &i)
	return i
}

// index lets the brand's admin reindex all of it over HTTP: quicker than the command, which loads a model.
func (b ownBrand) index(t *testing.T) run {
	t.Helper()
	return b.server.admin(t, b.slug).reindex(`{"all":true}`)
}

// rows is a fingerprint of everything that is stored of the brand's documents: xmin is the transaction
// that wrote a row last.
func (b ownBrand) rows(t *testing.T) string {
	t.Helper()
	return b.server.text(t, `
		select string_agg(r.row, e'\n' order by r.row) from (
			select c.xmin || ' ' || c::text from app.chunks c join app.tenants t on t.id = c.tenant_id where t.slug = $1
			union all
			select s.xmin || ' ' || s::text from app.sources s join app.tenants t on t.id = s.tenant_id where t.slug = $1
			union all
			select e.xmin || ' ' || e::text from app.chunk_embeddings_local e join app.tenants t on t.id = e.tenant_id
			where t.slug = $1
		) r (row)`, b.slug)
}

// daysAgo is a date as front matter carries it.
func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

// priceList is a Markdown document with a table of stoves, one "name: price" each.
func priceList(verified string, rows ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: Stoves\ntype: price\nverified_at: %s\n---\n# Stoves\n\n| Stove | Price |\n|---|---|\n", verified)
	for _, row := range rows {
		name, price, _ := strings.Cut(row, ": ")
		fmt.Fprintf(&b, "| %s | %s |\n", name, price)
	}
	return b.String()
}
