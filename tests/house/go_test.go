package house_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestGo_EveryPackageSaysWhatItIsFor(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t, "") {
		documented[s.folder] = documented[s.folder] || s.syntax.Doc.Text() != ""
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", folder)
		}
	}
}

// imports say who may import what; tests may import anything.
var imports = []struct {
	what    string   // the beginning of an import path
	only    []string // the folders that may; "*" stands for one name
	because string
}{
	{"github.com/jackc/pgx", []string{"functions/internal/store", "functions/local/postgres"}, "SQL goes through store"},
	{"google.golang.org/genai", []string{"functions/internal/model"}, "a provider stays behind the interfaces of model"},
	{"github.com/yalue/onnxruntime_go", []string{"functions/internal/model"}, "as genai"},
	{"github.com/klippa-app/go-pdfium", []string{"functions/internal/pdf"}, "a PDF is parsed in a child process alone"},
	{"github.com/aws/aws-lambda-go", []string{"functions/*"}, "handlers are ordinary http.Handlers; only a main knows Lambda"},
	{"github.com/alecthomas/kong", []string{"functions/local"}, "only the command has a command line"},
	{"log", []string{"functions/internal/web", "functions/internal/app", "functions/*"}, "only web logs; what wires it may make the logger"},
	{"log/slog", []string{"functions/internal/web", "functions/internal/app", "functions/internal/config", "functions/local/auth", "functions/*"}, "as log; config only keeps secrets out of it, local/auth stands for another server"},
	{"porchlight/functions/internal/app", []string{"functions/*"}, "main comes first: main, app, web, turn"},
	{"porchlight/functions/internal/web", []string{"functions/internal/app", "functions/*"}, "main, app, web, turn"},
	{"porchlight/functions/internal/turn", []string{"functions/internal/web", "functions/internal/app", "functions/internal/store", "functions/*"}, "main, app, web, turn; store fills turn's types"},
}

func TestGo_ImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t, "functions/") {
		for _, spec := range s.syntax.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range imports {
				if s.isTest() || path != rule.what && !strings.HasPrefix(path, rule.what+"/") || path == "log/slog" && rule.what == "log" {
					continue
				}
				if !slices.ContainsFunc(append(rule.only, strings.TrimPrefix(rule.what, "porchlight/")), func(folder string) bool { return within(folder, s.folder) }) {
					t.Errorf("%s:%d imports %s: %s", s.path, s.line(spec), path, rule.because)
				}
			}
		}
	}
}

// within says whether the folder is the one of the rule; "functions/*" is one level, not more.
func within(rule, folder string) bool {
	if parent, ok := strings.CutSuffix(rule, "/*"); ok {
		rest, below := strings.CutPrefix(folder, parent+"/")
		return below && !strings.Contains(rest, "/")
	}
	return folder == rule
}

// rooms know nothing of each other; only what wires them does. One exception: extract reads words and
// figures as guard does, so that what it picks passes.
var rooms = []string{"store", "model", "guard", "prompt", "ingest", "extract"}

func TestGo_RoomsDoNotKnowEachOther(t *testing.T) {
	for _, s := range sources(t, "functions/internal/") {
		if s.isTest() {
			continue
		}
		for _, spec := range s.syntax.Imports {
			here := strings.Split(strings.TrimPrefix(s.folder, "functions/internal/"), "/")[0]
			there, internal := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "porchlight/functions/internal/")
			there = strings.Split(there, "/")[0]
			if here == "extract" && there == "guard" {
				continue
			}
			if internal && here != there && slices.Contains(rooms, here) && slices.Contains(rooms, there) {
				t.Errorf("%s:%d: %s imports %s", s.path, s.line(spec), here, there)
			}
		}
	}
}

var sqlText = regexp.MustCompile(`(?is)\bselect\s.+\sfrom\s|\binsert\s+into\s|\bupdate\s+\S+\s+set\s|\bdelete\s+from\s|\bselect\s+(api|app|private)\.|\bset_config\(`)

func TestGo_SQLTextStandsInStore(t *testing.T) {
	allowed := []string{
		"functions/internal/store",
		"functions/local/postgres", // the database itself: roles, databases, migrations; its package comment says so
	}
	for _, s := range sources(t, "functions/") {
		if s.isTest() || slices.Contains(allowed, s.folder) {
			continue
		}
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if ok && literal.Kind == token.STRING && sqlText.MatchString(literal.Value) {
				t.Errorf("%s:%d holds SQL text", s.path, s.line(literal))
			}
			return true
		})
	}
}

func TestGo_NothingRunsByItself(t *testing.T) {
	for _, s := range sources(t, "functions/", "supabase/") {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Name.Name == "init" && node.Recv == nil {
					t.Errorf("%s:%d has an init", s.path, s.line(node))
				}
			case *ast.SelectorExpr:
				from, ok := node.X.(*ast.Ident)
				root := node.Sel.Name == "Background" || node.Sel.Name == "TODO"
				if ok && from.Name == "context" && root && s.syntax.Name.Name != "main" {
					t.Errorf("%s:%d makes a context of its own", s.path, s.line(node))
				}
			}
			return true
		})
	}
}

func TestGo_TestsAreNotSkipped(t *testing.T) {
	skip := regexp.MustCompile(`\.Skip(f|Now)?\(`)
	for _, s := range sources(t, "") {
		if !s.isTest() || s.folder == "tests/house" {
			continue
		}
		lines := strings.Split(read(t, s.path), "\n")
		for i, line := range lines {
			reason := strings.Join(lines[max(0, i-1):i+1], "\n")
			if skip.MatchString(line) && !strings.Contains(reason, "shared") {
				t.Errorf("%s:%d skips for another reason than absent shared data", s.path, i+1)
			}
		}
	}
}
