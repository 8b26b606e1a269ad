package identity

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"porchlight/functions/internal/problem"
)

func TestVerify_AcceptsWhatSupabaseSigns(t *testing.T) { // O74
	es, rs := newES256(t, "es"), newRS256(t, "rs")
	hs := signer{"", jwt.SigningMethodHS256, []byte("0123456789abcdef0123456789abcdef")}
	byKeys := newTestVerifier(t, newKeyServer(t, es, rs).URL, newClock())
	bySecret, err := NewVerifier(VerifierConfig{
		HS256Secret: hs.private.([]byte), Issuer: testIssuer, Audience: "authenticated", Now: newClock().Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		verifier *Verifier
		token    string
	}{
		{"ES256", byKeys, es.token(claims(nil))},
		{"RS256", byKeys, rs.token(claims(nil))},
		{"HS256 when it is switched on, without kid", bySecret, hs.raw(`{"alg":"HS256","typ":"JWT"}`, encode(claims(nil)))},
		{"HS256 when it is switched on, with a kid", bySecret, hs.raw(`{"alg":"HS256","kid":"old"}`, encode(claims(nil)))},
		{"aud as a list of one", byKeys, es.token(claims(map[string]any{"aud": []string{"authenticated"}}))},
		{"no is_anonymous, as older servers write it", byKeys, es.token(claims(map[string]any{"is_anonymous": nil}))},
		{"claims that a hook added", byKeys, es.token(claims(map[string]any{"user_role": "rep", "User_Role": 1}))},
		{"a jku that nobody follows", byKeys, es.raw(`{"alg":"ES256","kid":"es","jku":"https://evil.example"}`, encode(claims(nil)))}, // J16
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.verifier.Verify(t.Context(), tt.token)
			if err != nil {
				t.Fatal(err)
			}
			if p.UserID != testUser || p.Role != "authenticated" || p.Tenant != "" ||
				p.TenantClaim != "11111111-1111-1111-1111-111111111111" {
				t.Errorf("principal = %+v", p)
			}
		})
	}
}

// forgery is a bad token with the name of what is wrong with it.
type forgery struct{ name, token string }

// refusesForgeries checks that none is accepted and that none costs a fetch.
func refusesForgeries(t *testing.T, es, rs signer, forgeries []forgery) {
	t.Helper()
	keys := newKeyServer(t, es, rs)
	v := newTestVerifier(t, keys.URL, newClock())
	accepts(t, v, es)
	for _, f := range forgeries {
		t.Run(f.name, func(t *testing.T) { wantCode(t, v, f.token, problem.Unauthenticated) })
	}
	if n := keys.count(); n != 1 {
		t.Errorf("keys were fetched %d times, want once", n)
	}
}

func TestVerify_RefusesForgedSignatures(t *testing.T) { // O74
	es, rs, stranger := newES256(t, "es"), newRS256(t, "rs"), newES256(t, "es")
	der, err := x509.MarshalPKIXPublicKey(&rs.private.(*rsa.PrivateKey).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	hmac := func(kid string, secret []byte) string {
		return signer{kid, jwt.SigningMethodHS256, secret}.token(claims(nil))
	}
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","kid":"es"}`)) + "." + b64([]byte(encode(claims(nil)))) + "."
	}
	part := strings.Split(es.token(claims(nil)), ".")
	refusesForgeries(t, es, rs, []forgery{
		{"J1 alg none", unsigned("none")},
		{"J1 alg None", unsigned("None")},
		{"J1 alg NONE", unsigned("NONE")},
		{"J1 alg empty", unsigned("")},
		{"J2 HS256 with the public key as secret", hmac("rs", publicPEM)},
		{"J3 HS256 though it is not switched on", hmac("es", []byte("0123456789abcdef0123456789abcdef"))},
		{"J2 HS256 with an empty secret", hmac("es", []byte{})},
		{"J4 ES256 key under an RS256 header", es.raw(`{"alg":"RS256","kid":"es"}`, encode(claims(nil)))},
		{"J4 another method of the same key", signer{"rs", jwt.SigningMethodRS512, rs.private}.token(claims(nil))},
		{"J4 PS256 of an RS256 key", signer{"rs", jwt.SigningMethodPS256, rs.private}.token(claims(nil))},
		{"J15 another key under a known kid", stranger.token(claims(nil))},
		{"J16 the attacker's key in the header", stranger.raw(`{"alg":"ES256","kid":"es","jwk":`+encode(stranger.jwk())+`}`, encode(claims(nil)))},
		{"J18 empty signature", part[0] + "." + part[1] + "."},
		{"J18 zero r and s", part[0] + "." + part[1] + "." + b64(make([]byte, 64))},
		{"J18 signature in ASN.1 size", part[0] + "." + part[1] + "." + b64(make([]byte, 70))},
		{"J18 payload changed", part[0] + "." + b64([]byte(with("role", "service_role"))) + "." + part[2]},
	})
}

