package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"porchlight/tests/gemini"
)

// A spent quota of the day closes a model until the provider's midnight, and no later question calls it;
// one of the minute closes it for a while. O85
func (g generative) quotas(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	ask := func(wantModel, wantCalls string) {
		t.Helper()
		calls := g.calls(func() {
			a := rep.ask(nookQuestion)
			if a.Outcome != "answered" || a.Model != wantModel || !strings.Contains(a.said(), "€1,240.00") {
				t.Errorf("want %s: %s", wantModel, a.body)
			}
		})
		if calls != wantCalls {
			t.Errorf("calls %s, want %s", calls, wantCalls)
		}
	}
	g.provider.Queue(lite, gemini.Quota(time.Second, gemini.PerMinute, gemini.PerDay)) // both at once: the day counts
	g.provider.Queue(lighter, gemini.Text(nookAnswer), gemini.Quota(40*time.Second, gemini.PerMinute))
	g.provider.Queue(flash, gemini.Text(nookAnswer), gemini.Quota(0, gemini.PerDay))
	ask(lighter, "1 1 0")
	ask(flash, "0 1 1")
	ask("extractive", "0 0 1")
	ask("extractive", "0 0 0")
	soon := g.server.text(t, `select string_agg(d.model || ' ' || (d.closed_until < now() + interval '61 seconds'), ', ')
		from private.model_days d where d.closed_until > now() and d.model = 'gemini-3.1-flash-lite'`)
	if soon != lighter+" true" {
		t.Errorf("closed for a minute: %q", soon)
	}
	midnight := g.server.text(t, `select string_agg(d.model || ' ' || to_char(d.closed_until at time zone 'America/Los_Angeles', 'HH24:MI'), ', ' order by d.model)
		from private.model_days d where d.closed_until > now() and d.model <> 'gemini-3.1-flash-lite'`)
	if midnight != lite+" 00:00, "+flash+" 00:00" {
		t.Errorf("closed until the provider's midnight: %q", midnight)
	}
	g.reset(t)
	g.provider.Queue(lite, gemini.Text(nookAnswer))
	ask(lite, "1 0 0")
}

// The question moves to another index as a whole: its vector is made anew by that index's own model,
// and a model without quota is not asked again. O49
func (g generative) embeddingQuotas(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	embedded := func(work func()) (primary, fallback int) {
		primary, fallback = g.provider.Count(primaryModel), g.provider.Count(fallbackModel)
		work()
		return g.provider.Count(primaryModel) - primary, g.provider.Count(fallbackModel) - fallback
	}
	for _, step := range []struct {
		name, index       string
		queue             map[string]gemini.Response
		primary, fallback int // calls of the embedding models
	}{
		{"all is well", "primary", nil, 1, 0},
		{"primary is spent", "fallback", map[string]gemini.Response{primaryModel: gemini.Quota(0, gemini.PerDay)}, 1, 1},
		{"and stays closed", "fallback", nil, 0, 1},
		{"fallback is spent too", "local", map[string]gemini.Response{fallbackModel: gemini.Quota(0, gemini.PerDay)}, 0, 1},
		{"and stays closed", "local", nil, 0, 0},
	} {
		for model, response := range step.queue {
			g.provider.Queue(model, response)
		}
		g.provider.Queue(lite, gemini.Text(nookAnswer))
		primary, fallback := embedded(func() {
			a := rep.ask(nookQuestion)
			if a.Outcome != "answered" || a.Index != step.index || a.said() != nookAnswer {
				t.Errorf("%s: %s", step.name, a.body)
			}
			if got := g.server.text(t, `select index_name from app.turns where id = $1`, a.turnID); got != step.index {
				t.Errorf("%s: the log says %s", step.name, got)
			}
		})
		if primary != step.primary || fallback != step.fallback {
			t.Errorf("%s: %d and %d calls, want %d and %d", step.name, primary, fallback, step.primary, step.fallback)
		}
	}
}

// An embedding that fails stores nothing of its document, not even what another index had got, so that
// the next run finds it new. O35 O45 O50
func (g generative) failedIndexing(t *testing.T) {
	admin := g.server.admin(t, g.slug)
	stored := func() string {
		t.Helper()
		return g.server.text(t, `select count(c) || ' ' || count(p) || ' ' || count(f) || ' ' || count(l)
			from app.sources s join app.chunks c on c.source_id = s.id
			left join app.chunk_embeddings_primary p on p.chunk_id = c.id
			left join app.chunk_embeddings_fallback f on f.chunk_id = c.id
			left join app.chunk_embeddings_local l on l.chunk_id = c.id
			where s.source_key = 'faq/lamps.md'`)
	}
	g.write(t, "faq/lamps.md", "# Lamps\n\nThe porch lamp burns for nine hours.\n")
	for _, c := range []struct {
		name, model string
		response    gemini.Response
	}{
		{"503", fallbackModel, gemini.Unavailable()},
		{"a spent quota", primaryModel, gemini.Quota(0, gemini.PerDay)},
		{"a model that was retired", primaryModel, gemini.NotFound()},
		{"vectors of another length", primaryModel, gemini.Vectors(make([]float32, 3072))},
		{"a vector of zeros", fallbackModel, gemini.Vectors(make([]float32, 768))},
		{"no vector", primaryModel, gemini.Vectors()},
		{"a page instead of JSON", primaryModel, gemini.Raw(http.StatusBadGateway, "<html>")},
	} {
		g.provider.Queue(c.model, c.response)
		done := admin.reindex(`{"all":true}`)
		failed := 0
		for _, s := range done.Sources {
			if s.Status == "error" && s.Key == "faq/lamps.md" && strings.HasPrefix(s.Reason, "embedding_failed") {
				failed++
			}
		}
		if done.Status != "partial" || done.Failed != 1 || failed != 1 || done.Added+done.Removed != 0 {
			t.Errorf("%s: %+v", c.name, done)
		}
		if got := stored(); got != "0 0 0 0" {
			t.Errorf("%s: stored %s", c.name, got)
		}
	}
	if done := admin.reindex(`{"all":true}`); done.Status != "ready" || done.Added != 1 {
		t.Errorf("the next run: %+v", done)
	}
	if got := stored(); got != "1 1 1 1" {
		t.Errorf("the next run stored %s", got)
	}
}
