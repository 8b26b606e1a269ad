package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared is the folder with real documents that stands beside the project.
const shared = "../../../../shared/data"

func readShared(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		t.Fatalf("the documents of ../shared/data are needed: %v", err)
	}
	return raw
}

// allText is what a document says, on one line a block.
func allText(doc Document) string { return strings.Join(texts(doc), "\n") }

// Of real pages what the author wrote is found, and what surrounds it is not.
func TestHTML_FindsTheContentOfRealPages(t *testing.T) {
	var found, wanted, absent, unwanted int
	lines := bufio.NewScanner(bytes.NewReader(readShared(t, "docs/html_eval/manifest.jsonl")))
	for lines.Scan() {
		var page struct {
			File        string
			Contains    []string
			NotContains []string `json:"not_contains"`
		}
		if err := json.Unmarshal(lines.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		doc, err := Load(page.File, bytes.NewReader(readShared(t, "docs/html_eval/"+page.File)), Defaults{})
		if err != nil {
			t.Error(err)
		}
		text := strings.Join(strings.Fields(allText(doc)), " ")
		for _, s := range page.Contains {
			wanted++
			if strings.Contains(text, strings.Join(strings.Fields(s), " ")) {
				found++
			} else {
				t.Logf("%s lacks %q", page.File, s)
			}
		}
		for _, s := range page.NotContains {
			unwanted++
			if !strings.Contains(text, strings.Join(strings.Fields(s), " ")) {
				absent++
			} else {
				t.Logf("%s holds %q", page.File, s)
			}
		}
	}
	t.Logf("found %d of %d, absent %d of %d", found, wanted, absent, unwanted)
	if float64(found) < .9*float64(wanted) || float64(absent) < .85*float64(unwanted) || wanted == 0 {
		t.Errorf("found %d of %d, want .90; absent %d of %d, want .85", found, wanted, absent, unwanted)
	}
}
