package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// RSA keys outside these sizes are weak or made to cost time.
const (
	minRSABits = 2048
	maxRSABits = 8192
)

// key is a verification key with the only method that it may be used with.
type key struct {
	method   jwt.SigningMethod
	material any
}

// parseKeySet reads a JSON Web Key Set (RFC 7517) and returns its usable keys by kid: public ES256
// and RS256 signing keys. Others are passed over, so that one strange key does not lock everybody
// out. An empty set is valid, two keys under one kid are not.
func parseKeySet(body []byte) (map[string]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("key set is not JSON")
	}
	if set.Keys == nil {
		return nil, errors.New("key set has no keys")
	}
	keys := map[string]key{}
	for _, raw := range set.Keys {
		kid, k, err := parseKey(raw)
		if err != nil {
			continue
		}
		if _, twice := keys[kid]; twice {
			return nil, errors.New("key set has two keys with one kid")
		}
		keys[kid] = k
	}
	return keys, nil
}

// parseKey returns a usable key and its kid, or why it is not usable.
func parseKey(raw []byte) (string, key, error) {
	var m jwkset.JWKMarshal
	if err := json.Unmarshal(raw, &m); err != nil {
		return "", key{}, fmt.Errorf("read key: %w", err)
	}
	isPrivate := m.D != "" || m.P != "" || m.Q != "" || m.DP != "" || m.DQ != "" || m.QI != "" || m.K != "" || m.OTH != nil
	isSigning := (m.USE == "" || m.USE == jwkset.UseSig) &&
		(len(m.KEYOPS) == 0 || slices.Contains(m.KEYOPS, jwkset.KeyOpsVerify))
	if m.KID == "" || isPrivate || !isSigning {
		return "", key{}, errors.New("key has no kid, is not public or is not for signatures")
	}
	// Certificates prove nothing here and an x5u would be fetched.
	m.X5C, m.X5U, m.X5T, m.X5TS256 = nil, "", "", ""
	parsed, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return "", key{}, fmt.Errorf("read key: %w", err)
	}
	method := methodOf(parsed.Key())
	if method == nil || m.ALG != "" && m.ALG.String() != method.Alg() {
		return "", key{}, errors.New("key is of another kind than its alg or of none we use")
	}
	return m.KID, key{method: method, material: parsed.Key()}, nil
}

// methodOf returns the one method of a public key, or nil for a kind that is not accepted.
func methodOf(public any) jwt.SigningMethod {
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return jwt.SigningMethodES256
		}
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSABits && bits <= maxRSABits {
			return jwt.SigningMethodRS256
		}
	}
	return nil
}
