package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// maxTokenBytes bounds the work that an unverified token can cause.
	maxTokenBytes = 8 << 10
	// minSecretBytes is the size of an HMAC-SHA256 key (RFC 7518, section 3.2).
	minSecretBytes = 32
	// sampleSecret starts the secret that every self-hosted example ships.
	sampleSecret = "your-super-secret"
)

// VerifierConfig says whose tokens count. Exactly one of JWKSURL and HS256Secret is set.
type VerifierConfig struct {
	JWKSURL     string       // where the public keys are; https, or http on this machine
	HS256Secret []byte       // shared secret of older projects; at least 32 bytes
	Issuer      string       // the iss claim, compared byte for byte
	Audience    string       // the aud claim, "authenticated" at Supabase
	HTTPClient  *http.Client // fetches the keys; nil means a plain client
	Now         func() time.Time
}

// Verifier checks access tokens. It is safe for concurrent use and starts no goroutine.
type Verifier struct {
	issuer   string
	audience string
	now      func() time.Time
	keys     keyFinder
}

// keyFinder returns the key that a token names, or a problem.Unauthenticated or
// problem.KeysUnavailable error.
type keyFinder interface {
	find(ctx context.Context, kid string) (key, error)
}

// NewVerifier returns a Verifier, or one error that names every field that is missing, weak or
// contradictory. It never shows a value.
func NewVerifier(cfg VerifierConfig) (*Verifier, error) {
	if err := errors.Join(cfg.faults()...); err != nil {
		return nil, fmt.Errorf("verifier: %w", err)
	}
	v := &Verifier{issuer: cfg.Issuer, audience: cfg.Audience, now: cfg.Now}
	if cfg.JWKSURL == "" {
		v.keys = secret(cfg.HS256Secret)
	} else {
		v.keys = newKeyCache(cfg.JWKSURL, cfg.HTTPClient, cfg.Now)
	}
	return v, nil
}

func (cfg VerifierConfig) faults() []error {
	var faults []error
	add := func(when bool, fault string) {
		if when {
			faults = append(faults, errors.New(fault))
		}
	}
	add(cfg.JWKSURL == "" && cfg.HS256Secret == nil, "JWKSURL is missing and HS256Secret is not switched on")
	add(cfg.JWKSURL != "" && cfg.HS256Secret != nil, "JWKSURL and HS256Secret exclude each other")
	add(cfg.JWKSURL != "" && !isSafeURL(cfg.JWKSURL), "JWKSURL must be https, or http on this machine")
	add(cfg.HS256Secret != nil && len(cfg.HS256Secret) < minSecretBytes, "HS256Secret has fewer than 32 bytes")
	add(strings.HasPrefix(string(cfg.HS256Secret), sampleSecret), "HS256Secret is a published sample")
	add(cfg.Issuer == "", "Issuer is missing")
	add(cfg.Audience == "", "Audience is missing")
	add(cfg.Now == nil, "Now is missing")
	return faults
}

func isSafeURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	isHere := host == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && isHere
}

// Verify checks an access token (without the word Bearer) and returns who sent it. The error is a
// problem.Unauthenticated, or problem.KeysUnavailable with RetryAfter when the key of the token
// can't be fetched now.
func (v *Verifier) Verify(ctx context.Context, token string) (Principal, error) {
	payload, err := v.open(ctx, token)
	if err != nil {
		return Principal{}, fmt.Errorf("verify signature: %w", err)
	}
	p, err := v.read(payload)
	if err != nil {
		return Principal{}, fmt.Errorf("verify claims: %w", err)
	}
	return p, nil
}

// open checks the signature and returns the payload, which nobody has looked at before. The method
// comes from the key; the header can only agree with it.
func (v *Verifier) open(ctx context.Context, token string) ([]byte, error) {
	segments, err := split(token)
	if err != nil {
		return nil, err
	}
	header, err := decodeObject(segments[0])
	if err != nil {
		return nil, refuse("header is not one plain JSON object")
	}
	for _, name := range []string{"crit", "b64", "zip"} {
		if _, found := header[name]; found {
			return nil, refuse("header asks for an extension")
		}
	}
	alg, _ := header["alg"].(string)
	kid, _ := header["kid"].(string)
	k, err := v.keys.find(ctx, kid)
	if err != nil {
		return nil, err
	}
	if alg != k.method.Alg() {
		return nil, refuse("alg is not the one of the key")
	}
	signed := token[:strings.LastIndexByte(token, '.')]
	if err := k.method.Verify(signed, segments[2], k.material); err != nil {
		return nil, refuse("signature is wrong")
	}
	return segments[1], nil
}

// split cuts a token into its three decoded segments. Go's decoder skips line ends even when it is
// strict, so the alphabet is checked first: the bytes of a token have one spelling.
func split(token string) ([3][]byte, error) {
	var decoded [3][]byte
	if token == "" || len(token) > maxTokenBytes {
		return decoded, refuse("token is empty or too long")
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	if strings.Trim(token, alphabet) != "" {
		return decoded, refuse("token has a character outside base64url")
	}
	segments := strings.Split(token, ".")
	if len(segments) != len(decoded) {
		return decoded, refuse("token has not three segments")
	}
	for i, segment := range segments {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(segment)
		if err != nil {
			return decoded, refuse("token is not strict base64url")
		}
		decoded[i] = raw
	}
	return decoded, nil
}

// secret is the one shared key of a project that still signs with HS256. Its tokens often carry
// no kid, so any is taken.
type secret []byte

func (s secret) find(context.Context, string) (key, error) {
	return key{method: jwt.SigningMethodHS256, material: []byte(s)}, nil
}
