package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two starts on one folder, with a Postgres of its own: people, documents and signing key stay, and
// nothing runs in between.
func TestServe_KeepsItsDatabaseAndLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	b := newBrand(t, t.TempDir(), "kept-stoves", "{}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
	})
	begin := func() *server {
		t.Helper()
		s, err := start(t.Context(), options{name: "kept", brands: filepath.Dir(b.dir), embedded: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	end := func(s *server) {
		t.Helper()
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(s.data, "data", "postmaster.pid")); err == nil {
			t.Error("Postgres was left")
		}
	}
	first := begin()
	rep := first.rep(t, b.slug)
	if a := rep.ask(nookQuestion); a.Outcome != "answered" {
		t.Errorf("first: %s", a.body)
	}
	if r := first.run(t, "tenant", "list"); r.code != 0 || !strings.Contains(r.stdout, b.slug) {
		t.Errorf("tenant list beside a running server: %d %s%s", r.code, r.stdout, r.stderr)
	}
	end(first)
	if r := first.run(t, "tenant", "list"); r.code != 0 || !strings.Contains(r.stdout, b.slug) {
		t.Errorf("tenant list without a server: %d %s%s", r.code, r.stdout, r.stderr)
	}

	second := begin()
	if second.passwords[rep.email] != "" {
		t.Error("a known person got a new password")
	}
	second.setPassword(rep.email, first.password(rep.email))
	if a := second.rep(t, b.slug).ask(nookQuestion); a.Outcome != "answered" {
		t.Errorf("second: %s", a.body)
	}
	end(second)
}

func TestDemo_ShowsItAllAndLeavesNothing(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	temporary := filepath.Join(root, "demo") // apart, to see what is left in it
	if err := os.Mkdir(temporary, 0o711); err != nil {
		t.Fatal(err)
	}
	r := runIn(t, append(childEnvironment("NO_COLOR=1"), "TMPDIR="+temporary), "demo", "--brands="+corpora, "--log="+log)
	if r.code != 0 {
		t.Fatalf("ended with %d: %s%s", r.code, r.stdout, r.stderr)
	}
	shown := strings.Join(strings.Fields(r.stdout), " ") // as it reads, however it is wrapped
	for _, text := range []string{
		"How much is Hearthfix 12 a month?", "€11.40", "as of", "source", "ms",
		"schriftliche Zustimmung des Vermieters", "Los martes y los jueves", "2 March 2026",
		"I have nothing on that in the Glowmere documents", "€32.75", "404", "make serve", "GEMINI_API_KEY",
	} {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not in the demo: %s", text, r.stdout)
		}
	}
	if strings.Contains(shown, "749.00") {
		t.Error("the demo shows a stale price")
	}
	text, err := os.ReadFile(log)
	if err != nil || strings.Count(string(text), "\n") < 10 {
		t.Errorf("log: %v, %s", err, text)
	}
	demo := server{name: "demo", log: &output{}}
	_, _ = demo.log.Write(text)
	if err := demo.checkLog(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
