package house_test

import (
	"regexp"
	"strings"
	"testing"
)

// The words are put together here so that this file does not hold them.
func pattern(parts ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(parts, "")) }

func TestWords_NothingForbiddenStandsAnywhere(t *testing.T) {
	for _, rule := range []struct {
		name    string
		forbids *regexp.Regexp
		spares  func(path string) bool
	}{
		{
			"registries are named by their clients, never by host",
			pattern(`(?i)\b(pypi`, `\.org|pythonhosted`, `\.org|registry\.npm`, `js\.org|proxy\.gol`, `ang\.org|deb\.deb`, `ian\.org|archive\.ub`, `untu\.com|huggingf`, `ace\.co)\b`),
			func(string) bool { return false },
		},
		{
			"scripts hold no address but of this machine or of an example",
			pattern(`ht`, `tps?://(?:[^1l\[e]|1[^2]|l[^o]|e[^x])`),
			func(path string) bool {
				return !strings.HasPrefix(path, "scripts/") && !strings.HasPrefix(path, ".ci/") && path != "Makefile"
			},
		},
		{
			"no path of one machine",
			pattern(`(?m)(?:^|[^a-z.])/(?:wo`, `rk|fa`, `rm|ro`, `ot|ho`, `me/[a-z]+)/`),
			func(string) bool { return false },
		},
		{
			"nothing is unfinished",
			pattern(`(?i)\b(?:TO`, `DO|FIX`, `ME|XX`, `X|not implem`, `ented|unimplem`, `ented|placeh`, `older)\b`),
			func(path string) bool {
				return strings.HasPrefix(path, "tests/") || strings.HasSuffix(path, "_test.go")
			},
		},
	} {
		t.Run(rule.name, func(t *testing.T) {
			for _, path := range files(t, []string{""}, []string{".go", ".sql", ".sh", ".md", ".toml", "Makefile", ".ci/run", ".json", ".yaml", ".txt"}) {
				if rule.spares(path) || strings.Contains(path, "/testdata/") {
					continue
				}
				text := read(t, path)
				for _, place := range rule.forbids.FindAllStringIndex(text, -1) {
					t.Errorf("%s:%d holds %q", path, 1+strings.Count(text[:place[0]], "\n"), text[place[0]:place[1]])
				}
			}
		})
	}
}
