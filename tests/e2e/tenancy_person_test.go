package e2e

import (
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// claimsOf reads what a token says, whoever signed it.
func claimsOf(t *testing.T, token string) (claims struct {
	Sub, Role   string
	AppMetadata struct {
		TenantID      string `json:"tenant_id"`
		Tenant        string
		TenantRole    string `json:"tenant_role"`
		PlatformAdmin bool   `json:"platform_admin"`
	} `json:"app_metadata"`
	UserMetadata map[string]any `json:"user_metadata"`
},
) {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(payload), &claims)
	return claims
}

// stoves is a brand with one document, whose price and marker nobody else has.
func stoves(t *testing.T, slug, marker, price string) ownBrand {
	t.Helper()
	canary.add(slug, marker, strings.TrimPrefix(price, "€"))
	b := doorstep.addBrand(t, slug, "{turns_per_minute: 1000, turns_per_day: 100000}", map[string]string{
		"prices/stoves.md": markedList(marker, price),
	})
	b.index(t)
	return b
}

// markedList is a price list of the Ember Nook. The marker stands in its title, so that an answer that
// says nothing else of it names it as its source.
func markedList(marker, price string) string {
	return strings.Replace(priceList(daysAgo(2), "Ember Nook: "+price), "title: Stoves", "title: Stoves of "+marker, 1)
}

// What people write about themselves through Supabase Auth is in their token and counts for nothing:
// neither in the next token nor in a request. Nobody signs up here. T1 O65
func TestTenancy_WhatUsersSayOfThemselvesNeverCounts(t *testing.T) {
	t.Parallel()
	own := stoves(t, "metadata-own", "Quillhearth", "€1,417.00")
	other := stoves(t, "metadata-other", "Vespergrate", "€2,628.00")
	rep, theirs := doorstep.rep(t, own.slug), theirID(t, other.slug)
	forged := `{"tenant_id":"` + theirs + `","tenant":"` + other.slug + `","tenant_role":"admin","platform_admin":true,"role":"service_role",
		"app_metadata":{"tenant_id":"` + theirs + `","platform_admin":true},"sub":"` + theirs + `"}`
	r := rep.send(http.MethodPut, "/auth/v1/user",
		`{"data":`+forged+`,"app_metadata":`+forged+`,"raw_app_meta_data":`+forged+`,"role":"service_role","id":"`+theirs+`","aud":"service_role"}`, asJSON)
	r.want(t, http.StatusOK, "")
	for _, path := range []string{"/auth/v1/signup", "/auth/v1/admin/users", "/auth/v1/invite", "/auth/v1/otp", "/auth/v1/admin/generate_link"} {
		body := `{"email":"new@metadata-other.example","password":"a-long-pass-phrase","data":` + forged + `,"app_metadata":` + forged + `}`
		rep.post(path, body).want(t, http.StatusNotFound, "")
	}
	var session struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
	}
	credentials := encode(t, map[string]string{"email": rep.email, "password": doorstep.password(rep.email)})
	decode(t, rep.post("/auth/v1/token?grant_type=password", credentials).body, &session)
	signedIn := session.AccessToken
	refresh := rep.post("/auth/v1/token?grant_type=refresh_token", encode(t, map[string]any{
		"refresh_token": session.RefreshToken, "data": map[string]string{"tenant_id": theirs}, "app_metadata": map[string]string{"tenant_id": theirs},
	}))
	decode(t, refresh.body, &session)
	for _, token := range []string{rep.token, signedIn, session.AccessToken} {
		claims := claimsOf(t, token)
		if m := claims.AppMetadata; m.Tenant != own.slug || m.TenantRole != "rep" || m.PlatformAdmin || claims.Role != "authenticated" {
			t.Errorf("the token says %+v", claims)
		}
		if token != rep.token && claims.UserMetadata["tenant_id"] != theirs {
			t.Errorf("the forged metadata is not in the token, so nothing is tried: %v", claims.UserMetadata)
		}
		doorstep.told.add(token)
		p := rep
		p.token = token
		if a := p.ask(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), "€1,417.00") || !strings.Contains(a.titles(), "Quillhearth") {
			t.Errorf("%s", a.body)
		}
		p.get("/v1/review/stale").want(t, http.StatusForbidden, "not_an_admin")
		p.post("/v1/reindex", `{"all":true,"tenant":"`+other.slug+`"}`).want(t, http.StatusForbidden, "not_a_member")
	}
	got := doorstep.text(t, `select coalesce(raw_app_meta_data ->> 'tenant_id', '') || role || (select count(*) from app.members m where m.user_id = u.id)
		from auth.users u where email = $1`, rep.email)
	if got != "authenticated1" {
		t.Errorf("auth.users says %q", got)
	}
}

