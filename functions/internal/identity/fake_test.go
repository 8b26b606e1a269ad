package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	testIssuer = "https://project.example/auth/v1"
	testUser   = "dc35f2d6-999b-46e0-be5c-3be2d5fcb33e"
)

var testStart = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: testStart} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// signer signs anything with one key, also what no honest issuer would.
type signer struct {
	kid     string
	method  jwt.SigningMethod
	private any
}

func newES256(t testing.TB, kid string) signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{kid, jwt.SigningMethodES256, k}
}

func newRS256(t testing.TB, kid string) signer {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signer{kid, jwt.SigningMethodRS256, k}
}

// jwk is the public half as a JSON Web Key.
func (s signer) jwk() map[string]any {
	m := map[string]any{"kid": s.kid, "alg": s.method.Alg(), "use": "sig", "key_ops": []string{"verify"}}
	switch k := s.private.(type) {
	case *ecdsa.PrivateKey:
		raw, err := k.PublicKey.Bytes() // 4, x, y
		if err != nil {
			panic(err)
		}
		m["kty"], m["crv"], m["x"], m["y"] = "EC", "P-256", b64(raw[1:33]), b64(raw[33:])
	case *rsa.PrivateKey:
		m["kty"], m["n"], m["e"] = "RSA", b64(k.N.Bytes()), b64(big.NewInt(int64(k.E)).Bytes())
	default:
		panic(fmt.Sprintf("no JWK for %T", k))
	}
	return m
}

func (s signer) header() string {
	return fmt.Sprintf(`{"alg":%q,"kid":%q,"typ":"JWT"}`, s.method.Alg(), s.kid)
}

// token signs the claims with an honest header.
func (s signer) token(c map[string]any) string { return s.raw(s.header(), encode(c)) }

// raw signs a header and payload as they stand.
func (s signer) raw(header, payload string) string {
	signed := b64([]byte(header)) + "." + b64([]byte(payload))
	sig, err := s.method.Sign(signed, s.private)
	if err != nil {
		panic(err)
	}
	return signed + "." + b64(sig)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// claims are good ones with changes; a nil value takes the claim away.
func claims(changes map[string]any) map[string]any {
	c := map[string]any{
		"iss": testIssuer, "sub": testUser, "aud": "authenticated", "role": "authenticated",
		"iat": testStart.Unix(), "exp": testStart.Add(time.Hour).Unix(),
		"email": "rep@lumen.example", "phone": "", "aal": "aal1", "is_anonymous": false,
		"session_id":    "fc8244f0-1c34-416d-b7c3-059ef3aa57c8",
		"app_metadata":  map[string]any{"provider": "email", "tenant_id": "11111111-1111-1111-1111-111111111111"},
		"user_metadata": map[string]any{"tenant_id": "forged"},
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// keyServer is an endpoint whose answer a test sets; it counts the requests.
type keyServer struct {
	*httptest.Server
	mu      sync.Mutex
	fetches int
	answer  http.HandlerFunc
}

func newKeyServer(t testing.TB, signers ...signer) *keyServer {
	t.Helper()
	s := &keyServer{}
	s.serve(signers...)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.fetches++
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) serve(signers ...signer) {
	keys := []any{}
	for _, signer := range signers {
		keys = append(keys, signer.jwk())
	}
	s.serveText(encode(map[string]any{"keys": keys}))
}

func (s *keyServer) serveText(body string) {
	s.set(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
}

func (s *keyServer) set(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *keyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

func newTestVerifier(t testing.TB, jwksURL string, c *clock) *Verifier {
	t.Helper()
	v, err := NewVerifier(VerifierConfig{JWKSURL: jwksURL, Issuer: testIssuer, Audience: "authenticated", Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
