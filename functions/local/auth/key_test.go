package auth

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKey_IsMadeOnceAndKeptPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			k, err := LoadOrCreateKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = k.id
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("two keys: %v", ids)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestKey_RefusesFilesThatAreNoPrivateKeyOfOurs(t *testing.T) {
	good := filepath.Join(t.TempDir(), "key.pem")
	if _, err := LoadOrCreateKey(good); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"readable by others", string(raw), 0o644, "chmod 600"},
		{"empty", "", 0o600, "no PEM file"},
		{"cut", string(raw[:len(raw)/2]), 0o600, "no PEM file"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0o600, "no PKCS #8 key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key.pem")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := LoadOrCreateKey(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := LoadOrCreateKey(filepath.Join(t.TempDir(), "missing", "key.pem")); err == nil {
		t.Error("a folder that does not exist was accepted")
	}
}

func TestHashPassword_CostsWhatTheDecoyCosts(t *testing.T) {
	hash, err := HashPassword("correct horse battery")
	if err != nil || len(hash) != len(decoy) || hash[:7] != decoy[:7] {
		t.Errorf("%s is unlike %s: %v", hash, decoy, err)
	}
	if !matches(hash, "correct horse battery") || matches(decoy, "") {
		t.Error("a right password fails or the decoy matches")
	}
}

func TestHashPassword_ForgetsNothingAfterSeventyTwoBytes(t *testing.T) {
	hash, err := HashPassword(strings.Repeat("x", 72))
	if err != nil || !matches(hash, strings.Repeat("x", 72)) {
		t.Fatal(err)
	}
	if matches(hash, strings.Repeat("x", 73)) {
		t.Error("73 bytes match 72")
	}
}

func TestHashPassword_WantsSixToSeventyTwoBytes(t *testing.T) {
	for length, ok := range map[int]bool{0: false, 5: false, 6: true, 72: true, 73: false} {
		if _, err := HashPassword(strings.Repeat("x", length)); (err == nil) != ok {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}
