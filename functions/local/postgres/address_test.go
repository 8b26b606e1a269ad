package postgres

import (
	"strings"
	"testing"
	"testing/fstest"
)

// E16: a password with something special in it that nobody encoded is cut in the wrong place, and stands
// where drivers print it.
func TestMigrate_ShowsNoPasswordOfAnAddressThatCannotBeRead(t *testing.T) {
	for _, address := range []string{
		"postgres://postgres:1/kestrel9@127.0.0.1:1/db",
		"postgres://postgres:a#kestrel9@127.0.0.1:1/db",
		"postgres://postgres:a?kestrel9@127.0.0.1:1/db",
		"postgres://postgres:a kestrel9@127.0.0.1:1/db",
		"postgres://postgres:a@kestrel9@127.0.0.1:1/db", // is read as it was meant
		"postgres://postgres:kestrel9%@127.0.0.1:1/db",
		"postgres://postgres:x@127.0.0.1:kestrel9/db",
		"postgres://127.0.0.1:1/db?password=kestrel9&x=%zz",
		"postgres://postgres@127.0.0.1:1/db?sslkey=kestrel9",
		"postgres//postgres:kestrel9@127.0.0.1/db",
		"host=127.0.0.1 password=kestrel9",
		"kestrel9",
		"",
	} {
		t.Run(address, func(t *testing.T) {
			_, err := Migrate(t.Context(), address, fstest.MapFS{})
			if err == nil || strings.Contains(err.Error(), "kestrel9") {
				t.Errorf("Migrate: %v", err)
			}
			if _, err := Attach(t.Context(), address); err == nil || strings.Contains(err.Error(), "kestrel9") {
				t.Errorf("Attach: %v", err)
			}
		})
	}
}
