package fetch

import (
	"net/http"
	"strings"
	"testing"
)

// O10, U9, U12
func TestSuspect_TellsWallsFromDocuments(t *testing.T) {
	const asked = "https://docs.example/prices/homes"
	page := func(change func(*Sight)) Sight {
		s := Sight{Status: http.StatusOK, Asked: asked, Final: asked, Title: "Prices for homes", Characters: 4000, Before: 4100}
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		s    Sight
		want Suspicion
	}{
		{"the document", page(func(*Sight) {}), NoSuspicion},
		{"a first version", page(func(s *Sight) { s.Before = 0; s.Characters = 300 }), NoSuspicion},
		{"a short price list in Chinese", page(func(s *Sight) { s.Before = 0; s.Characters = 70; s.Title = "价格" }), NoSuspicion},
		{"moved to another page", page(func(s *Sight) { s.Final = "https://docs.example/tariffs/homes" }), NoSuspicion},
		{"moved to another host", page(func(s *Sight) { s.Final = "https://www.docs.example/prices/homes" }), NoSuspicion},
		{"a document about signing in", page(func(s *Sight) { s.Title = "Sign in with a card" }), NoSuspicion},
		{"a document with a login box", page(func(s *Sight) { s.HasPassword = true }), NoSuspicion},
		{"asked for the page of a login", page(func(s *Sight) { s.Asked = asked + "/login"; s.Final = s.Asked }), NoSuspicion},
		{"a word that only begins so", page(func(s *Sight) { s.Final = "https://docs.example/loginov/ssoftware" }), NoSuspicion},
		{"a product of that number", page(func(s *Sight) { s.Title = "Model 404 heat pump" }), NoSuspicion},
		{"the first page itself", page(func(s *Sight) { s.Asked = "https://docs.example/"; s.Final = "https://www.docs.example/" }), NoSuspicion},
		{"a bit shorter", page(func(s *Sight) { s.Characters = 1100 }), NoSuspicion},

		{"status", page(func(s *Sight) { s.Status = http.StatusNotFound }), NotAPage},
		{"redirected to a login", page(func(s *Sight) { s.Final = "https://docs.example/account/login?next=/prices" }), LoginWall},
		{"redirected to a host for logins", page(func(s *Sight) { s.Final = "https://sso.docs.example/start" }), LoginWall},
		{"a field for a password", page(func(s *Sight) { s.Characters = 900; s.HasPassword = true }), LoginWall},
		{"120 words, sign in to continue", page(func(s *Sight) { s.Characters = 700; s.Title = "Sign in to continue" }), LoginWall},
		{"in German", page(func(s *Sight) { s.Characters = 1100; s.Title = "Anmelden – Kundenportal" }), LoginWall},
		{"in Japanese", page(func(s *Sight) { s.Characters = 300; s.Title = "ログイン" }), LoginWall},
		{"without a title it has collapsed", page(func(s *Sight) { s.Characters = 700; s.Title = "" }), Collapsed},
		{"redirected to a consent page", page(func(s *Sight) { s.Final = "https://consent.docs.example/m?continue=x" }), ConsentPage},
		{"consent in the title", page(func(s *Sight) { s.Characters = 1200; s.Title = "Before you continue" }), ConsentPage},
		{"a missing page with status 200", page(func(s *Sight) { s.Characters = 400; s.Before = 0; s.Title = "404 – Seite nicht gefunden" }), NotFoundPage},
		{"the first page instead", page(func(s *Sight) { s.Final = "https://docs.example/" }), MovedToTheTop},
		{"scripts fill it", page(func(s *Sight) { s.Characters = 12; s.Before = 0 }), NearlyEmpty},
		{"nothing", page(func(s *Sight) { s.Characters = 0; s.Before = 0 }), NearlyEmpty},
		{"less than a quarter", page(func(s *Sight) { s.Characters = 1000 }), Collapsed},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Suspect(c.s); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestHasPassword_FindsTheField(t *testing.T) {
	for html, want := range map[string]bool{
		`<form><INPUT name=p Type = 'Password'>`: true, "<input\n type=password>": true, `<input type="text"> type="password"`: false,
		`<p>type=password</p>`: false, "<input " + strings.Repeat("x", 1<<20): false,
	} {
		if HasPassword([]byte(html)) != want {
			t.Errorf("%.60s: want %v", html, want)
		}
	}
}

// U12: the redirect is followed as any other; what came of it is not taken for the document.
func TestFetch_ShowsThatAConsentPageCameInstead(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/prices" {
			http.Redirect(w, r, "/cookie-consent?continue=%2Fprices", http.StatusFound)
		}
		_, _ = w.Write([]byte(strings.Repeat("We and our partners. ", 200)))
	}))
	page, err := w.Fetch(t.Context(), w.outside+"/prices")
	if err != nil {
		t.Fatal(err)
	}
	if got := Suspect(Sight{Status: http.StatusOK, Asked: w.outside + "/prices", Final: page.URL, Characters: len(page.Body)}); got != ConsentPage {
		t.Errorf("%q", got)
	}
}
