package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// Nothing that has not changed is written: every row of the brand keeps its bytes and the transaction
// that wrote it. The same document with the line breaks of another system, a byte order mark or
// decomposed letters has not changed. O29 O30 O38
func TestReconcile_WhatIsTheSameIsNotTouched(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00", "Café Grande: €2,310.00"),
		"faq/hours.md":     "# Öffnung\n\nThe café opens at nine.\n\nIt closes at six.\n",
		"faq/twice.md":     "# One\n\nPrices include VAT.\n\n# Two\n\nPrices include VAT.\n", // O37
		"faq/path.md":      "# Path\n\nSave it as C:\\temp\\prices, with \"quotes\", a\ttab and 🔥.\n",
	}
	b := doorstep.addBrand(t, "same-stoves", "{turns_per_minute: 100}", documents)
	if first := b.index(t); first.Added < 5 || first.Status != "ready" {
		t.Fatalf("first: %+v", first)
	}
	before := b.rows(t)
	for _, c := range []struct {
		name   string
		change func(text string) string
	}{
		{"untouched", func(text string) string { return text }},
		{"CRLF", func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }},
		{"decomposed", norm.NFD.String},
		{"with a byte order mark", func(text string) string { return "\ufeff" + text }},
		{"with spaces at the end of lines and blank lines at the end", func(text string) string {
			return strings.ReplaceAll(text, ".\n", ".  \n") + "\n\n"
		}},
		{"with soft hyphens and zero-width spaces", func(text string) string { return strings.ReplaceAll(text, "opens", "op\u00aden\u200bs") }},
	} {
		for key, text := range documents {
			b.write(t, key, c.change(text))
		}
		done := b.index(t)
		if done.Added+done.Changed+done.Removed != 0 || done.Kept == 0 {
			t.Errorf("%s: %+v", c.name, done)
		}
		for _, s := range done.Sources {
			if s.Status != "unchanged" {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if after := b.rows(t); after != before {
			t.Errorf("%s: rows were written:\n%s\nwere\n%s", c.name, after, before)
		}
	}
}

// A page that became shorter leaves nothing of its old end behind. O28
func TestReconcile_AShorterPageForgetsItsOldPrice(t *testing.T) {
	t.Parallel()
	section := func(name, text string) string { return "## " + name + "\n\n" + text + "\n\n" }
	page := "---\ntitle: Stoves\ntype: price\nverified_at: " + daysAgo(2) + "\n---\n# Stoves\n\n"
	kept := section("Nook", "The Ember Nook costs €1,240.00.") + section("Hall", "The Ember Hall costs €2,310.00.")
	gone := section("Delivery", "Delivery is free.") + section("Fitting", "Fitting the Tinderbox takes a day.") +
		section("Tinderbox", "The Tinderbox costs 99 €.")
	b := doorstep.addBrand(t, "short-stoves", "{turns_per_minute: 100}", map[string]string{"prices/stoves.md": page + kept + gone})
	if first := b.index(t); first.Added != 5 {
		t.Fatalf("first: %+v", first)
	}
	rep := doorstep.rep(t, b.slug)
	const question = "What does the Tinderbox cost?"
	if a := rep.ask(question); !strings.Contains(a.said(), "99 €") {
		t.Fatalf("before: %s %s", a.Outcome, a.said())
	}
	b.write(t, "prices/stoves.md", page+kept)
	if done := b.index(t); done.Removed != 3 || done.Kept != 2 || done.Added != 0 {
		t.Errorf("the shorter page: %+v", done)
	}
	rep.ask(question).mustNotSay(t, "99 €", "Tinderbox")
	if n := doorstep.text(t, `select count(*)::text from app.chunks c join app.tenants t on t.id = c.tenant_id where t.slug = $1`, b.slug); n != "2" {
		t.Errorf("%s chunks, want 2", n)
	}
}

// libraryMissing wants a run that ends with that error.
func libraryMissing(t *testing.T, admin person) {
	t.Helper()
	r := admin.post("/v1/reindex", `{"all":true}`)
	if r.status != http.StatusOK || strings.Count(r.body, "\n") != 2 || !strings.Contains(r.body, `{"type":"error","code":"library_missing"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A crawl that found half of a brand would empty the other half: the run stops and asks, on every way to
// it, until a person says how many passages may go.
func TestReconcile_AMassRemovalIsAskedFor(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "asking-stoves", "{removal_percent: 20}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"), "faq/hours.md": "# Hours\n\nThe shop opens at nine.\n",
	})
	b.index(t)
	before := b.rows(t)
	b.remove(t, "faq/hours.md")
	admin := doorstep.admin(t, b.slug)
	r := admin.post("/v1/reindex", `{"all":true}`)
	endsWith(t, r, "removal_refused")
	var begun struct {
		RunID string `json:"run_id"`
	}
	decode(t, strings.SplitN(r.body, "\n", 2)[0], &begun)
	if run := admin.get("/v1/reindex/" + begun.RunID); !strings.Contains(run.body, `"status":"partial","reason":"removal_refused","refused_removal":1,`) {
		t.Errorf("%s", run.body)
	}
	ingest := []string{"ingest", "--tenant", b.slug, "--library", b.dir, "--all"}
	if r := doorstep.run(t, append(ingest, "--dry-run")...); r.code != 3 || !strings.Contains(r.stdout, "to let them go: --allow-removal 1\n") {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := doorstep.run(t, ingest...); r.code != 1 || !strings.Contains(r.stderr, "It would be 1 or more") || !strings.Contains(r.stderr, "--allow-removal") {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if after := b.rows(t); after != before {
		t.Errorf("rows were written:\n%s\nwere\n%s", after, before)
	}
	admin.post("/v1/reindex", `{"all":true,"allow_removal":1}`).want(t, http.StatusOK, "")
	if n := doorstep.text(t, `select count(*)::text from app.sources where tenant_id = $1`, b.id(t)); n != "1" {
		t.Errorf("%s sources are left", n)
	}
}

// A dry run tells what the run would do, and then does nothing of it.
func TestReconcile_ADryRunTellsWhatTheRunThenDoes(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "dry-stoves", "{}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"), "faq/hours.md": "# Hours\n\nThe shop opens at nine.\n",
	})
	b.index(t)
	b.write(t, "prices/stoves.md", priceList(daysAgo(2), "Ember Nook: €1,260.00"))
	b.write(t, "faq/hours.csv", "a;b\n1;2;3\n")
	b.write(t, "faq/pipes.md", "# Pipes\n\nPipes are steel.\n")
	b.remove(t, "faq/hours.md")
	before, runs := b.rows(t), doorstep.text(t, `select count(*)::text from app.reindex_runs where tenant_id = $1`, b.id(t))
	command := []string{"ingest", "--tenant", b.slug, "--library", b.dir, "--all", "--json"}
	r := doorstep.run(t, append(command, "--dry-run")...)
	var told struct {
		Sources, Differ, Retired, Stored, Added, Changed, Kept, Removed, Minutes int
		Embed                                                                    []struct {
			Index         string
			Texts, Tokens int
		}
		Failures []struct{ Key, Reason string }
	}
	decode(t, r.stdout, &told)
	if r.code != 3 || told.Sources != 3 || told.Differ != 2 || told.Retired != 1 || told.Stored != 2 || told.Added != 2 || told.Changed != 1 ||
		told.Kept != 0 || told.Removed != 2 || told.Minutes != 1 || len(told.Failures) != 1 || told.Failures[0].Key != "faq/hours.csv" {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if len(told.Embed) != 1 || told.Embed[0].Index != "local" || told.Embed[0].Texts != 2 || told.Embed[0].Tokens < 10 {
		t.Errorf("%+v", told.Embed)
	}
	if after := b.rows(t); after != before || doorstep.text(t, `select count(*)::text from app.reindex_runs where tenant_id = $1`, b.id(t)) != runs {
		t.Errorf("rows were written:\n%s\nwere\n%s", after, before)
	}
	i := b.ingest(t, 3)
	if i.Indexed != told.Differ || i.Retired != told.Retired || i.Added != told.Added || i.Kept != told.Kept {
		t.Errorf("the run did %+v", i)
	}
}

// onePage is a PDF with one line of text; without a line it is a page that shows nothing.
func onePage(line string) string {
	content := "BT /F1 12 Tf 72 700 Td (" + line + ") Tj ET"
	if line == "" {
		content = "10 10 100 100 re f"
	}
	return fmt.Sprintf(`%%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>>>>>> endobj
4 0 obj <</Length %d>> stream
%s
endstream endobj
5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj
trailer <</Root 1 0 R>>
`, len(content), content)
}

// A PDF answers with its page; one that only shows pictures, or is broken, is told by name and reason. S5 O03
func TestReconcile_APDFAnswersOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "pdf-stoves", "{}", map[string]string{
		"faq/cellar.pdf": onePage("The wine cellar closes at half past five."), "faq/scan.pdf": onePage(""), "faq/broken.pdf": "%PDF-1.7 cut off",
	})
	var got struct {
		Status   string
		Failures []struct{ Key, Reason string }
	}
	decode(t, doorstep.run(t, "ingest", "--json", "--tenant", b.slug, "--library", b.dir, "--all").stdout, &got)
	if got.Status != "partial" || len(got.Failures) != 2 || got.Failures[0].Key != "faq/broken.pdf" || !strings.HasPrefix(got.Failures[0].Reason, "damaged") ||
		got.Failures[1].Key != "faq/scan.pdf" || !strings.HasPrefix(got.Failures[1].Reason, "no_text_layer") {
		t.Errorf("%+v", got)
	}
	a := doorstep.rep(t, b.slug).ask("When does the wine cellar close?")
	if a.Outcome != "answered" || !strings.Contains(a.said(), "half past five") || len(a.Sources) != 1 || !strings.Contains(a.Sources[0].Heading, "Page 1") {
		t.Errorf("%s", a.body)
	}
}

// Before its first document a brand answers in its own words; nothing is broken, and nothing is away.
func TestReconcile_ABrandWithoutDocumentsAnswersInItsOwnWords(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "bare-stoves", "{}", nil)
	rep := doorstep.rep(t, b.slug)
	a := rep.ask("What is the price of the Ember Nook?")
	if a.Outcome != "no_match" || a.said() != "Nothing on that here." || len(a.Sources) != 0 || a.Index != "" {
		t.Errorf("%s", a.body)
	}
	environment := append(doorstep.environment, "PORCHLIGHT_URL="+doorstep.url, "PORCHLIGHT_EMAIL="+rep.email, "PORCHLIGHT_PASSWORD="+doorstep.password(rep.email))
	if r := runIn(t, environment, "ask", "Is there a stove?"); r.code != 3 || !strings.Contains(r.stdout, "nothing generated · nothing searched") {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// A document that is gone from a complete listing is retired; a library that is gone is not a wish.
func TestReconcile_AnEmptyLibraryRemovesNothing(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "empty-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
		"faq/hours.md":     "# Hours\n\nThe shop opens at nine.\n",
	})
	b.index(t)
	b.remove(t, "faq/hours.md")
	if i := b.ingest(t, 0); i.Retired != 1 || i.Unchanged != 1 {
		t.Errorf("one document less: %+v", i)
	}
	rep, admin := doorstep.rep(t, b.slug), doorstep.admin(t, b.slug)
	if a := rep.ask("When does the shop open?"); strings.Contains(a.said(), "nine") {
		t.Errorf("a retired document answers: %s", a.said())
	}
	before := b.rows(t)
	b.remove(t, "prices")
	libraryMissing(t, admin)
	if r := doorstep.run(t, "ingest", "--tenant", b.slug, "--library", b.dir, "--all"); r.code != 1 || r.stderr == "" {
		t.Errorf("ingest of an empty library ended with %d: %s", r.code, r.stderr)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(b.dir, moved); err != nil {
		t.Fatal(err)
	}
	libraryMissing(t, admin)
	if after := b.rows(t); after != before {
		t.Errorf("rows were written:\n%s\nwere\n%s", after, before)
	}
	if a := rep.ask("What is the price of the Ember Nook?"); !strings.Contains(a.said(), "€1,240.00") {
		t.Errorf("%s: %s", a.Outcome, a.said())
	}
	if n := doorstep.text(t, `select count(*)::text from app.reindex_runs where status = 'running'
		and tenant_id = (select id from app.tenants where slug = $1)`, b.slug); n != "0" {
		t.Errorf("%s runs look alive", n)
	}
}
