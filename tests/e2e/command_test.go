package e2e

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommand_EveryVerbHasHelp(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{
		"", "demo", "serve", "ask", "tenant", "tenant add", "tenant list", "user", "user add", "ingest", "reindex",
		"reindex start", "reindex show", "migrate", "version",
	} {
		r := runIn(t, childEnvironment(), append(strings.Fields(verb), "--help")...)
		if r.code != 0 || !strings.Contains(r.stdout, "Usage: porchlight") || r.stderr != "" {
			t.Errorf("%s --help ended with %d: %s%s", verb, r.code, r.stdout, r.stderr)
		}
	}
	if r := runIn(t, childEnvironment(), "version"); r.code != 0 || !strings.HasPrefix(r.stdout, "porchlight ") {
		t.Errorf("version ended with %d: %s", r.code, r.stdout)
	}
}

// What was not understood ends with 2, what went wrong with 1; both say what to do, on standard error.
func TestCommand_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	email := "rep@" + glowmere + ".example"
	for _, c := range []struct {
		name      string
		arguments []string
		code      int
		says      string
	}{
		{"no verb", nil, 2, "--help"},
		{"an unknown verb", []string{"answer"}, 2, "answer"},
		{"an unknown flag", []string{"ask", "--verbose", "x"}, 2, "--verbose"},
		{"a question without a person", []string{"ask", "x"}, 2, "--email"},
		{"an ingest of nothing", []string{"ingest", "--tenant=" + glowmere, "--library=."}, 2, "--all"},
		{"an ingest of both", []string{"ingest", "--tenant=" + glowmere, "--library=.", "--all", "--source=a.md"}, 2, "--all"},
		{"a folder that is not there", []string{"tenant", "add", nowhere}, 2, "nowhere"},
		{"a folder without a brand", []string{"tenant", "add", "testdata"}, 1, "brand.yaml"},
		{"an unknown brand", []string{"ingest", "--tenant=no-such-brand", "--library=" + corpora + "/" + glowmere, "--all"}, 1, `no brand "no-such-brand"`},
		{"the documents of another brand", []string{"ingest", "--tenant=" + skeinwick, "--library=" + corpora + "/" + glowmere, "--source=faq/none.md"}, 1, "another brand"},
		{"an address that is not of this machine", []string{"serve", "--address=192.0.2.1:8787"}, 1, "--address"},
		{"an unknown role", []string{"user", "add", "x@nobody.example", "--role=owner"}, 2, "--role"},
		{"an address that is none", []string{"user", "add", "nobody", "--password=a-long-pass-phrase"}, 1, "e-mail address"},
		{"a server that does not answer", []string{"ask", "--url=http://127.0.0.1:1", "--email=" + email, "--password=x", "x"}, 1, "porchlight serve"},
		{"a wrong password", []string{"ask", "--url=" + doorstep.url, "--email=" + email, "--password=not-the-one", "x"}, 1, "invalid_credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := doorstep.run(t, c.arguments...)
			if r.code != c.code || !strings.Contains(r.stderr, c.says) || r.stdout != "" {
				t.Errorf("ended with %d, want %d and %q: %q %q", r.code, c.code, c.says, r.stdout, r.stderr)
			}
			for _, secret := range []string{"not-the-one", "a-long-pass-phrase", "postgres://", "goroutine "} {
				if strings.Contains(r.stderr, secret) {
					t.Errorf("%q is printed: %s", secret, r.stderr)
				}
			}
		})
	}
}

func TestCommand_AskPrintsForPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	email := "rep@" + glowmere + ".example"
	// the password travels in the environment, where no process list shows it
	environment := append(doorstep.environment, "PORCHLIGHT_URL="+doorstep.url, "PORCHLIGHT_EMAIL="+email, "PORCHLIGHT_PASSWORD="+doorstep.password(email))
	for _, c := range []struct {
		question, outcome string
		code              int
		says              string
	}{
		{"How much is Hearthfix 12 a month?", "answered", 0, "€11.40"},
		{"What does a Plugfinch 11 cost to buy?", "held", 3, "2 March 2026"},
		{fallbackOnly, "no_match", 3, "nothing on that"},
	} {
		doorstep.told.add(c.question)
		r := runIn(t, environment, "ask", "--json", c.question)
		var said struct {
			facts
			TurnID string `json:"turn_id"`
			Answer string
		}
		if r.stdout == "" {
			t.Fatalf("%s ended with %d: %s", c.question, r.code, r.stderr)
		}
		decode(t, r.stdout, &said)
		if r.code != c.code || said.Outcome != c.outcome || said.TurnID == "" || !strings.Contains(said.Answer, c.says) {
			t.Errorf("%s ended with %d: %s%s", c.question, r.code, r.stdout, r.stderr)
		}
		people := runIn(t, environment, "ask", c.question)
		if people.code != c.code || !strings.Contains(people.stdout, c.says) || strings.Contains(people.stdout, "\x1b") {
			t.Errorf("%s for people ended with %d: %q%s", c.question, people.code, people.stdout, people.stderr)
		}
		checkCanaries(t, glowmere, "ask", r.stdout, people.stdout)
	}
}

