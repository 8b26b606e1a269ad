package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// run is a reindex as its events, or GET /v1/reindex/{run}, tell it.
type run struct {
	RunID   string `json:"run_id"`
	Tenant  string `json:"tenant"`
	Status  string `json:"status"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Kept    int    `json:"kept"`
	Removed int    `json:"removed"`
	Failed  int    `json:"failed"`
	Sources []struct {
		Key    string `json:"key"`
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"sources"`
}

// reindex asks the server for a reindex and reads the events to their end.
func (p person) reindex(body string) run {
	p.t.Helper()
	r := p.post("/v1/reindex", body)
	r.want(p.t, http.StatusOK, "")
	if kind := r.header.Get("Content-Type"); kind != "application/x-ndjson; charset=utf-8" {
		p.t.Errorf("Content-Type %q", kind)
	}
	var whole run
	var types []string
	for line := range strings.Lines(r.body) {
		var e struct{ Type, Key, Status, Reason string }
		decode(p.t, line, &e)
		types = append(types, e.Type)
		switch e.Type {
		case "run", "done":
			decode(p.t, line, &whole)
		case "source":
			whole.Sources = append(whole.Sources, struct {
				Key    string `json:"key"`
				Status string `json:"status"`
				Reason string `json:"reason"`
			}{e.Key, e.Status, e.Reason})
		default:
			p.t.Errorf("an event of type %q: %s", e.Type, line)
		}
	}
	if len(types) < 2 || types[0] != "run" || types[len(types)-1] != "done" {
		p.t.Errorf("events came as %v", types)
	}
	return whole
}

func (p person) showRun(id string) run {
	p.t.Helper()
	r := p.get("/v1/reindex/" + id)
	r.want(p.t, http.StatusOK, "")
	var shown run
	decode(p.t, r.body, &shown)
	return shown
}

func TestReindex_IsForAdminsOfTheBrandAndOfThePlatform(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "reindex-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
		"faq/hours.md":     "# Hours\n\nThe shop opens at nine.\n",
	})
	rep, admin := doorstep.rep(t, b.slug), doorstep.admin(t, b.slug)
	rep.post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "not_an_admin")
	rep.get("/v1/reindex/"+uuid.NewString()).want(t, http.StatusForbidden, "not_an_admin")
	doorstep.visitor(t).post("/v1/reindex", `{"all":true}`).want(t, http.StatusUnauthorized, "unauthenticated")
	for _, other := range []string{glowmere, "no-such-brand"} {
		admin.post("/v1/reindex", `{"all":true,"tenant":"`+other+`"}`).want(t, http.StatusForbidden, "not_a_member")
	}
	for _, bad := range []string{`{}`, `{"all":false}`, `{"all":true,"sources":["a.md"]}`, `{"sources":[""]}`, `{"sources":["a\u0000.md"]}`, `{"all":true,"library":"/"}`} {
		admin.post("/v1/reindex", bad).want(t, http.StatusBadRequest, "bad_request")
	}
	done := admin.reindex(`{"all":true}`)
	if done.Status != "ready" || done.Added != 2 || len(done.Sources) != 2 || done.Failed != 0 {
		t.Errorf("first run: %+v", done)
	}
	shown := admin.showRun(done.RunID)
	if shown.Tenant != b.slug || shown.Status != "ready" || shown.Added != 2 || len(shown.Sources) != 2 {
		t.Errorf("shown: %+v", shown)
	}
	rep.get("/v1/reindex/"+done.RunID).want(t, http.StatusForbidden, "not_an_admin")
	if own := admin.reindex(`{"all":true,"tenant":"` + b.slug + `"}`); own.Kept != 2 || own.Added != 0 {
		t.Errorf("by its own name: %+v", own)
	}
	if one := admin.reindex(`{"sources":["faq/hours.md"]}`); len(one.Sources) != 1 || one.Sources[0].Status != "unchanged" {
		t.Errorf("one source: %+v", one)
	}

	operator := doorstep.operator(t)
	for _, slug := range []string{b.slug, skeinwick} {
		if done := operator.reindex(`{"sources":["faq/english.md","faq/hours.md"],"tenant":"` + slug + `"}`); len(done.Sources) != 2 || done.Added != 0 {
			t.Errorf("by the platform's admin: %+v", done)
		}
	}
	if shown := operator.showRun(done.RunID + "?tenant=" + b.slug); shown.Tenant != b.slug || len(shown.Sources) != 2 {
		t.Errorf("shown to the platform's admin: %+v", shown)
	}
	operator.get("/v1/reindex/"+done.RunID+"?tenant="+skeinwick).want(t, http.StatusNotFound, "not_found")
	operator.get("/v1/reindex/"+done.RunID).want(t, http.StatusForbidden, "not_a_member")
	admin.get("/v1/reindex/"+done.RunID+"?tenant="+skeinwick).want(t, http.StatusForbidden, "not_a_member")
	admin.get("/v1/reindex/"+done.RunID+"?tenant=%00").want(t, http.StatusBadRequest, "bad_request")
	operator.post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "not_a_member")
	operator.post("/v1/ask", validAsk).want(t, http.StatusForbidden, "not_a_member")
}

