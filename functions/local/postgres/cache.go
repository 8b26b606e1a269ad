package postgres

import (
	"fmt"
	"os"
	"path/filepath"
)

// release is the folder of the embedded binaries in the cache: bin, lib and share.
const release = "postgres-18.6.3"

// CacheDir returns the folder of the fetched parts: PORCHLIGHT_CACHE, or /var/cache/porchlight under
// uid 0 (the unprivileged user that Postgres runs as cannot enter root's home), or "porchlight" in
// the user's cache folder. scripts/cache.sh says the same to the shell.
func CacheDir() (string, error) {
	if dir := os.Getenv("PORCHLIGHT_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if os.Geteuid() == 0 {
		return "/var/cache/porchlight", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder (PORCHLIGHT_CACHE names one): %w", err)
	}
	return filepath.Join(dir, "porchlight"), nil
}
