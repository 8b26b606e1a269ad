package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A zone far from UTC and a locale without letters change no answer, no date and no character. The server
// starts a Postgres of its own, so that the database is made under them too.
func TestSettings_OfTheMachineChangeNoAnswer(t *testing.T) { // E14
	t.Parallel()
	b := newBrand(t, t.TempDir(), "zone-stoves", "{}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Öfchen Größe „Ñandú“ 日本: 1.240,00 €"),
	})
	const question = "What is the price of the Öfchen Größe „Ñandú“ 日本?"
	said := func(t *testing.T, name string, environment ...string) answer {
		t.Helper()
		s, err := start(t.Context(), options{name: name, brands: filepath.Dir(b.dir), embedded: true, environment: environment})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}()
		return s.rep(t, b.slug).ask(question)
	}
	want := said(t, "zone-utc", "TZ=UTC", "LC_ALL=C.UTF-8")
	if want.Outcome != "answered" || want.AsOf == nil || *want.AsOf != daysAgo(2) || !strings.Contains(want.said(), "日本") {
		t.Fatalf("%s", want.body)
	}
	for i, environment := range [][]string{
		{"TZ=Pacific/Kiritimati", "LC_ALL=C", "LANG=C"}, // 14 hours ahead
		{"TZ=Pacific/Pago_Pago", "LANG=C"},              // 11 hours behind
	} {
		got := said(t, fmt.Sprint("zone-", i), environment...)
		if got.said() != want.said() || got.AsOf == nil || *got.AsOf != *want.AsOf || len(got.Sources) != 1 ||
			*got.Sources[0].VerifiedAt != daysAgo(2) {
			t.Errorf("%v: %s", environment, got.body)
		}
	}
}

