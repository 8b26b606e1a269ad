package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
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

// Of real documents the text is found that their authors wrote, and no program text.
func TestLoad_ReadsRealDocuments(t *testing.T) {
	tests := []struct {
		file     string
		wants    []string
		unwanted []string
	}{
		{"md/supabase-disk-size.mdx", []string{"Plan: Pro; Included Disk Size: 8 GB; Over-Usage per GB per month: $0.125", "Disk size is not relevant for the Free Plan"}, []string{"<Price>", "<Admonition"}},
		{"md/evcc-faq-de.mdx", []string{"# Einrichtung › Kann ich evcc ohne Netzzähler betreiben?", "Es gibt keine automatische Migration."}, []string{":::", "<a id"}},
		{"md/owasp-llm04-it-crlf.md", nil, []string{"\r"}},
		{"md/anythingllm-readme-fa-rtl.md", nil, nil},
		{"md/hcgov-language-resource.md", nil, nil},
		{"md/octopus-electricity-entities.md", nil, nil},
		{"table/gc-infobase-faq-en-fr.csv", []string{"q_en: Where is GC InfoBase data sourced from? Is it reliable?", "D'où proviennent les données"}, []string{"<a ", "href="}},
		{"table/edu-recipients-preamble.csv", []string{`State Name: ALABAMA; State Abbreviate: AL; Code: 01; Montgomery GI Bill-Active Duty: 6,718`}, nil},
		{"table/locale-decimal-comma.csv", []string{"a: 1,7; b: 200.000.000."}, nil},
		{"table/mac-newlines.csv", []string{"a: 1; b: 2; c: 3.", "a: Once upon a time; b: 5; c: 6."}, nil},
		{"table/ne-1033.xlsx", []string{"# NE data", "nsn: 1005-00-589-1271; item_name: RIFLE,7.62 MILLIMETER; quantity: 1; ui: Each; acquisition_cost: 138"}, nil},
		{"table/dutch-geletterdheid.xlsx", []string{"Niveau: 1. Bewust; Kerncompetentie: Kennis en begrip"}, nil},
		{"json/product-docs-array.json", []string{"# Models", "Claude consists of a family of large language models"}, nil},
		{"html/readability-wikipedia/source.html", []string{"# Mozilla", "created in 1998 by members of Netscape"}, []string{"Jump to", "Privacy policy"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			doc, err := Load(tt.file, bytes.NewReader(readShared(t, "docs/"+tt.file)), Defaults{})
			if err != nil {
				t.Fatal(err)
			}
			text := allText(doc)
			for _, want := range tt.wants {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not found", want)
				}
			}
			for _, unwanted := range tt.unwanted {
				if strings.Contains(text, unwanted) {
					t.Errorf("%q is found", unwanted)
				}
			}
			checkChunks(t, doc, Doorstep())
		})
	}
}

// Files made to break parsers become text or a reason, also under the names of other formats.
func TestLoad_ReadsOrRefusesMalformedFiles(t *testing.T) {
	count := 0
	for _, folder := range []string{"json", "csv", "html"} {
		root := os.DirFS(filepath.Join(shared, "security/malformed", folder))
		err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			raw, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			for extension := range loaders() {
				count++
				doc, err := Load("a"+extension, bytes.NewReader(raw), Defaults{})
				if err != nil {
					if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
						t.Errorf("%s as %s: %v", name, extension, err)
					}
					continue
				}
				if chunks, err := Chunk(doc, Doorstep()); err != nil || len(chunks) == 0 {
					t.Errorf("%s as %s: %d chunks, %v", name, extension, len(chunks), err)
				}
				if isInvalid := folder == "json" && strings.HasPrefix(filepath.Base(name), "n_") && extension == ".json"; isInvalid {
					t.Errorf("%s is read and is no JSON", name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("the files of ../shared/data are needed: %v", err)
		}
	}
	if count == 0 {
		t.Fatal("the files of ../shared/data are needed")
	}
}
