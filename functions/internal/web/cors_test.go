package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCORS_MatchesWholeOriginsOnly(t *testing.T) {
	const site = "https://shop.lumen.example"
	tests := []struct {
		name    string
		listed  []string
		origin  []string
		allowed string
	}{
		{"none listed", nil, []string{site}, ""},
		{"listed", []string{"https://x.example", site}, []string{site}, site},
		{"no origin", []string{site}, nil, ""},
		{"null", []string{site}, []string{"null"}, ""},
		{"longer host", []string{site}, []string{site + ".evil.example"}, ""},
		{"host inside another", []string{site}, []string{"https://evil-shop.lumen.example"}, ""},
		{"another scheme", []string{site}, []string{"http://shop.lumen.example"}, ""},
		{"another port", []string{site}, []string{site + ":8443"}, ""},
		{"another case", []string{site}, []string{"https://SHOP.lumen.example"}, ""},
		{"two headers", []string{site}, []string{site, site}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			o.Origins = tt.listed
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Header["Origin"] = tt.origin
			w := serve(NewHealth(o), r)
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != tt.allowed || w.Code != 200 {
				t.Errorf("%d, allowed %q", w.Code, got)
			}
			if got := w.Header().Get("Vary"); (got == "Origin") != (tt.listed != nil) {
				t.Errorf("Vary %q", got)
			}
			if got := w.Header().Get("Access-Control-Allow-Credentials"); got != "" { // E15
				t.Errorf("credentials %q", got)
			}
		})
	}
}

func TestCORS_AnswersThePreflightOfAListedOriginOnly(t *testing.T) {
	const site = "https://shop.lumen.example"
	for origin, status := range map[string]int{site: 204, "https://evil.example": 405} {
		o, _ := options()
		o.Origins = []string{site}
		r := httptest.NewRequest(http.MethodOptions, "/v1/ask", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		w := serve(NewAsk(o, verifier{t, nil}, asker(nil)), r)
		if w.Code != status {
			t.Errorf("%s: status %d", origin, w.Code)
		}
		if got := w.Header().Get("Access-Control-Allow-Headers"); (got == "Authorization, Content-Type, X-Request-Id") != (status == 204) {
			t.Errorf("%s: headers %q", origin, got)
		}
	}
}

// A page must be able to read why it was refused.
func TestCORS_CoversErrors(t *testing.T) {
	o, _ := options()
	o.Origins = []string{"https://shop.lumen.example"}
	r := post("/v1/ask", "")
	r.Header.Del("Authorization")
	r.Header.Set("Origin", o.Origins[0])
	w := serve(NewAsk(o, verifier{t, nil}, asker(nil)), r)
	if w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") != o.Origins[0] {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
