package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// refused is a request that must not be served.
type refused struct {
	name, method, path, body string
	headers                  []string
	status                   int
	code                     string
}

const (
	validAsk = `{"question":"Is it open tomorrow?"}`
	asJSON   = "Content-Type: application/json"
)

func TestBadInput_IsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	question := func(text string) string { return encode(t, map[string]string{"question": text}) }
	padded := func(size int) string {
		const open, end = `{"question":"`, `"}`
		return open + strings.Repeat("a", size-len(open)-len(end)) + end
	}
	for _, c := range []refused{
		{name: "empty", body: question(""), status: 400, code: "question_empty"},
		{name: "no question at all", body: `{}`, status: 400, code: "question_empty"},
		{name: "null", body: `{"question":null}`, status: 400, code: "question_empty"},
		{name: "white space", body: question(" \t\r\n\u00a0\u2003\u3000 "), status: 400, code: "question_empty"},
		{name: "control characters", body: `{"question":"\u0000\u0001\u001b\u007f\u0085"}`, status: 400, code: "question_empty"},
		{name: "zero width", body: question("\u200b\u200c\u200d\u2060\ufeff"), status: 400, code: "question_empty"},
		{name: "invisible tags", body: question("\U000e0041\U000e0042\ufe0f"), status: 400, code: "question_empty"},
		{name: "2,001 characters", body: question(strings.Repeat("ä", 2001)), status: 400, code: "question_too_long"},
		{name: "not UTF-8", body: "{\"question\":\"caf\xe9\"}", status: 400, code: "question_not_utf8"},
		{name: "half a surrogate pair", body: `{"question":"\ud83d"}`, status: 400, code: "question_not_utf8"},
		{name: "32 KB is read", body: padded(32 << 10), status: 400, code: "question_too_long"},
		{name: "one byte more is not", body: padded(32<<10 + 1), status: 413, code: "body_too_large"},
		{name: "a megabyte neither", body: padded(1 << 20), status: 413, code: "body_too_large"},
		{name: "as text", body: validAsk, headers: []string{"Content-Type: text/plain"}, status: 415, code: "wrong_content_type"},
		{name: "as a form", body: "question=x", headers: []string{"Content-Type: application/x-www-form-urlencoded"}, status: 415, code: "wrong_content_type"},
		{name: "as nothing", body: validAsk, headers: []string{"Content-Type:"}, status: 415, code: "wrong_content_type"},
		{name: "in another encoding", body: validAsk, headers: []string{"Content-Type: application/json; charset=utf-16"}, status: 415, code: "wrong_content_type"},
		{name: "compressed", body: validAsk, headers: []string{"Content-Encoding: gzip"}, status: 415, code: "wrong_content_type"},
		{name: "an unknown field", body: `{"question":"x","role":"admin"}`, status: 400, code: "bad_request"},
		{name: "a field twice", body: `{"question":"x","question":"y"}`, status: 400, code: "bad_request"},
		{name: "a field in another case", body: `{"Question":"x"}`, status: 400, code: "bad_request"},
		{name: "two objects", body: validAsk + validAsk, status: 400, code: "bad_request"},
		{name: "a list", body: `[]`, status: 400, code: "bad_request"},
		{name: "half an object", body: `{"question":"x`, status: 400, code: "bad_request"},
		{name: "a number", body: `{"question":7}`, status: 400, code: "bad_request"},
		{name: "no body", body: "", status: 400, code: "bad_request"},
		{name: "a turn id that is none", body: `{"question":"x","turn_id":"7"}`, status: 400, code: "bad_request"},
		{name: "a brand in the body", body: `{"question":"x","tenant":"skeinwick-fibre"}`, status: 400, code: "bad_request"},
		{name: "a brand's id in the body", body: `{"question":"x","tenant_id":"` + uuid.NewString() + `"}`, status: 400, code: "bad_request"},
		{name: "a time in the body", body: `{"question":"x","now":"2020-01-01"}`, status: 400, code: "bad_request"},
		{name: "GET on ask", method: "GET", status: 405, code: "method_not_allowed"},
		{name: "PUT on ask", method: "PUT", body: validAsk, status: 405, code: "method_not_allowed"},
		{name: "GET on reindex", method: "GET", path: "/v1/reindex", status: 405, code: "method_not_allowed"},
		{name: "POST on the stale list", path: "/v1/review/stale", body: "{}", status: 405, code: "method_not_allowed"},
		{name: "a path that is none", path: "/v1/answers", body: validAsk, status: 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, path := c.method, c.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/v1/ask"
			}
			r := rep.with(t).send(method, path, c.body, append([]string{asJSON}, c.headers...)...)
			r.want(t, c.status, c.code)
			if c.status == http.StatusMethodNotAllowed && r.header.Get("Allow") == "" {
				t.Error("no Allow")
			}
			if r.header.Get("X-Request-Id") == "" && c.code != "" {
				t.Error("no request id")
			}
		})
	}
}

