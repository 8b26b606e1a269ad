package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// O16: a scalar that is used as text keeps its spelling, whatever type YAML sees in it.
func TestFrontMatter_KeepsTheSpellingOfScalars(t *testing.T) {
	facts, rest, lines, err := frontMatter(`---
title: 2026-05-26
version: 1.10
active: no
flag: true
hex: 0x1F
zeros: 007
id: 9007199254740993
price: 1299.00
exp: 1e3
nothing: ~
quoted: "a # b"
comment: a # b
block: |
  one
  two
list: [a, b]
map:
  k: v
'quoted key': x
---
Body`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, it := range facts {
		got[name] = it.value
	}
	want := map[string]string{
		"title": "2026-05-26", "version": "1.10", "active": "no", "flag": "true", "hex": "0x1F",
		"zeros": "007", "id": "9007199254740993", "price": "1299.00", "exp": "1e3", "nothing": "",
		"quoted": "a # b", "comment": "a", "block": "one\ntwo\n", "quoted key": "x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rest != "Body" || lines != 21 || facts["price"].line != 9 {
		t.Errorf("rest %q, lines %d, price on line %d", rest, lines, facts["price"].line)
	}
}

// O17: a document that opens with a rule keeps its first section.
func TestFrontMatter_IsTextWhenItIsNotKeysAndValues(t *testing.T) {
	for name, text := range map[string]string{
		"a blank first line":    "---\n\n## Tarifas\nPlan Uno 49 €\n\n---\nOtros",
		"a blank line and YAML": "---\n\nPlan: Uno 49 €\n\n---\nOtros",
		"a heading":             "---\n## Tarifas\nPlan Uno 49 €\n---\nOtros",
		"a sentence":            "---\nPlan Uno 49 €\n---\nOtros",
		"a list":                "---\n- Plan Uno 49 €\n---\nOtros",
		"a colon in sentences":  "---\nNote: this: that\nPlan Uno 49 €\n---\nOtros",
		"a comment only":        "---\n# Plan Uno 49 €\n---\nOtros",
		"no second rule":        "---\nnote: Plan Uno 49 €\n\nOtros",
		"a rule further down":   "Plan Uno 49 €\n\n---\ntitle: x\n---\nOtros",
		"two documents":         "---\nPlan: Uno 49 €\n...\nb: c\n---\nOtros",
		"text without end":      "---\n" + strings.Repeat("Plan Uno 49 €\n", 1000) + "---\nOtros",
	} {
		t.Run(name, func(t *testing.T) {
			doc := mustLoad(t, "prices/a.md", text)
			chunks, err := Chunk(doc, Doorstep())
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, c := range chunks {
				all.WriteString(c.HeadingPath + "\n" + c.Content + "\n")
			}
			for _, want := range []string{"49 €", "Otros"} {
				if !strings.Contains(all.String(), want) {
					t.Errorf("%q is lost in %q", want, all.String())
				}
			}
		})
	}
}

// O18: a document without front matter is a good document.
func TestFrontMatter_MayBeAbsent(t *testing.T) {
	doc := mustLoad(t, "notes.md", "# Notes\n\n## Only headings\n")
	if doc.Source.Title != "Notes" || len(doc.Sections) != 2 {
		t.Errorf("got %+v", doc)
	}
}

// A block that names one of our facts but can't be read would, taken for text, lose the visibility.
func TestFrontMatter_RefusesABrokenBlockThatNamesAFact(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unquoted colon", "---\nvisibility: private\ntitle: Prices: 2026\n---\nx", "malformed: line 3: the front matter is not YAML keys and values"},
		{"key given twice", "---\ntype: faq\ntype: price\n---\nx", "malformed: line 3: the front matter is not YAML keys and values"},
		{"open quote", "---\n\"title\": 'x\n---\nx", "malformed: line 2: the front matter is not YAML keys and values"},
		{"never closed", "---\ntitle: x\nvisibility: private\n\nText", "malformed: line 1: the front matter has no closing ---"},
		{"endless", "---\ntitle: x\nnote: " + strings.Repeat("y", maxFrontMatter) + "\n---\nx", "malformed: line 1: the front matter is longer than 8192 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.md", strings.NewReader(tt.text), Defaults{})
			if refusal, ok := err.(*Refusal); !ok || refusal.Why() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
