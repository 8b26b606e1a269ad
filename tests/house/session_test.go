package house_test

import (
	"regexp"
	"testing"
)

// What belongs to a session outlives its client behind a transaction pooler, and then it is another
// client's: locks, settings and prepared statements of sessions have no place in the product. P4
func TestSession_NothingOutlivesItsTransaction(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"a lock of the session":      regexp.MustCompile(`(?i)\bpg_(try_)?advisory_(lock|unlock)`),
		"a setting of the session":   regexp.MustCompile(`(?i)\bset_config\([^)]*,\s*false\s*\)`),
		"a statement of the session": regexp.MustCompile(`(?im)\bprepare\s+\w+\s+as\b|QueryExecMode(CacheStatement|CacheDescribe|DescribeExec|SimpleProtocol)\b`),
		"a channel of the session":   regexp.MustCompile(`(?im)^\s*listen\s+\w+\s*;`),
	}
	for _, path := range files(t, []string{"sql/", "functions/internal/"}, []string{".sql", ".go"}) {
		if regexp.MustCompile(`_test\.go$`).MatchString(path) {
			continue
		}
		for what, pattern := range forbidden {
			if found := pattern.FindString(read(t, path)); found != "" {
				t.Errorf("%s has %s: %q", path, what, found)
			}
		}
	}
}
