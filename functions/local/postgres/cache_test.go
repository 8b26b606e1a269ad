package postgres

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCacheDir_SaysTheSameAsTheShell(t *testing.T) {
	for _, named := range []string{"", "/srv/parts"} {
		t.Run("PORCHLIGHT_CACHE="+named, func(t *testing.T) {
			t.Setenv("PORCHLIGHT_CACHE", named)
			want, err := CacheDir()
			if err != nil {
				t.Fatal(err)
			}
			shell := exec.CommandContext(t.Context(), "bash", "../../../scripts/cache.sh")
			shell.Env = os.Environ()
			got, err := shell.Output()
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(got)) != want {
				t.Errorf("scripts/cache.sh says %q, CacheDir %q", got, want)
			}
		})
	}
}