func TestVerify_RefusesOtherSecrets(t *testing.T) {
	long := []byte("0123456789abcdef0123456789abcdef")
	v, err := NewVerifier(VerifierConfig{HS256Secret: long, Issuer: testIssuer, Audience: "authenticated", Now: newClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []forgery{
		{"J3 HS384", signer{"", jwt.SigningMethodHS384, long}.token(claims(nil))},
		{"J3 HS512", signer{"", jwt.SigningMethodHS512, long}.token(claims(nil))},
		{"J3 another secret", signer{"", jwt.SigningMethodHS256, long[:31]}.token(claims(nil))},
		{"J3 empty secret", signer{"", jwt.SigningMethodHS256, []byte{}}.token(claims(nil))},
		{"ES256", newES256(t, "es").token(claims(nil))},
	} {
		t.Run(f.name, func(t *testing.T) { wantCode(t, v, f.token, problem.Unauthenticated) })
	}
}

func TestVerify_RefusesOddShapes(t *testing.T) {
	es, rs := newES256(t, "es"), newRS256(t, "rs")
	good := es.token(claims(nil))
	part := strings.Split(good, ".")
	header := func(text string) string { return es.raw(text, encode(claims(nil))) }
	refusesForgeries(t, es, rs, []forgery{
		{"no token", ""},
		{"J8 alg twice", header(`{"alg":"none","alg":"ES256","kid":"es"}`)},
		{"J15 no kid", header(`{"alg":"ES256"}`)},
		{"J15 empty kid", header(`{"alg":"ES256","kid":""}`)},
		{"J15 kid is a number", header(`{"alg":"ES256","kid":1}`)},
		{"J15 kid is a path", header(`{"alg":"ES256","kid":"../../etc/passwd"}`)},
		{"J15 kid is SQL", header(`{"alg":"ES256","kid":"' or 1=1"}`)},
		{"J15 kid of a megabyte", header(`{"alg":"ES256","kid":"` + strings.Repeat("k", 1<<20) + `"}`)},
		{"J17 crit", header(`{"alg":"ES256","kid":"es","crit":["exp"]}`)},
		{"J17 empty crit", header(`{"alg":"ES256","kid":"es","crit":[]}`)},
		{"J17 crit null", header(`{"alg":"ES256","kid":"es","crit":null}`)},
		{"J17 b64", header(`{"alg":"ES256","kid":"es","b64":false}`)},
		{"J17 zip", header(`{"alg":"ES256","kid":"es","zip":"DEF"}`)},
		{"J18 two segments", part[0] + "." + part[1]},
		{"J18 four segments", good + "." + part[2]},
		{"J18 five segments", good + ".." + part[2]},
		{"J18 only dots", ".."},
		{"J19 twin of the last character", good[:len(good)-1] + twin(good[len(good)-1])},
		{"J19 line end at the end", good + "\n"},
		{"J19 line end inside", good[:50] + "\r\n" + good[50:]},
		{"J19 padding", good + "=="},
		{"J19 blank before", " " + good},
		{"J19 blank behind", good + " "},
		{"J19 NUL behind", good + "\x00"},
		{"J22 two tokens, joined as a gateway joins two headers", good + "," + good},
		{"J19 standard alphabet", strings.NewReplacer("-", "+", "_", "/").Replace(standardTwin(t, es))},
		{"J20 six megabytes", es.token(claims(map[string]any{"x": strings.Repeat("x", 6<<20)}))},
		{"header is a list", header(`[]`)},
		{"header is not JSON", header(`{`)},
		{"header with a tail", header(`{"alg":"ES256","kid":"es"} {}`)},
	})
}

// twin returns a base64url character that differs only in the four bits that a 64-byte signature
// leaves unused.
func twin(last byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, last)^1])
}

// standardTwin signs until the signature holds a character that the two alphabets spell apart.
func standardTwin(t *testing.T, s signer) string {
	t.Helper()
	for range 1000 {
		if token := s.token(claims(nil)); strings.ContainsAny(token, "-_") {
			return token
		}
	}
	t.Fatal("no signature with - or _ in 1000")
	return ""
}