func TestBadInput_2000CharactersAreNotTooMany(t *testing.T) {
	t.Parallel()
	a := doorstep.rep(t, glowmere).ask(strings.Repeat("zorbulon ", 222) + "zz")
	if a.Outcome != "no_match" {
		t.Errorf("outcome %s", a.Outcome)
	}
}

// A path has one spelling: another is unknown, and nobody is sent on.
func TestBadInput_APathIsNotMended(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	for _, path := range []string{"//v1/ask", "/v1/../v1/ask", "/v1/ask/", "/./v1/ask", "/x/../auth/v1/user"} {
		rep.post(path, `{"question":"x"}`).want(t, http.StatusNotFound, "not_found")
	}
}

// What is refused after the person is known is a row all the same, with the reason.
func TestBadInput_ARefusedQuestionIsATurn(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	for _, c := range []struct{ question, refusal string }{
		{" \u200b ", "question_empty"}, {strings.Repeat("a", 2001), "question_too_long"},
	} {
		id := uuid.NewString()
		body := encode(t, map[string]string{"question": c.question, "turn_id": id})
		rep.post("/v1/ask", body).want(t, http.StatusBadRequest, c.refusal)
		got := doorstep.text(t, `select status || ' ' || refusal || ' ' || length(question) || ' ' || (finished_at is not null)
			from app.turns where id = $1`, id)
		if want := "refused " + c.refusal + " " + strconv.Itoa(min(len(strings.Trim(c.question, " \u200b")), 2000)) + " true"; got != want {
			t.Errorf("the row says %q, want %q", got, want)
		}
	}
}

func TestBadInput_ATurnIDIsOfOneQuestion(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	id := uuid.NewString()
	body := map[string]string{"question": "who won the football world cup in 1998", "turn_id": id}
	if a := rep.askWith(body); a.turnID != id {
		t.Errorf("turn %s, want %s", a.turnID, id)
	}
	another := map[string]string{"question": "who won it in 2002", "turn_id": id}
	rep.post("/v1/ask", encode(t, another)).want(t, http.StatusConflict, "turn_id_used")
	admin := doorstep.admin(t, glowmere)
	admin.post("/v1/ask", encode(t, body)).want(t, http.StatusConflict, "turn_id_used")
	// the id of somebody else's turn tells nothing and changes nothing
	other := doorstep.rep(t, skeinwick)
	other.askWith(map[string]string{"question": "what is the capital of australia", "turn_id": id})
	if n := doorstep.text(t, `select count(*)::text from app.turns where id = $1`, id); n != "2" {
		t.Errorf("%s turns of that id, want one for each brand", n)
	}
}

// An id that is no uuid, one that does not exist and one of another brand are answered alike, byte for byte.
func TestUnknown_IsTheSameAsNotYours(t *testing.T) {
	t.Parallel()
	admin, theirs := doorstep.admin(t, glowmere), doorstep.admin(t, skeinwick)
	var stale staleList
	decode(t, theirs.get("/v1/review/stale?limit=1").body, &stale)
	theirRun := doorstep.text(t, `select r.id::text from app.reindex_runs r join app.tenants t on t.id = r.tenant_id where t.slug = $1 limit 1`, skeinwick)
	for _, c := range []struct {
		name, method string
		path         func(id string) string
		theirs       string
	}{
		{"a run", http.MethodGet, func(id string) string { return "/v1/reindex/" + id }, theirRun},
		{"a chunk", http.MethodPost, func(id string) string { return "/v1/review/chunks/" + id + "/verify" }, stale.Chunks[0].ChunkID},
	} {
		t.Run(c.name, func(t *testing.T) {
			admin := admin.with(t)
			want := admin.send(c.method, c.path(uuid.NewString()), "")
			want.want(t, http.StatusNotFound, "not_found")
			for _, id := range []string{c.theirs, strings.ToUpper(c.theirs), "7", "lantern", "00000000-0000-0000-0000-000000000000", "%00", "'%20or%20true--"} {
				got := admin.send(c.method, c.path(id), "")
				for _, name := range []string{"X-Request-Id", "Date"} {
					got.header.Del(name)
					want.header.Del(name)
				}
				if got.status != want.status || got.body != want.body || encode(t, got.header) != encode(t, want.header) {
					t.Errorf("%s: %d %s %v, want %d %s %v", id, got.status, got.body, got.header, want.status, want.body, want.header)
				}
			}
		})
	}
}
