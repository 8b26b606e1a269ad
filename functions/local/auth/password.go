package auth

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/bcrypt"
)

// The limits of Supabase Auth by default; bcrypt ignores what comes after 72 bytes.
const (
	minPasswordBytes = 6
	maxPasswordBytes = 72
)

// decoy is compared when the address is unknown, so that the answer takes as long. It is the hash, at
// the cost of HashPassword, of a random password that nobody kept.
const decoy = "$2a$10$6eEbk/HHfmhoSooaJVNvfOuGND78PbSGHJ97HR3rIS4gsDXpgQgLa"

// HashPassword returns the bcrypt hash that store.Auth.CreateUser takes. The password has 6 to 72
// bytes.
func HashPassword(password string) (string, error) {
	if len(password) < minPasswordBytes || len(password) > maxPasswordBytes {
		return "", errors.New("a password has 6 to 72 bytes")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return string(hash), nil
}

// matches compares in the time of one bcrypt hash, whatever the outcome.
func matches(hash, password string) bool {
	err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password))
	return err == nil && len(password) <= maxPasswordBytes
}
