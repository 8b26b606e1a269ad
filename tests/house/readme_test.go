package house_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadme_MapEqualsTheTree: the README has a heading with the word "map" and under it a fenced
// block, one line a place: names, then two blanks and what is there; what lies deeper is indented.
// Every name exists, the top level is complete, and so is every folder that the map opens.
func TestReadme_MapEqualsTheTree(t *testing.T) {
	opened, listed := readMap(t)
	children := map[string]map[string]bool{}
	for _, file := range files(t, []string{""}, []string{""}) {
		for child := file; child != "."; child = path.Dir(child) {
			parent := path.Dir(child)
			if children[parent] == nil {
				children[parent] = map[string]bool{}
			}
			children[parent][child] = children[parent][child] || child != file // folders are true
		}
	}
	for _, name := range listed {
		if _, exists := children[path.Dir(name)][name]; !exists {
			t.Errorf("the map names %s, which does not exist", name)
		}
	}
	for folder := range opened {
		for child, isFolder := range children[folder] {
			hidden := strings.HasPrefix(path.Base(child), ".")
			if (isFolder || folder == ".") && !hidden && !slices.Contains(listed, child) {
				t.Errorf("the map does not name %s", child)
			}
		}
	}
}

// readMap returns the folders that the map opens and everything that it lists.
func readMap(t *testing.T) (opened map[string]bool, listed []string) {
	t.Helper()
	block := regexp.MustCompile("(?ims)^#+ [^\n]*\\bmap\\b[^\n]*\n.*?^```[a-z]*\n(.*?)^```").FindStringSubmatch(read(t, "README.md"))
	if block == nil {
		t.Fatal("README.md has no map: a heading with that word and a fenced block")
	}
	opened = map[string]bool{".": true}
	parents := []string{"."} // by depth
	indents := []int{-1}
	for line := range strings.Lines(block[1]) {
		names := strings.TrimLeft(line, " ")
		indent := len(line) - len(names)
		names, _, _ = strings.Cut(strings.TrimSpace(names), "  ")
		if names == "" {
			continue
		}
		for indent <= indents[len(indents)-1] {
			indents, parents = indents[:len(indents)-1], parents[:len(parents)-1]
		}
		parent := parents[len(parents)-1]
		opened[parent] = true
		var last string
		for _, name := range strings.Fields(names) {
			last = path.Join(parent, name)
			listed = append(listed, last)
		}
		indents, parents = append(indents, indent), append(parents, last)
	}
	return opened, listed
}

func TestReadme_NamesOnlyTargetsThatExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, parts := range regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`).FindAllStringSubmatch(read(t, "README.md"), -1) {
		if !regexp.MustCompile(`(?m)^` + parts[1] + `:`).MatchString(makefile) {
			t.Errorf("README.md says make %s, which the Makefile does not have", parts[1])
		}
	}
}

// TestReadme_GuaranteesNameTestsThatExist: every Test… and every tests/…sql in backticks is there.
func TestReadme_GuaranteesNameTestsThatExist(t *testing.T) {
	checkNamedTests(t, "README.md", read(t, "README.md"), 20)
}

// checkNamedTests wants at least that many tests named in text, each of which exists.
func checkNamedTests(t *testing.T, where, text string, atLeast int) {
	t.Helper()
	declared := declaredTests(t)
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+|tests/sql/[\\w/]+\\.sql)`").FindAllStringSubmatch(text, -1)
	if len(named) < atLeast {
		t.Errorf("%s names %d tests", where, len(named))
	}
	for _, parts := range named {
		if !declared[parts[1]] {
			t.Errorf("%s names %s, which does not exist", where, parts[1])
		}
	}
}

// declaredTests are the names of all Go tests and the paths of all SQL tests.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	for _, file := range files(t, []string{"functions", "tests"}, []string{"_test.go"}) {
		for _, parts := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			declared[parts[1]] = true
		}
	}
	for _, file := range files(t, []string{"tests/sql"}, []string{".sql"}) {
		declared[file] = true
	}
	return declared
}
