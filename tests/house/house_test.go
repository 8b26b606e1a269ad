// Package house_test holds the rules of this repository as tests: what may import what, where SQL text
// may stand, how long things may be, and that two sides of one truth agree. A rule that no longer fits
// is changed here, with the reason.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// files returns the paths of everything that is or will be committed, below any of the folders, with
// any of the endings.
func files(t *testing.T, folders, endings []string) (paths []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(output), "\x00"), "\x00") {
		begins := func(folder string) bool { return strings.HasPrefix(path, folder) }
		ends := func(ending string) bool { return strings.HasSuffix(path, ending) }
		if !slices.ContainsFunc(folders, begins) || !slices.ContainsFunc(endings, ends) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, path)); err == nil { // not one that is being removed
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		t.Fatalf("no %v below %v: the rule looks at nothing", endings, folders)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// source is a parsed Go file.
type source struct {
	path   string // from the root of the repository
	folder string // of path
	syntax *ast.File
	lines  *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) line(node ast.Node) int { return s.lines.Position(node.Pos()).Line }

// sources parses the Go files below any of the folders.
func sources(t *testing.T, folders ...string) (parsed []source) {
	t.Helper()
	for _, path := range files(t, folders, []string{".go"}) {
		lines := token.NewFileSet()
		syntax, err := parser.ParseFile(lines, path, read(t, path), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, source{path: path, folder: filepath.Dir(path), syntax: syntax, lines: lines})
	}
	return parsed
}