// A person of two brands is answered by the one that the token names, the older membership: always the
// same one, in one role, and never by a mixture. What ends there does not begin in the other. T3
func TestTenancy_APersonOfTwoBrandsIsOfOneAtATime(t *testing.T) {
	t.Parallel()
	first := stoves(t, "double-first", "Marlowhob", "€3,151.00")
	second := stoves(t, "double-second", "Tansygrill", "€4,262.00")
	const email = "both@double.example"
	doorstep.setPassword(email, "a-long-pass-phrase")
	doorstep.mustRun(t, "user", "add", email, "--password=a-long-pass-phrase", "--tenant="+first.slug)
	doorstep.mustRun(t, "user", "add", email, "--tenant="+second.slug, "--role=admin")
	answered := func(p person, b ownBrand, price string) answer {
		t.Helper()
		a := p.ask(nookQuestion)
		if a.Outcome != "answered" || !strings.Contains(a.said(), price) || len(a.Sources) != 1 {
			t.Errorf("%s", a.body)
		}
		if brand := doorstep.text(t, brandOfTurn, a.turnID); brand != b.slug {
			t.Errorf("the turn is stored under %s", brand)
		}
		return a
	}
	in := func(b ownBrand) person { // the brand is also whose canaries may come
		t.Helper()
		p := doorstep.signIn(t, b.slug, email)
		if m := claimsOf(t, p.token).AppMetadata; m.Tenant != b.slug {
			t.Fatalf("the token names %s, want %s", m.Tenant, b.slug)
		}
		return p
	}
	both := in(first)
	var people sync.WaitGroup
	for range 8 {
		people.Go(func() {
			for range 3 {
				answered(both, first, "€3,151.00")
			}
		})
	}
	people.Wait()
	both.get("/v1/review/stale").want(t, http.StatusForbidden, "not_an_admin") // the role is the one held there
	both.get("/v1/reindex/"+unknownID+"?tenant="+second.slug).want(t, http.StatusNotFound, "not_found")
	both.get("/v1/reindex/"+unknownID+"?tenant="+first.slug).want(t, http.StatusForbidden, "not_an_admin")

	talk := answered(both, first, "€3,151.00")
	status := func(b ownBrand, status string) {
		t.Helper()
		if err := doorstep.exec(t.Context(), `update app.tenants set status = $2 where slug = $1`, b.slug, status); err != nil {
			t.Fatal(err)
		}
	}
	status(first, "suspended")
	both.post("/v1/ask", validAsk).want(t, http.StatusForbidden, "tenant_suspended") // not the other brand instead
	both.get("/v1/turns/"+talk.turnID).want(t, http.StatusForbidden, "tenant_suspended")
	other := in(second)
	answered(other, second, "€4,262.00")
	other.get("/v1/turns/"+talk.turnID).want(t, http.StatusNotFound, "not_found")
	other.get("/v1/review/stale").want(t, http.StatusOK, "")
	status(first, "active")
	answered(other, second, "€4,262.00") // the token that was given out keeps its brand
	in(first)

	if err := doorstep.exec(t.Context(), `delete from app.members where tenant_id = $1 and user_id = (select id from auth.users where email = $2)`,
		theirID(t, first.slug), email); err != nil {
		t.Fatal(err)
	}
	both.post("/v1/ask", validAsk).want(t, http.StatusForbidden, "not_a_member") // nor now
	other = in(second)
	a := other.askWith(map[string]string{"question": nookQuestion, "conversation_id": talk.turnID})
	if a.Outcome != "answered" || !strings.Contains(a.said(), "€4,262.00") {
		t.Errorf("in the conversation of the other brand: %s", a.body)
	}
	if a := other.askWith(map[string]string{"question": nookQuestion, "turn_id": talk.turnID}); !strings.Contains(a.said(), "€4,262.00") {
		t.Errorf("under the id of a turn of the other brand: %s", a.body) // it is free in this one
	}
}

// unknownID is an id that nothing has.
const unknownID = "5f0c2f0e-1d2b-4c3a-9e88-0f8a1b2c3d4e"

// A membership is read for each request, not from the token: who was removed is out with the next one,
// and who came back is in. T5
func TestTenancy_AMembershipIsReadEachTime(t *testing.T) {
	t.Parallel()
	b := stoves(t, "removed-stoves", "Juniperflue", "€5,373.00")
	rep, admin := doorstep.rep(t, b.slug), doorstep.admin(t, b.slug)
	ran := admin.reindex(`{"all":true}`).RunID
	turn := rep.ask(nookQuestion).turnID
	if err := doorstep.exec(t.Context(), `delete from app.members where tenant_id = $1`, theirID(t, b.slug)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []reply{
		rep.post("/v1/ask", encode(t, map[string]string{"question": nookQuestion})), rep.get("/v1/turns/" + turn), admin.post("/v1/reindex", `{"all":true}`),
		admin.get("/v1/reindex/" + ran), admin.get("/v1/review/stale"), admin.post("/v1/review/chunks/"+unknownID+"/verify", ""),
		doorstep.rep(t, b.slug).post("/v1/ask", validAsk), // signed in anew, with a token of no brand
	} {
		r.want(t, http.StatusForbidden, "not_a_member")
	}
	doorstep.mustRun(t, "user", "add", rep.email, "--tenant="+b.slug)
	if a := rep.ask(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), "€5,373.00") {
		t.Errorf("who came back is told %s", a.body)
	}
}
