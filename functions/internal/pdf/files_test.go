package pdf

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// shared holds real and malformed files; it lies outside of the repository.
const shared = "../../../../shared/data"

// expected are files of which it is known what they hold: a text that is in it, or the reason.
var expected = map[string]struct{ text, reason string }{
	"encrypted-user-password-2.pdf":   {"", Encrypted},
	"scanned-french.pdf":              {"", NoText},
	"scanned-product-sheet-linn.pdf":  {"", NoText},
	"federal-register-3-column.pdf":   {"To ensure that an erroneous signal\nfrom a failed single AOA sensor does\nnot prevent continued safe flight and\nlanding", ""},
	"french-minutes.pdf":              {"", ""},
	"hcgov-checklist.pdf":             {"You can apply for 2014 coverage as soon as October 1, 2013.", ""},
	"northwind-standard-benefits.pdf": {"Northwind Standard", ""},
	"table-schools.pdf":               {"Dady Michael 1415 Summit Ave. Saint Paul MN 55105 9/14/2012 500.00", ""},
	"ulta-2023q4-earnings.pdf":        {"Merchandise inventories, net 1,603,451 1,499,218", ""},
	"Pages-tree-refs.pdf":             {"", Damaged},
	"GHOSTSCRIPT-698804-1-fuzzed.pdf": {"", NoText},
	"REDHAT-1531897-0.pdf":            {"", Damaged},
	"operator_list_cycle.pdf":         {"", NoText},
}

// S5, O05: every file gives text or a reason, one after another, and the parent stays as it is.
func TestText_EveryFileGivesTextOrAReason(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared, "docs", "pdf", "*.pdf"))
	malformed, err2 := filepath.Glob(filepath.Join(shared, "security", "malformed", "pdf", "*", "*.pdf"))
	if files = append(files, malformed...); err != nil || err2 != nil || len(files) < len(expected) {
		t.Fatalf("the PDF files of ../shared/data are needed: %d found", len(files))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	seen := 0
	for _, path := range files {
		name := filepath.Base(path)
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := newReader().Text(t.Context(), file)
		_ = file.Close()
		text := strings.Join(pages, "\n\n")
		want, isKnown := expected[name]
		switch {
		case isKnown:
			seen++
			if want.reason != "" {
				refused(t, err, want.reason)
			} else if err != nil || !strings.Contains(text, want.text) {
				t.Errorf("%s: %v, and it should say %q", name, err, want.text)
			}
		case err != nil:
			refused(t, err, Encrypted, NoText, Damaged, TooLarge, TimedOut)
		case strings.TrimSpace(text) == "":
			t.Errorf("%s: nothing is no text", name)
		}
		if strings.ContainsAny(text, "\x00\x02\r\uFB01\uFB02") {
			t.Errorf("%s: a character that is none", name)
		}
		t.Logf("%s: %d pages, %d bytes, %v", name, len(pages), len(text), err)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("the parent grew by %d MB", grown>>20)
	}
	if seen != len(expected) {
		t.Errorf("%d of %d known files were there", seen, len(expected))
	}
}