// Without a key each answer says what made it, to programs and to people, and an index of another model is
// not searched with the local one's vector.
func TestSettings_WithoutAKeyTheLocalModelSaysSo(t *testing.T) { // E10
	t.Parallel()
	b := doorstep.addBrand(t, "keyless-stoves", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
	b.index(t)
	const question = "When does the shop open?"
	rep := doorstep.rep(t, b.slug)
	a := rep.ask(question)
	if a.Index != "local" || a.Model != "extractive" || a.Outcome != "answered" {
		t.Errorf("%s", a.body)
	}
	environment := append(doorstep.environment, "PORCHLIGHT_URL="+doorstep.url, "PORCHLIGHT_EMAIL="+rep.email, "PORCHLIGHT_PASSWORD="+doorstep.password(rep.email))
	if r := runIn(t, environment, "ask", question); r.code != 0 || !strings.Contains(r.stdout, "extractive · local index") {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	const move = `insert into app.chunk_embeddings_primary (tenant_id, chunk_id, embedding)
		select e.tenant_id, e.chunk_id, array_fill(0.036::real, array[768])::extensions.vector
		from app.chunk_embeddings_local e join app.tenants t on t.id = e.tenant_id where t.slug = $1`
	const remove = `delete from app.chunk_embeddings_local e using app.tenants t where t.id = e.tenant_id and t.slug = $1`
	for _, statement := range []string{move, remove} {
		if err := doorstep.exec(t.Context(), statement, b.slug); err != nil {
			t.Fatal(err)
		}
	}
	r := rep.post("/v1/ask", encode(t, map[string]string{"question": question}))
	r.want(t, http.StatusServiceUnavailable, "no_embedding_model")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// A brand's limits that cannot be meant are refused before anything is stored.
func TestSettings_LimitsThatCannotBeMeantAreRefused(t *testing.T) { // E8
	t.Parallel()
	for i, limits := range []string{
		"{turns_per_day: 0}", "{turns_per_minute: 0}", "{turns_per_minute: -1}", "{turns_per_minute: 1001}",
		"{turns_per_day: 9223372036854775808}", "{turns_per_day: 9223372036854775807}", "{turns_per_day: 1000001}",
		"{turns_per_minute: kestrel9}", "{question_characters: 8001}", "{verified_within_days: 3651}", "{turns: 5}", "[]",
	} {
		t.Run("E8 "+limits, func(t *testing.T) {
			t.Parallel()
			slug := fmt.Sprintf("limit-stoves-%d", i)
			b := newBrand(t, t.TempDir(), slug, limits, nil)
			r := doorstep.run(t, "tenant", "add", b.dir)
			if r.code != 1 || r.stdout != "" || strings.Contains(r.stderr, planted) || !strings.Contains(r.stderr, "brand.yaml: l") {
				t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
			}
			if n := doorstep.text(t, `select count(*)::text from app.tenants where slug = $1`, slug); n != "0" {
				t.Error("the brand is there all the same")
			}
		})
	}
}

// Origins are let in by name. No answer ever allows credentials or any origin.
func TestSettings_OriginsAreLetInByName(t *testing.T) { // E15
	t.Parallel()
	b := newBrand(t, t.TempDir(), "origin-stoves", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"}).
		serve(t, options{name: "origin", environment: []string{"PORCHLIGHT_ALLOWED_ORIGINS=https://app.example,http://localhost:5173"}})
	rep := b.server.rep(t, b.slug)
	for origin, isLetIn := range map[string]bool{
		"https://app.example": true, "http://localhost:5173": true,
		"https://app.example/": false, "https://app.example:443": false, "http://app.example": false, "https://APP.example": false,
		"https://evil.app.example": false, "https://app.example.evil.example": false, "null": false, "*": false, "https://evil.example": false,
	} {
		t.Run("E15 "+origin, func(t *testing.T) {
			p := rep.with(t)
			preflight := p.send(http.MethodOptions, "/v1/ask", "", "Origin: "+origin, "Access-Control-Request-Method: POST", "Authorization:")
			answer := p.post("/v1/ask", validAsk, "Origin: "+origin)
			for _, r := range []reply{preflight, answer} {
				allowed := r.header.Get("Access-Control-Allow-Origin")
				if isLetIn && allowed != origin || !isLetIn && allowed != "" || r.header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%d %v", r.status, r.header)
				}
			}
			if (preflight.status == http.StatusNoContent) != isLetIn {
				t.Errorf("preflight: %d", preflight.status)
			}
		})
	}
}

// Secrets of the environment stand in no help, no error, no health and no log.
func TestSettings_NoSecretIsPrinted(t *testing.T) { // E16
	t.Parallel()
	secrets := []string{
		"PORCHLIGHT_PASSWORD=" + planted, "PORCHLIGHT_EMAIL=rep@x.example", "GEMINI_API_KEY=" + planted,
		"PORCHLIGHT_JWT_HS256_SECRET=" + planted, "PORCHLIGHT_ADMIN_DATABASE_URL=postgres://postgres:" + planted + "@127.0.0.1:1/db",
	}
	check := func(t *testing.T, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if strings.Contains(text, planted) || strings.Contains(text, "goroutine ") {
				t.Errorf("a secret is printed: %s", text)
			}
		}
	}
	for _, verb := range []string{"", "ask", "serve", "demo", "tenant add", "tenant list", "user add", "ingest", "reindex start", "reindex show", "migrate"} {
		t.Run("E16 help of "+verb, func(t *testing.T) {
			r := runIn(t, childEnvironment(secrets...), append(strings.Fields(verb), "--help")...)
			check(t, r.stdout, r.stderr)
		})
	}
	library := filepath.Join(corpora, glowmere)
	for name, arguments := range map[string][]string{
		"wrong flag":    {"ask", "--password=" + planted, "--verbose", "x"},
		"no server":     {"ask", "--url=http://127.0.0.1:1", "x"},
		"no database":   {"tenant", "list"},
		"no migration":  {"migrate"},
		"no ingest":     {"ingest", "--tenant=" + glowmere, "--library=" + library, "--all"},
		"weak settings": {"serve", "--address=127.0.0.1:0", "--data=" + filepath.Join(root, "data-secret")},
	} {
		t.Run("E16 "+name, func(t *testing.T) {
			environment := childEnvironment(append(secrets, "PORCHLIGHT_POSTGRES_URL="+doorstep.database)...)
			r := runIn(t, environment, arguments...)
			if r.code == 0 {
				t.Error("it ended well")
			}
			check(t, r.stdout, r.stderr)
		})
	}
	for name, spoilt := range map[string]string{
		"E1 key in quotes": "GEMINI_API_KEY='" + planted + "'", "E7 key over plain HTTP": "GEMINI_BASE_URL=http://" + planted + ".example",
	} {
		t.Run(name, func(t *testing.T) {
			r := runIn(t, append(doorstep.environment, spoilt), "ingest", "--tenant="+glowmere, "--library="+library, "--source=faq/none.md")
			if variable, _, _ := strings.Cut(spoilt, "="); r.code != 1 || !strings.Contains(r.stderr, variable) {
				t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
			}
			check(t, r.stdout, r.stderr)
		})
	}
	t.Run("E16 health", func(t *testing.T) {
		r := doorstep.visitor(t).get("/healthz")
		r.want(t, http.StatusOK, "")
		var health map[string]json.RawMessage
		decode(t, r.body, &health)
		if len(health) != 1 || string(health["status"]) != `"ok"` {
			t.Errorf("health says %s", r.body)
		}
	})
	t.Run("E16 signing key", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(doorstep.data, "auth-es256.pem"))
		if err != nil {
			t.Fatal(err)
		}
		doorstep.told.add(strings.Split(string(text), "\n")[1]) // the log is searched for it at the end
		keys := doorstep.visitor(t).get("/auth/v1/.well-known/jwks.json")
		keys.want(t, http.StatusOK, "")
		if strings.Contains(keys.body, `"d"`) {
			t.Errorf("the private half is shown: %s", keys.body)
		}
	})
}
