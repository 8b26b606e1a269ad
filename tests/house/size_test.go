package house_test

import (
	"go/ast"
	"strings"
	"testing"
)

func TestSize_FilesAreOneThing(t *testing.T) {
	for _, rule := range []struct {
		folder, ending string
		most           int
	}{
		{"", ".go", 300},
		{"sql/", ".sql", 200},
		{"scripts/", ".sh", 60},
		{".ci/", "run", 60},
	} {
		for _, path := range files(t, []string{rule.folder}, []string{rule.ending}) {
			text := read(t, path)
			if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(text, "// Code generated ") {
				continue
			}
			if lines := strings.Count(text, "\n"); lines > rule.most {
				t.Errorf("%s has %d lines, at most %d", path, lines, rule.most)
			}
		}
	}
}

func TestSize_FunctionsFitAScreen(t *testing.T) {
	for _, s := range sources(t, "") {
		if s.isTest() {
			continue
		}
		for _, declaration := range s.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			if lines := s.lines.Position(function.End()).Line - s.line(function) + 1; lines > 60 {
				t.Errorf("%s:%d: %s has %d lines, at most 60", s.path, s.line(function), function.Name.Name, lines)
			}
		}
	}
}

func TestSize_LambdaMainsOnlyWire(t *testing.T) {
	for _, path := range files(t, []string{"functions/"}, []string{"/main.go"}) {
		if strings.HasPrefix(path, "functions/local/") {
			continue
		}
		if lines := strings.Count(read(t, path), "\n"); lines > 20 {
			t.Errorf("%s has %d lines, at most 20", path, lines)
		}
	}
}
