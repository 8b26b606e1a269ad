package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Two brands with a document of the same text under the same key and address, but for the price, are
// asked the same words at the same time: each gets its own. Whatever is kept in memory or in a table for a
// question or a text has to be kept for a brand. T8 T9 T10
func TestTenancy_TheSameWordsGetEachBrandItsOwnAnswer(t *testing.T) {
	t.Parallel()
	first := stoves(t, "same-words-first", "Pennyrook", "€1,931.00")
	second := stoves(t, "same-words-second", "Hollybrand", "€2,042.00")
	people := map[string]person{"€1,931.00": doorstep.rep(t, first.slug), "€2,042.00": doorstep.rep(t, second.slug)}
	var asking sync.WaitGroup
	for price, p := range people {
		for range 4 {
			asking.Go(func() {
				for range 3 {
					a := p.ask(nookQuestion)
					if a.Outcome != "answered" || !strings.Contains(a.said(), price) || len(a.Sources) != 1 {
						t.Errorf("%s is told %s", p.brand, a.body)
					}
				}
			})
		}
	}
	asking.Wait()
	// what one brand does with its copy is not done to the other's
	before := second.rows(t)
	first.write(t, "prices/stoves.md", strings.Replace(markedList("Pennyrook", "€1,931.00"), "| Ember Nook |", "| Ember Hall |", 1))
	if done := first.index(t); done.Changed != 1 {
		t.Errorf("%+v", done)
	}
	first.write(t, "faq/hours.md", "# Hours\n\nThe shop opens at nine.\n")
	first.remove(t, "prices/stoves.md")
	if done := first.index(t); done.Added != 1 || done.Status != "ready" {
		t.Errorf("%+v", done)
	}
	if after := second.rows(t); after != before {
		t.Errorf("rows of the other brand were written:\n%s\nwere\n%s", after, before)
	}
	if a := people["€2,042.00"].ask(nookQuestion); !strings.Contains(a.said(), "€2,042.00") {
		t.Errorf("%s", a.body)
	}
	people["€1,931.00"].ask(nookQuestion).mustNotSay(t, "2,042", "Hollybrand")
}

// Names that mean something to a machine are names like any other. Those that could lead out of a folder
// are refused before anything is written; tests/sql/10_tenants/01_tenants.sql has what the database refuses. T17
func TestTenancy_ASlugIsOnlyAName(t *testing.T) {
	t.Parallel()
	for slug, price := range map[string]string{"public": "€3,153.00", "null": "€4,264.00", "undefined": "€5,375.00", "true": "€6,486.00"} {
		b := newBrand(t, doorstep.library, slug, "{turns_per_minute: 100}", map[string]string{"prices/stoves.md": markedList("Stonecrop"+slug, price)})
		b.write(t, "brand.yaml", strings.Replace(readFile(t, filepath.Join(b.dir, "brand.yaml")), "slug: "+slug, `slug: "`+slug+`"`, 1))
		canary.add(slug, "Stonecrop"+slug, strings.TrimPrefix(price, "€"))
		b.server = doorstep
		var added struct {
			Members []struct{ Email, Password string }
		}
		decode(t, doorstep.mustRun(t, "tenant", "add", "--json", b.dir).stdout, &added)
		for _, m := range added.Members {
			doorstep.setPassword(m.Email, m.Password)
		}
		b.index(t)
		if a := doorstep.rep(t, slug).ask(nookQuestion); !strings.Contains(a.said(), price) || !strings.Contains(a.titles(), "Stonecrop"+slug) {
			t.Errorf("%s: %s", slug, a.body)
		}
		for _, body := range []string{`{"all":true,"tenant":"` + slug + `"}`, `{"sources":["prices/stoves.md"],"tenant":"` + slug + `"}`} {
			doorstep.admin(t, glowmere).post("/v1/reindex", body).want(t, http.StatusForbidden, "not_a_member")
		}
	}
	doorstep.admin(t, skeinwick).reindex(`{"sources":["faq/english.md"],"tenant":null}`) // null is nothing, so one's own

	brands := doorstep.text(t, `select string_agg(slug, ' ' order by slug) from app.tenants where slug !~ '-'`)
	for _, slug := range []string{"../" + glowmere, "🔥", strings.Repeat("a", 300), strings.Repeat("a-", 32) + "a", "Upper", `a\0b`, ""} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "brand.yaml"), []byte(`slug: "`+slug+"\"\nname: A brand\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := doorstep.run(t, "tenant", "add", dir); r.code != 1 || !strings.Contains(r.stderr, "slug") {
			t.Errorf("%q ended with %d: %s%s", slug, r.code, r.stdout, r.stderr)
		}
	}
	if after := doorstep.text(t, `select string_agg(slug, ' ' order by slug) from app.tenants where slug !~ '-'`); after != brands {
		t.Errorf("brands: %s, were %s", after, brands)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Beside a brand with 5,000 chunks that are nearly the question, a brand with one chunk loses nothing and
// a brand with none gets nothing. T18
func TestTenancy_ABrandWithNothingBesideOneWithMuch(t *testing.T) {
	t.Parallel()
	much := stoves(t, "much-stoves", "Larkspurgrate", "€7,597.00")
	little := stoves(t, "little-stoves", "Campionhob", "€8,608.00")
	none := doorstep.addBrand(t, "none-stoves", "{}", map[string]string{"faq/.keep": ""})
	fill := `with s as (select tenant_id, id from app.sources where tenant_id = $1),
		one as (select c.id, c.content from app.chunks c where c.tenant_id = $1),
		new as (insert into app.chunks (tenant_id, source_id, heading_path, content, language, occurrence, verified_at)
			select s.tenant_id, s.id, 'Stoves › Larkspurgrate ' || i, one.content, 'en', i, now() from s, one, generate_series(1, 5000) i
			returning tenant_id, id),
		listed as (update app.sources s set chunk_ids = s.chunk_ids || array(select n.id from new n) where s.tenant_id = $1)
		insert into app.chunk_embeddings_local (tenant_id, chunk_id, embedding)
		select n.tenant_id, n.id, e.embedding from new n, one join app.chunk_embeddings_local e on e.tenant_id = $1 and e.chunk_id = one.id`
	if err := doorstep.exec(t.Context(), fill, theirID(t, much.slug)); err != nil {
		t.Fatal(err)
	}
	ask := func(b ownBrand, price string) {
		t.Helper()
		if a := doorstep.rep(t, b.slug).ask(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), price) {
			t.Errorf("%s: %s", b.slug, a.body)
		}
	}
	ask(much, "€7,597.00")
	ask(little, "€8,608.00")
	r := doorstep.rep(t, none.slug).post("/v1/ask", encode(t, map[string]string{"question": nookQuestion}))
	if strings.Contains(r.body, "sentence") && !strings.Contains(r.body, `"no_match"`) || strings.Contains(r.body, "€") {
		t.Errorf("who has nothing is told %s", r.body)
	}
	if chunks := doorstep.admin(t, none.slug).stale(); len(chunks) != 0 {
		t.Errorf("stale: %+v", chunks)
	}
}