func TestNewVerifier_NamesEveryFaultAndNoValue(t *testing.T) { // O80
	long := []byte("0123456789abcdef0123456789abcdef")
	good := VerifierConfig{JWKSURL: "https://project.example/jwks", Issuer: testIssuer, Audience: "authenticated", Now: newClock().Now}
	tests := []struct {
		name   string
		change func(*VerifierConfig)
		want   []string
	}{
		{"nothing set", func(c *VerifierConfig) { *c = VerifierConfig{} }, []string{"JWKSURL", "HS256Secret", "Issuer", "Audience", "Now"}},
		{"both kinds of key", func(c *VerifierConfig) { c.HS256Secret = long }, []string{"exclude"}},
		{"empty secret", func(c *VerifierConfig) { c.JWKSURL, c.HS256Secret = "", []byte{} }, []string{"32 bytes"}},
		{"secret of 31 bytes", func(c *VerifierConfig) { c.JWKSURL, c.HS256Secret = "", long[:31] }, []string{"32 bytes"}},
		{"sample secret", func(c *VerifierConfig) {
			c.JWKSURL, c.HS256Secret = "", []byte("your-super-secret-jwt-token-with-at-least-32-characters-long")
		}, []string{"sample"}},
		{"http to another machine", func(c *VerifierConfig) { c.JWKSURL = "http://hidden.example/jwks" }, []string{"https"}},
		{"password in the URL", func(c *VerifierConfig) { c.JWKSURL = "https://me:hidden@project.example/jwks" }, []string{"https"}},
		{"not a URL", func(c *VerifierConfig) { c.JWKSURL = "hidden" }, []string{"https"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good
			tt.change(&cfg)
			_, err := NewVerifier(cfg)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %s", err, want)
				}
			}
			for _, hidden := range []string{"hidden", "0123456789", "jwt-token"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("%q shows a value", err)
				}
			}
		})
	}
	for _, u := range []string{good.JWKSURL, "http://127.0.0.1:1/jwks", "http://localhost:1/jwks", "http://[::1]:1/jwks"} {
		cfg := good
		cfg.JWKSURL = u
		if _, err := NewVerifier(cfg); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestBearer_WantsOneHeaderOneSchemeOneToken(t *testing.T) { // J22
	tests := []struct {
		name   string
		values []string
		want   string
	}{
		{"one", []string{"Bearer a.b.c"}, "a.b.c"},
		{"J22 scheme in lower case", []string{"bearer a.b.c"}, "a.b.c"},
		{"none", nil, ""},
		{"empty", []string{""}, ""},
		{"no scheme", []string{"a.b.c"}, ""},
		{"no token", []string{"Bearer "}, ""},
		{"another scheme", []string{"Basic a.b.c"}, ""},
		{"J22 scheme twice", []string{"Bearer Bearer a.b.c"}, ""},
		{"J22 tab", []string{"Bearer\ta.b.c"}, ""},
		{"J22 two spaces", []string{"Bearer  a.b.c"}, ""},
		{"J22 two headers, joined as a gateway does", []string{"Bearer a.b.c,Bearer d.e.f"}, ""},
		{"J22 two headers", []string{"Bearer a.b.c", "Bearer d.e.f"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Bearer(http.Header{"Authorization": tt.values})
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Bearer = %q, %v", got, ok)
			}
		})
	}
}

func TestVerify_NeverSpellsTheToken(t *testing.T) {
	es := newES256(t, "es")
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	token := es.token(claims(map[string]any{"role": "canary-role", "sub": "canary-sub"}))
	_, err := v.Verify(t.Context(), token)
	if text := fmt.Sprint(err, problem.From(err).Message()); strings.Contains(text, "canary") || strings.Contains(text, token[:20]) {
		t.Errorf("error shows the token: %s", text)
	}
}

func FuzzVerify(f *testing.F) {
	v, err := NewVerifier(VerifierConfig{
		HS256Secret: []byte("0123456789abcdef0123456789abcdef"), Issuer: testIssuer, Audience: "authenticated", Now: newClock().Now,
	})
	if err != nil {
		f.Fatal(err)
	}
	other := signer{"", jwt.SigningMethodHS256, []byte("another secret, another secret, ")}
	f.Add(other.token(claims(nil)))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + ".e30.")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(t.Context(), token); problem.From(err).Code != problem.Unauthenticated {
			t.Errorf("%q: %v", token, err)
		}
	})
}

func wantCode(t *testing.T, v *Verifier, token string, want problem.Code) *problem.Error {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	if err == nil {
		t.Fatalf("accepted as %s", p.UserID)
	}
	got := problem.From(err)
	if got.Code != want {
		t.Fatalf("code = %s (%v), want %s", got.Code, err, want)
	}
	return got
}
