package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/golang-jwt/jwt/v5"
)

// Key signs access tokens with ES256. Its id is the RFC 7638 thumbprint, so that the same file
// always means the same kid.
type Key struct {
	private *ecdsa.PrivateKey
	id      string
	x, y    string // the public point, base64url
}

// LoadOrCreateKey reads the P-256 key in the PKCS #8 PEM file at path, or makes it there with mode
// 0600. Two processes that start at once get the same key. A file that others may read is refused.
func LoadOrCreateKey(path string) (*Key, error) {
	k, err := loadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return nil, fmt.Errorf("create signing key: %w", err)
		}
		k, err = loadKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("load signing key: %w", err)
	}
	return k, nil
}

func loadKey(path string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read by others: chmod 600 it, or remove it and sign in again", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("%s is no PEM file", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s holds no PKCS #8 key", path)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s holds no P-256 key", path)
	}
	return newKey(private)
}

// createKey writes a new key beside path and links it into place: path never holds half a key, and
// whoever links first wins.
func createKey(path string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	point, err := private.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	half := (len(point) - 1) / 2
	k := &Key{private: private, x: b64(point[1 : 1+half]), y: b64(point[1+half:])}
	thumbprint := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + k.x + `","y":"` + k.y + `"}`))
	k.id = b64(thumbprint[:])
	return k, nil
}

// public is the JSON Web Key as the key set shows it.
func (k *Key) public() map[string]any {
	return map[string]any{
		"kty": "EC", "crv": "P-256", "x": k.x, "y": k.y,
		"alg": "ES256", "kid": k.id, "use": "sig", "key_ops": []string{"verify"}, "ext": true,
	}
}

// sign returns the claims as an access token.
func (k *Key) sign(claims map[string]any) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims))
	token.Header["kid"] = k.id
	return token.SignedString(k.private)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