func TestCommand_ListsBrandsAndKeepsPasswords(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "list-stoves", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
	b.index(t)
	var again struct{ Members []map[string]any }
	decode(t, doorstep.mustRun(t, "tenant", "add", "--json", b.dir).stdout, &again)
	for _, m := range again.Members {
		if m["password"] != nil {
			t.Errorf("a known person got a new password: %v", m["email"])
		}
	}
	doorstep.rep(t, b.slug)
	var brands []struct {
		Slug, Name, Status       string
		Members, Sources, Chunks int
	}
	decode(t, doorstep.mustRun(t, "tenant", "list", "--json").stdout, &brands)
	found := 0
	for _, x := range brands {
		if x.Slug == b.slug && x.Status == "active" && x.Members == 2 && x.Sources == 1 && x.Chunks == 1 || x.Slug == skeinwick && x.Sources == 20 {
			found++
		}
	}
	if found != 2 {
		t.Errorf("listed: %+v", brands)
	}
	if r := doorstep.mustRun(t, "tenant", "list"); !strings.Contains(r.stdout, "list-stoves") {
		t.Errorf("for people: %s", r.stdout)
	}
}

func TestCommand_MigratingAnUpToDateDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	if r := doorstep.mustRun(t, "migrate"); !strings.Contains(r.stdout, "up to date") {
		t.Errorf("migrate: %s", r.stdout)
	}
	address, err := url.Parse(doorstep.database)
	if err != nil {
		t.Fatal(err)
	}
	owner := cluster.URL("postgres", strings.TrimPrefix(address.Path, "/"))
	var done struct{ Applied []string }
	decode(t, doorstep.mustRun(t, "migrate", "--json", "--database-url="+owner).stdout, &done)
	if done.Applied == nil || len(done.Applied) != 0 {
		t.Errorf("applied %v", done.Applied)
	}
	if r := doorstep.mustRun(t, "migrate", "--database-url="+owner); !strings.Contains(r.stdout, "up to date") {
		t.Errorf("migrate: %s", r.stdout)
	}
}

func TestCommand_ReindexStartsAndShowsARun(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "watch-stoves", "{}", map[string]string{
		"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n", "prices/pipes.csv": "Pipe,Price\nShort flue,€44.00,too many\n",
	})
	email := "admin@" + b.slug + ".example"
	environment := append(doorstep.environment, "PORCHLIGHT_URL="+doorstep.url, "PORCHLIGHT_EMAIL="+email, "PORCHLIGHT_PASSWORD="+doorstep.password(email))
	r := runIn(t, environment, "reindex", "start", "--all", "--json")
	var first, last run
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	decode(t, lines[0], &first)
	decode(t, lines[len(lines)-1], &last)
	if r.code != 3 || len(lines) != 4 || first.RunID == "" || last.Status != "partial" || last.Failed != 1 {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	var shown run
	decode(t, runIn(t, environment, "reindex", "show", first.RunID).stdout, &shown)
	if shown.RunID != first.RunID || shown.Status != "partial" {
		t.Errorf("shown: %+v", shown)
	}
	if r := runIn(t, environment, "reindex", "start", "--source=faq/hours.md"); r.code != 0 || !strings.Contains(r.stdout, "faq/hours.md") {
		t.Errorf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := runIn(t, environment, "reindex", "start", "--all", "--tenant="+glowmere); r.code != 1 || !strings.Contains(r.stderr, "not_a_member") {
		t.Errorf("another brand's: %d %s%s", r.code, r.stdout, r.stderr)
	}
}

// Faults of the environment are reported together, by name and never by value, before anything listens.
func TestCommand_ServeRefusesAWrongEnvironment(t *testing.T) {
	t.Parallel()
	environment := append(doorstep.environment,
		"GEMINI_API_KEY='quoted-secret'", "GOOGLE_API_KEY=another", "PORCHLIGHT_LOG_LEVEL=loud", "PORCHLIGHT_MAX_CONNECTIONS=many",
		"PORCHLIGHT_ALLOWED_ORIGINS=*", "PORCHLIGHT_JWT_HS256_SECRET=short-secret")
	r := runIn(t, environment, "serve", "--json", "--address=127.0.0.1:0", "--data="+filepath.Join(root, "data-wrong"))
	if r.code != 1 || r.stdout != "" {
		t.Errorf("ended with %d: %s", r.code, r.stdout)
	}
	for _, name := range []string{"GEMINI_API_KEY", "PORCHLIGHT_LOG_LEVEL", "PORCHLIGHT_MAX_CONNECTIONS", "PORCHLIGHT_ALLOWED_ORIGINS", "PORCHLIGHT_JWT_HS256_SECRET"} {
		if !strings.Contains(r.stderr, name) {
			t.Errorf("%s is not named: %s", name, r.stderr)
		}
	}
	for _, value := range []string{"quoted-secret", "another", "loud", "many", "short-secret"} {
		if strings.Contains(r.stderr, value) {
			t.Errorf("the value %q is printed: %s", value, r.stderr)
		}
	}
	taken := strings.TrimPrefix(doorstep.url, "http://")
	for name, arguments := range map[string][]string{
		"--address":  {"--address=" + taken},
		"brand.yaml": {"--address=127.0.0.1:0", "--brands=" + t.TempDir()},
	} {
		r := runIn(t, doorstep.environment, append([]string{"serve", "--data=" + filepath.Join(root, "data-wrong")}, arguments...)...)
		if r.code != 1 || !strings.Contains(r.stderr, name) {
			t.Errorf("%v ended with %d: %s%s", arguments, r.code, r.stdout, r.stderr)
		}
	}
}
