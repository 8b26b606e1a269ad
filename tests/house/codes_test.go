package house_test

import (
	"go/ast"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const problemFile = "functions/internal/problem/problem.go"

var (
	comment = regexp.MustCompile(`(?m)--.*$`)
	refusal = regexp.MustCompile(`(?s)private\.refuse\(\s*(\d+)\s*,\s*'(\w+)'`)
	raised  = regexp.MustCompile(`(?s)\braise\s+(?:exception\s+using\s+errcode\s*=|sqlstate)\s*'PT(\d+)'[^;]*?message\s*=\s*'(\w+)'`)
	raising = regexp.MustCompile(`(?i)\braise\s+(?:exception|sqlstate)|\bperform\s+private\.refuse\b`)
	generic = regexp.MustCompile(`raise exception using errcode = 'PT' \|\| p_status, message = p_code`) // private.refuse itself
)

// TestCodes_AreEqualOnBothSides: what the database refuses with, the server knows, with one status.
func TestCodes_AreEqualOnBothSides(t *testing.T) {
	statuses := statusesByCode(t)
	for _, path := range files(t, []string{"sql/"}, []string{".sql"}) {
		text := comment.ReplaceAllString(read(t, path), "")
		refusals := append(refusal.FindAllStringSubmatch(text, -1), raised.FindAllStringSubmatch(text, -1)...)
		for _, parts := range refusals {
			status, code := parts[1], parts[2]
			switch known, ok := statuses[code]; {
			case !ok:
				t.Errorf("%s raises %q, which package problem does not know", path, code)
			case strconv.Itoa(known) != status:
				t.Errorf("%s raises %q with status %s, package problem has %d", path, code, status, known)
			}
		}
		if all := len(raising.FindAllString(text, -1)); all != len(refusals)+len(generic.FindAllString(text, -1)) {
			t.Errorf("%s raises %d times, %d of them with a status and a code", path, all, len(refusals))
		}
	}
}

// statusesByCode reads the constants and the one table of package problem, which tests outside
// functions/ cannot import.
func statusesByCode(t *testing.T) map[string]int {
	t.Helper()
	names := map[string]int{}
	for status := 400; status < 600; status++ {
		names["Status"+strings.ReplaceAll(http.StatusText(status), " ", "")] = status
	}
	codes, statuses := map[string]string{}, map[string]int{}
	ast.Inspect(sources(t, problemFile)[0].syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec:
			if kind, ok := node.Type.(*ast.Ident); ok && kind.Name == "Code" {
				codes[node.Names[0].Name] = strings.Trim(node.Values[0].(*ast.BasicLit).Value, `"`)
			}
		case *ast.KeyValueExpr:
			key, isName := node.Key.(*ast.Ident)
			row, isRow := node.Value.(*ast.CompositeLit)
			if isName && isRow && codes[key.Name] != "" {
				statuses[codes[key.Name]] = names[row.Elts[0].(*ast.SelectorExpr).Sel.Name]
			}
		}
		return true
	})
	if len(codes) == 0 || len(statuses) != len(codes) {
		t.Fatalf("%s has %d codes and %d rows in its table", problemFile, len(codes), len(statuses))
	}
	return statuses
}
