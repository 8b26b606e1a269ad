package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"maps"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

func TestKeySet_OnlyPublicSigningKeysCount(t *testing.T) {
	es, rs := newES256(t, "k"), newRS256(t, "k")
	with := func(s signer, changes map[string]any) map[string]any {
		m := s.jwk()
		maps.Copy(m, changes)
		return m
	}
	modulus := func(bytes int) string { return b64(append([]byte{0x80}, make([]byte, bytes-1)...)) }
	tests := []struct {
		name string
		key  map[string]any
		want jwt.SigningMethod // nil: passed over
	}{
		{"ES256", es.jwk(), jwt.SigningMethodES256},
		{"RS256", rs.jwk(), jwt.SigningMethodRS256},
		{"no alg, use or key_ops", with(es, map[string]any{"alg": "", "use": "", "key_ops": nil}), jwt.SigningMethodES256},
		{"a certificate that nobody reads", with(es, map[string]any{"x5u": "http://evil.example", "x5c": []string{"AAAA"}}), jwt.SigningMethodES256},
		{"modulus of 8192 bits", with(rs, map[string]any{"n": modulus(1024)}), jwt.SigningMethodRS256},
		{"modulus of 1024 bits", with(rs, map[string]any{"n": modulus(128)}), nil},
		{"modulus of 8200 bits", with(rs, map[string]any{"n": modulus(1025)}), nil},
		{"exponent one", with(rs, map[string]any{"e": "AQ"}), nil},
		{"use enc", with(es, map[string]any{"use": "enc"}), nil},
		{"key_ops without verify", with(es, map[string]any{"key_ops": []string{"encrypt"}}), nil},
		{"no kid", with(es, map[string]any{"kid": ""}), nil},
		{"kid is a number", with(es, map[string]any{"kid": 7}), nil},
		{"alg of another kind", with(es, map[string]any{"alg": "RS256"}), nil},
		{"alg HS256 on an RSA key", with(rs, map[string]any{"alg": "HS256"}), nil},
		{"alg RS512", with(rs, map[string]any{"alg": "RS512"}), nil},
		{"kty of another kind", with(es, map[string]any{"kty": "RSA"}), nil},
		{"kty oct", map[string]any{"kid": "k", "kty": "oct", "k": "c2VjcmV0"}, nil},
		{"P-384", p384(t), nil},
		{"a point off the curve", with(es, map[string]any{"x": b64(make([]byte, 32))}), nil},
		{"private half shown", with(es, map[string]any{"d": b64(make([]byte, 32))}), nil},
		{"secret shown", with(es, map[string]any{"k": "c2VjcmV0"}), nil},
	}
	good := newES256(t, "good")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := parseKeySet([]byte(encode(map[string]any{"keys": []any{tt.key, good.jwk()}})))
			if err != nil {
				t.Fatal(err)
			}
			if got := keys["k"].method; got != tt.want {
				t.Errorf("method = %v, want %v", got, tt.want)
			}
			if keys["good"].method == nil {
				t.Error("a strange key locks the others out")
			}
		})
	}
}

func p384(t *testing.T) map[string]any {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"kid": "k", "kty": "EC", "crv": "P-384", "x": b64(point[1:49]), "y": b64(point[49:])}
}

// Whatever an endpoint sends: no panic, and no key that any other method could be used with.
func FuzzParseKeySet(f *testing.F) {
	es := newES256(f, "es")
	f.Add([]byte(encode(map[string]any{"keys": []any{es.jwk()}})))
	f.Add([]byte(encode(map[string]any{"keys": []any{es.jwk(), es.jwk()}})))
	f.Add([]byte(`{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"},{"kty":"oct","kid":"b","k":"AA"},7,null]}`))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AA","y":"AA","x5u":"https://x.example","key_ops":["verify"]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		keys, err := parseKeySet(body)
		if err != nil && keys != nil {
			t.Error("keys beside an error")
		}
		for kid, k := range keys {
			if kid == "" || k.method == nil || k.method != methodOf(k.material) {
				t.Errorf("kid %q: %+v", kid, k)
			}
		}
	})
}
