package identity

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"porchlight/functions/internal/problem"
)

// The API keys of older projects are tokens too, signed with the secret of the project. They name no
// person, so they are refused where that very secret is the one that counts, and where keys do.
func TestVerify_RefusesAPIKeys(t *testing.T) {
	secret := signer{"", jwt.SigningMethodHS256, []byte("a secret of this project, 32 bytes")}
	es := newES256(t, "es")
	verifiers := map[string]*Verifier{
		"by secret": secretVerifier(t, secret, testIssuer),
		// the issuer that such keys name, set by mistake
		"by secret of the issuer supabase": secretVerifier(t, secret, "supabase"),
		"by keys":                          newTestVerifier(t, newKeyServer(t, es).URL, newClock()),
	}
	apiKey := func(role string) map[string]any {
		return map[string]any{
			"iss": "supabase", "ref": "abcdefghijklmnopqrst", "role": role, "iat": 1641769200, "exp": 1957345200,
		}
	}
	for name, v := range verifiers {
		for _, f := range []forgery{
			{"J21 anon key", secret.token(apiKey("anon"))},
			{"J21 service key", secret.token(apiKey("service_role"))},
			{"J21 service key with the role of a person", secret.token(apiKey("authenticated"))},
			{"J21 publishable key", "sb_publishable_abcdefghijklmnopqrstuvwxyz"},
			{"J21 secret key", "sb_secret_abcdefghijklmnopqrstuvwxyz"},
		} {
			t.Run(name+"/"+f.name, func(t *testing.T) { wantCode(t, v, f.token, problem.Unauthenticated) })
		}
	}
}

func TestVerify_RefusesAnotherProjectWithTheSameSecret(t *testing.T) {
	secret := signer{"", jwt.SigningMethodHS256, []byte("a secret that was copied, 32 bytes")}
	v := secretVerifier(t, secret, testIssuer)
	accepts(t, v, secret)
	t.Run("J25 valid token of another project", func(t *testing.T) {
		other := claims(map[string]any{"iss": "https://other.example/auth/v1"})
		accepts(t, secretVerifier(t, secret, "https://other.example/auth/v1"), secret, other)
		wantCode(t, v, secret.token(other), problem.Unauthenticated)
	})
}

// A header may point to keys of the attacker's: nobody goes there.
func TestVerify_FollowsNoAddressOfAHeader(t *testing.T) {
	es, attacker := newES256(t, "es"), newES256(t, "attacker")
	var visits atomic.Int64
	theirs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		visits.Add(1)
		_, _ = w.Write([]byte(encode(map[string]any{"keys": []any{attacker.jwk()}})))
	}))
	defer theirs.Close()
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	accepts(t, v, es)
	for _, kid := range []string{"es", "attacker"} {
		for name, header := range map[string]string{
			"jku": `"jku":"` + theirs.URL + `/keys"`,
			"x5u": `"x5u":"` + theirs.URL + `/certificate"`,
			"jwk": `"jwk":` + encode(attacker.jwk()),
			"x5c": `"x5c":["` + b64([]byte("certificate")) + `"]`,
		} {
			t.Run("J16 "+name+" under kid "+kid, func(t *testing.T) {
				forged := attacker.raw(`{"alg":"ES256","kid":"`+kid+`",`+header+`}`, encode(claims(nil)))
				wantCode(t, v, forged, problem.Unauthenticated)
			})
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the attacker's server was asked %d times", n)
	}
}

func secretVerifier(t *testing.T, s signer, issuer string) *Verifier {
	t.Helper()
	v, err := NewVerifier(VerifierConfig{
		HS256Secret: s.private.([]byte), Issuer: issuer, Audience: "authenticated", Now: newClock().Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
