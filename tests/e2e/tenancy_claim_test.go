package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// theirID is the id of a brand, as an attacker may have learned it.
func theirID(t *testing.T, slug string) string {
	t.Helper()
	return doorstep.text(t, `select id::text from app.tenants where slug = $1`, slug)
}

// brandOfTurn is the slug of the brand that a turn is stored under.
const brandOfTurn = `select t.slug from app.turns r join app.tenants t on t.id = r.tenant_id where r.id = $1`

// Another brand, named anywhere in a request but in the token, has no effect: the answer, the prices and
// the stored turn are the asker's own. T1 O65
func TestTenancy_NamingAnotherBrandHasNoEffect(t *testing.T) {
	t.Parallel()
	const question = "What is the monthly fee for Threadlight 300?"
	rep, admin := doorstep.rep(t, glowmere), doorstep.admin(t, glowmere)
	want, stale := rep.ask(question), admin.stale()
	id := theirID(t, skeinwick)
	for _, name := range []string{
		"X-Tenant-Id", "X-Tenant", "Tenant", "Tenant-Id", "Porchlight-Tenant", "Porchlight.tenant", "X-Porchlight-Tenant",
		"X-Brand", "X-Organization-Id", "X-Forwarded-Host", "X-Original-Url", "X-User-Id", "Role", "X-Role",
		"Request.jwt.claims", "Accept-Profile", "Content-Profile", "Prefer", "Cookie", "Forwarded", "Apikey",
	} {
		for _, value := range []string{id, skeinwick} {
			switch name {
			case "Prefer", "Cookie":
				value = "tenant=" + value
			case "Forwarded":
				value = "host=" + value
			case "Request.jwt.claims":
				value = `{"app_metadata":{"tenant_id":"` + value + `"}}`
			}
			unmoved(t, rep, admin, want, stale, "", name+": "+value)
		}
	}
	for _, name := range []string{
		"tenant", "tenant_id", "Tenant", "TENANT_ID", "tenantId", "slug", "brand", "porchlight.tenant", "app_metadata%5Btenant_id%5D",
		"request.jwt.claims", "role",
	} {
		unmoved(t, rep, admin, want, stale, "?"+name+"="+id, "X-Nothing: x")
		unmoved(t, rep, admin, want, stale, "?"+name+"="+skeinwick, "X-Nothing: x")
	}
}

// unmoved asks and lists with something added to the request, and wants what came without it.
func unmoved(t *testing.T, rep, admin person, want answer, stale []staleChunk, query, header string) {
	t.Helper()
	body := encode(t, map[string]string{"question": "What is the monthly fee for Threadlight 300?"})
	r := rep.post("/v1/ask"+query, body, header)
	r.want(t, http.StatusOK, "")
	got := readAnswer(t, r)
	if got.Outcome != want.Outcome || got.said() != want.said() || len(got.Sources) != len(want.Sources) {
		t.Errorf("%s %s: %s %s", query, header, got.Outcome, got.said())
	}
	if brand := doorstep.text(t, brandOfTurn, got.turnID); brand != rep.brand {
		t.Errorf("%s %s: the turn is stored under %s", query, header, brand)
	}
	var list staleList
	r = admin.get("/v1/review/stale"+query, header)
	r.want(t, http.StatusOK, "")
	decode(t, r.body, &list)
	if !slices.EqualFunc(list.Chunks, stale, func(a, b staleChunk) bool { return a.ChunkID == b.ChunkID }) {
		t.Errorf("%s %s: the list is another", query, header)
	}
}

// In the body and in the path there is no place for a brand, however it is spelled. T1 O65
func TestTenancy_ABodyOrPathWithABrandIsRefused(t *testing.T) {
	t.Parallel()
	rep, id := doorstep.rep(t, glowmere), theirID(t, skeinwick)
	turns := `select count(*)::text from app.turns r join app.tenants t on t.id = r.tenant_id where t.slug = $1 and r.user_id =
		(select id from auth.users where email = $2)`
	before := doorstep.text(t, turns, skeinwick, rep.email)
	for _, field := range []string{
		`"tenant":"ID"`, `"tenant_id":"ID"`, `"Tenant":"ID"`, `"TENANT_ID":"ID"`, `"tenantId":"ID"`, `"tenant\u005fid":"ID"`,
		`"brand":"ID"`, `"app_metadata":{"tenant_id":"ID"}`, `"claims":{"app_metadata":{"tenant_id":"ID"}}`, `"role":"service_role"`,
		`"user_id":"ID"`, `"sub":"ID"`, `"p_tenant_id":"ID"`, `"":"ID"`, `"__proto__":{"tenant_id":"ID"}`, `"Question":"ID"`,
		`"turn_id":{"tenant_id":"ID"}`, `"conversation_id":["ID"]`, `"turn_id":"ID' or true--"`,
	} {
		body := `{"question":"Is it open tomorrow?",` + strings.ReplaceAll(field, "ID", id) + `}`
		rep.post("/v1/ask", body).want(t, http.StatusBadRequest, "bad_request")
	}
	for _, path := range []string{
		"/v1/ask/" + id, "/v1/" + skeinwick + "/ask", "/v1/tenants/" + id + "/ask", "/" + skeinwick + "/v1/ask", "//" + id + "/v1/ask",
		"/v1/../" + id + "/v1/ask", "/v1/ask/", "/v1/ask%2F" + id, "/v1/ask;tenant=" + id, "/V1/ASK",
	} {
		rep.post(path, `{"question":"Is it open tomorrow?"}`).want(t, http.StatusNotFound, "")
	}
	if after := doorstep.text(t, turns, skeinwick, rep.email); after != before || before != "0" {
		t.Errorf("%s turns of a rep of %s under %s, were %s", after, glowmere, skeinwick, before)
	}
}

