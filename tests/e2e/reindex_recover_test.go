package e2e

import (
	"strings"
	"testing"
)

// lines runs a query of one text, "key<tab>value" lines, for the brand.
func (b ownBrand) lines(t *testing.T, query string) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for line := range strings.SplitSeq(b.server.text(t, query, b.slug), "\n") {
		if key, value, ok := strings.Cut(line, "\t"); ok {
			lines[key] = value
		}
	}
	return lines
}

// held is, by key of the source, what is stored of it, whichever rows it is in: the facts, the passages in
// their order, and the vector of each in each index.
func (b ownBrand) held(t *testing.T) map[string]string {
	t.Helper()
	return b.lines(t, `
		select string_agg(source_key || e'\t' || held, e'\n') from (
			select s.source_key, concat_ws('|', s.source_type, s.title, s.status, s.verified_at, s.visibility,
				string_agg(concat_ws('#', c.heading_path, c.content, c.occurrence, c.verified_at,
					md5(p.embedding::text), md5(f.embedding::text), l.chunk_id is not null), ';' order by o.place)) held
			from app.sources s join app.tenants t on t.id = s.tenant_id
			cross join unnest(s.chunk_ids) with ordinality o (id, place)
			left join app.chunks c on c.id = o.id
			left join app.chunk_embeddings_primary p on p.chunk_id = c.id
			left join app.chunk_embeddings_fallback f on f.chunk_id = c.id
			left join app.chunk_embeddings_local l on l.chunk_id = c.id
			where t.slug = $1 group by s.tenant_id, s.id
		) h`)
}

// identities is, by source, text and place among equals, the row of each passage and of its vectors with
// the transactions that wrote them.
func (b ownBrand) identities(t *testing.T) map[string]string {
	t.Helper()
	return b.lines(t, `
		select string_agg(concat_ws('/', s.source_key, encode(c.content_hash, 'hex'), c.occurrence) || e'\t'
			|| concat_ws('/', c.xmin, md5(c::text), p.xmin, f.xmin, l.xmin), e'\n')
		from app.chunks c join app.tenants t on t.id = c.tenant_id
		join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
		left join app.chunk_embeddings_primary p on p.chunk_id = c.id
		left join app.chunk_embeddings_fallback f on f.chunk_id = c.id
		left join app.chunk_embeddings_local l on l.chunk_id = c.id
		where t.slug = $1`)
}

// asks checks that each source is all old or all new, and that the question is answered from what is
// stored.
func (c *crashes) asks(t *testing.T, before map[string]string, target int) {
	t.Helper()
	now := c.held(t)
	for key, held := range now {
		if held != before[key] && held != c.clean[target][key] {
			t.Errorf("%s is neither as before nor as it shall be:\n%s", key, held)
		}
	}
	for key := range before {
		if _, ok := now[key]; !ok && c.clean[target][key] != "" {
			t.Errorf("%s is gone", key)
		}
	}
	price := nookPrices[c.version]
	if now["prices/stoves.md"] != before["prices/stoves.md"] {
		price = nookPrices[target]
	}
	if a := c.reader.with(t).ask(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), price) {
		t.Errorf("%s %s, want %s", a.Outcome, a.said(), price)
	}
}

// recover lets another process end the work of the one that was killed.
func (c *crashes) recover(t *testing.T, n, target int, rows map[string]string) {
	t.Helper()
	const running = `select coalesce(string_agg(r.id::text, ' '), '') from app.reindex_runs r
		join app.tenants t on t.id = r.tenant_id where t.slug = $1 and r.status = 'running'`
	dead := c.server.text(t, running, c.slug)
	minuteLater := func() { // as if a minute had passed
		if err := c.server.exec(t.Context(), `update app.reindex_runs set lease_ends_at = now() - interval '1 second'
			where status = 'running'`); err != nil {
			t.Fatal(err)
		}
	}
	if n%2 == 0 {
		minuteLater()
	}
	isNew := 0
	for id := range c.identities(t) {
		if _, ok := rows[id]; !ok {
			isNew++
		}
	}
	c.answering()
	before := embedded(c.provider)
	open := openTap(t, -1)
	i := c.beginIn(t, c.dir, c.environment(open)).ended(t, 0)
	paid := embedded(c.provider) - before
	if i.Status != "ready" || paid != c.texts[target]-2*isNew || i.Indexed+i.Unchanged != i.Sources {
		t.Errorf("the next run paid for %d texts; a clean one does for %d, of which %d were there: %+v", paid, c.texts[target], 2*isNew, i)
	}
	c.paid, c.saved = c.paid+paid, c.saved+2*isNew
	after := c.identities(t)
	for id, row := range rows {
		if now, ok := after[id]; ok {
			c.compared++
			if now != row {
				t.Errorf("%s was written: %s, was %s", id, now, row)
			}
		}
	}
	now := c.held(t)
	for key, held := range c.clean[target] {
		if now[key] != held {
			t.Errorf("%s is %s, a clean run leaves %s", key, now[key], held)
		}
	}
	if len(now) != len(c.clean[target]) {
		t.Errorf("%d sources, a clean run leaves %d", len(now), len(c.clean[target]))
	}
	if dead != "" {
		if n%2 != 0 { // nobody is judged before their time
			if still := c.server.text(t, running, c.slug); still != dead {
				t.Errorf("running is %q, want %q", still, dead)
			}
			minuteLater()
		}
		if shown := c.server.admin(t, c.slug).get("/v1/reindex/" + dead); !strings.Contains(shown.body, `"status":"failed","reason":"abandoned"`) {
			t.Errorf("the run of the dead process: %s", shown.body)
		}
	}
	if faults := c.faults(t); faults != "" {
		t.Errorf("faults: %s", faults)
	}
	c.version = target
}