// A path out of the library is a document that is missing, and tells nothing of what lies there.
func TestReindex_StaysInTheBrandsFolder(t *testing.T) {
	t.Parallel()
	hours := map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"}
	newBrand(t, doorstep.library, "folder-neighbour", "{}", hours)
	b := doorstep.addBrand(t, "folder-stoves", "{}", hours)
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := errors.Join(os.WriteFile(outside, []byte("# Outside\n\nA secret.\n"), 0o600),
		os.Symlink(outside, filepath.Join(b.dir, "faq", "link.md"))); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"../folder-neighbour/faq/hours.md", "faq/../../folder-neighbour/faq/hours.md", outside, "faq/link.md", "brand.yaml", "faq",
	} {
		done := doorstep.admin(t, b.slug).reindex(encode(t, map[string]any{"sources": []string{key}}))
		if done.Status != "failed" || done.Added != 0 || len(done.Sources) != 1 || done.Sources[0].Reason != "missing" {
			t.Errorf("%s: %+v", key, done)
		}
	}
	if n := doorstep.text(t, `select count(*)::text from app.chunks c join app.tenants t on t.id = c.tenant_id where t.slug = $1`, b.slug); n != "0" {
		t.Errorf("%s chunks", n)
	}
}

// A document that can't be read fails alone, with its name and reason; what was stored of it stays.
func TestReindex_ABrokenDocumentFailsAlone(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "broken-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
		"prices/pipes.csv": "Pipe,Price\nShort flue,€41.00\n",
		"faq/hours.md":     "# Hours\n\nThe shop opens at nine.\n",
	})
	b.index(t)
	b.write(t, "prices/pipes.csv", "Pipe,Price\nShort flue,€44.00,too many\n")
	b.write(t, "prices/bytes.md", "# Price\n\nThe grate costs 12 \x81.\n")
	b.write(t, "faq/hours.md", "# Hours\n\nThe shop opens at ten.\n")
	b.write(t, "faq/void.md", "\n\n")
	reasons := map[string]string{"prices/pipes.csv": "malformed", "prices/bytes.md": "undecodable", "faq/void.md": "empty"}

	i := b.ingest(t, 3) // the exit code says that not everything was indexed
	if i.Status != "partial" || i.Sources != 5 || i.Indexed != 1 || i.Unchanged != 1 || i.Retired != 0 || len(i.Failures) != len(reasons) {
		t.Errorf("ingest: %+v", i)
	}
	for _, f := range i.Failures {
		if !strings.HasPrefix(f.Reason, reasons[f.Key]) || reasons[f.Key] == "" {
			t.Errorf("%s: %s", f.Key, f.Reason)
		}
	}
	done := doorstep.admin(t, b.slug).reindex(`{"all":true}`)
	if done.Status != "partial" || done.Failed != 3 {
		t.Errorf("over HTTP: %+v", done)
	}
	for _, s := range done.Sources {
		if want := reasons[s.Key]; !strings.HasPrefix(s.Reason, want) || (s.Status == "error") != (want != "") {
			t.Errorf("%+v, want %q", s, want)
		}
	}
	rep := doorstep.rep(t, b.slug)
	for question, want := range map[string]string{
		"What is the price of the Ember Nook?": "€1,240.00",
		"What is the price of the short flue?": "€41.00",
		"When does the shop open?":             "ten",
	} {
		if a := rep.ask(question); !strings.Contains(a.said(), want) && a.Outcome != "held" {
			t.Errorf("%s %s: %s", question, a.Outcome, a.said())
		}
	}
	if a := rep.ask("What is the price of the short flue?"); strings.Contains(a.said(), "44") {
		t.Errorf("half a document is answered from: %s", a.said())
	}
}