// A brand in another spelling is no brand: not the one it resembles, and not one's own. T2
func TestTenancy_ASlugHasOneSpelling(t *testing.T) {
	t.Parallel()
	admin := doorstep.admin(t, glowmere)
	operator := doorstep.operator(t)
	run := uuid.NewString()
	asked := func(p person, query string) reply { return p.get("/v1/reindex/" + run + "?tenant=" + query) }
	asked(admin, glowmere).want(t, http.StatusNotFound, "not_found") // so the name is read at all
	asked(operator, skeinwick).want(t, http.StatusNotFound, "not_found")
	for _, slug := range []string{glowmere, skeinwick} {
		for _, spelled := range []string{
			strings.ToUpper(slug), strings.ToUpper(slug[:1]) + slug[1:], slug + ".", slug + "%20", "%20" + slug, slug + "%2F", "." + slug,
			slug + "%2E", strings.Replace(slug, "-", "%E2%80%90", 1), strings.Replace(slug, "-", "_", 1), strings.Replace(slug, "-", "--", 1),
			strings.Replace(slug, "e", "%D0%B5", 1), strings.Replace(slug, "e", "e%CC%81", 1),
			"%EF%BD%85" + slug, slug + "%E2%80%8B", "%EF%BB%BF" + slug, slug + "%C2%AD", slug + "%27--", slug + "%25", slug[:8] + "%25",
			slug + "," + glowmere, "%7B" + slug + "%7D", "%22" + slug + "%22", slug + "?", "../" + slug, slug + "%5C",
		} {
			for _, p := range []person{admin, operator} {
				asked(p, spelled).want(t, http.StatusForbidden, "not_a_member")
			}
		}
		for _, control := range []string{slug + "%00", "%00" + slug, slug + "%0A", slug + "%0D%0A", slug + "%09", slug + "%7F", slug + "%C2%85"} {
			for _, p := range []person{admin, operator} {
				asked(p, control).want(t, http.StatusBadRequest, "bad_request")
			}
		}
	}
	for _, spelled := range []string{strings.ToUpper(glowmere), glowmere + ".", glowmere + " ", "\u200b" + glowmere, strings.Replace(glowmere, "e", "е", 1)} {
		body := encode(t, map[string]any{"all": true, "tenant": spelled})
		admin.post("/v1/reindex", body).want(t, http.StatusForbidden, "not_a_member")
		operator.post("/v1/reindex", body).want(t, http.StatusForbidden, "not_a_member")
	}
}

// Somebody of no brand gets nothing by any route, and neither does an admin of another one. T4 T16
func TestTenancy_AStrangerMovesNothing(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "tenancy-quiet", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
	b.index(t)
	doorstep.mustRun(t, "user", "add", "nobody@tenancy-nobody.example", "--password=a-long-pass-phrase")
	doorstep.setPassword("nobody@tenancy-nobody.example", "a-long-pass-phrase")
	nobody := doorstep.signIn(t, "", "nobody@tenancy-nobody.example")
	admin := doorstep.admin(t, glowmere)
	ran := doorstep.text(t, `select r.id::text from app.reindex_runs r join app.tenants t on t.id = r.tenant_id where t.slug = $1`, b.slug)
	chunk := doorstep.text(t, `select c.id::text from app.chunks c join app.tenants t on t.id = c.tenant_id where t.slug = $1`, b.slug)
	runs := `select count(*)::text from app.reindex_runs r join app.tenants t on t.id = r.tenant_id where t.slug = $1`
	before, begun := b.rows(t), doorstep.text(t, runs, b.slug)

	for _, tenant := range []string{b.slug, theirID(t, b.slug)} {
		for _, p := range []person{nobody, admin, doorstep.rep(t, skeinwick)} {
			for _, body := range []map[string]any{
				{"all": true, "tenant": tenant}, {"sources": []string{"faq/hours.md"}, "tenant": tenant},
			} {
				p.post("/v1/reindex", encode(t, body)).want(t, http.StatusForbidden, "not_a_member")
			}
			p.get("/v1/reindex/"+ran+"?tenant="+tenant).want(t, http.StatusForbidden, "not_a_member")
		}
	}
	admin.get("/v1/reindex/"+ran).want(t, http.StatusNotFound, "not_found")
	admin.post("/v1/review/chunks/"+chunk+"/verify", "").want(t, http.StatusNotFound, "not_found")
	for _, r := range []reply{
		nobody.post("/v1/ask", validAsk), nobody.post("/v1/reindex", `{"all":true}`), nobody.get("/v1/review/stale"),
		nobody.get("/v1/reindex/" + ran), nobody.post("/v1/review/chunks/"+chunk+"/verify", ""),
	} {
		r.want(t, http.StatusForbidden, "not_a_member")
	}
	if after := b.rows(t); after != before {
		t.Errorf("rows were written:\n%s\nwere\n%s", after, before)
	}
	if after := doorstep.text(t, runs, b.slug); after != begun {
		t.Errorf("%s runs, were %s", after, begun)
	}
}
