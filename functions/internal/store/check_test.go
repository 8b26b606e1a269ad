package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A door that is called and not on the list would be missed for the first time by somebody's question.
func TestCheck_KnowsEveryDoorThatIsCalled(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var called []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range regexp.MustCompile(`\bapi\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
			names := []string{parts[1]}
			if strings.HasSuffix(parts[1], "_") { // the name of an index follows
				names = []string{parts[1] + "fallback", parts[1] + "local", parts[1] + "primary"}
			}
			called = append(called, names...)
		}
	}
	slices.Sort(called)
	if called = slices.Compact(called); !slices.Equal(called, doors) {
		t.Errorf("called %v\nlisted %v", called, doors)
	}
}
