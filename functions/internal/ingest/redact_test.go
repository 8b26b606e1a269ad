package ingest

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/redact"
)

const reviewed = "reviewer: Ines Marlow\nreviewed_at: 2026-11-18\nliterals: [Wren Halloway]\n"

func policyOf(t *testing.T, text string) redact.Policy {
	t.Helper()
	p, err := redact.ReadPolicy(fstest.MapFS{redact.PolicyFile: {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// load reads a file of a library and redacts it.
func load(t *testing.T, key, text string, p redact.Policy) (Document, error) {
	t.Helper()
	doc, err := Load(key, strings.NewReader(text), Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	return Redact(doc, p, *day("2026-11-20"))
}

// D3: mail, number, name in title, heading, text, table, address and metadata.
func TestRedact_ReachesEveryTextOfADocument(t *testing.T) {
	doc, err := load(t, "articles/sheet.md", `---
title: Sheet of Wren Halloway
visibility: private
url: https://desk.example/people?mail=wren@desk.example
phone: 467 3395
topic: margins
---
# Sheet of wren halloway

Ask w r e n@desk.example or wren [at] desk [dot] example. Margin: 12,50 €.

## Phone

467 3395

| Name | IBAN |
|---|---|
| W. Halloway-Wren Halloway | DE89 3704 0044 0532 0130 00 |
`, policyOf(t, reviewed))
	if err != nil {
		t.Fatal(err)
	}
	want := Document{
		Source: corpus.Source{
			Type: "article", Key: "articles/sheet.md", Title: "Sheet of [redacted]", Language: "en", Visibility: corpus.Private,
			Metadata: map[string]any{"phone": "[phone]", "topic": "margins"},
		},
		Sections: []Section{
			{
				Headings: []string{"Sheet of [redacted]"},
				Blocks:   []Block{{Paragraph, "Ask w r e [email] or [email]. Margin: 12,50 €."}},
			},
			{
				Headings: []string{"Sheet of [redacted]", "Phone"},
				Blocks:   []Block{{Paragraph, "[phone]"}, {Row, "Name: W. Halloway-[redacted]; IBAN: [iban]."}},
			},
		},
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Error(diff)
	}
}

func TestReadPolicy_OfAFolderWithoutOneIsNone(t *testing.T) {
	fsys, folder, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if p, err := redact.ReadPolicy(fsys); err != nil || p.IsThere() {
		t.Errorf("there %t, %v", p.IsThere(), err)
	}
}

// Prices, products and rules pass: the private sheets of both brands come through as they are.
func TestRedact_TakesNothingFromASheetOfPrices(t *testing.T) {
	for _, brand := range []string{"glowmere-energy", "skeinwick-fibre"} {
		fsys := os.DirFS(filepath.Join("..", "..", "..", "tests", "corpora", brand))
		p, err := redact.ReadPolicy(fsys)
		if err != nil || !p.IsReviewed(*day("2026-11-20")) {
			t.Fatalf("%s: %v", brand, err)
		}
		file, err := fsys.Open("prices/internal-margins.md")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		doc, err := Load("prices/internal-margins.md", file, Defaults{})
		if err != nil || doc.Source.Visibility != corpus.Private {
			t.Fatalf("%s: %q, %v", brand, doc.Source.Visibility, err)
		}
		got, err := Redact(doc, p, *day("2026-11-20"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(doc, got); diff != "" {
			t.Errorf("%s: %s", brand, diff)
		}
	}
}

func TestRedact_ReadsNestedMetadata(t *testing.T) {
	before := Document{Source: corpus.Source{Key: "a.md", Visibility: corpus.Private, Metadata: map[string]any{
		"list": []any{"x", "wren@desk.example"}, "map": map[string]any{"fax": "467 3395", "n": 12}, "card": 4111111111111111,
	}}}
	doc, err := Redact(before, policyOf(t, reviewed), *day("2026-11-20"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"list": []any{"x", "[email]"}, "map": map[string]any{"fax": "[phone]", "n": 12}, "card": "[card]"}
	if diff := cmp.Diff(want, doc.Source.Metadata); diff != "" {
		t.Error(diff)
	}
	if before.Source.Metadata["list"].([]any)[1] != "wren@desk.example" {
		t.Error("the document that was given is changed")
	}
}

func TestRedact_LeavesOtherDocumentsAlone(t *testing.T) {
	for _, visibility := range []string{"public", "tenant"} {
		doc, err := load(t, "faq/a.md", "---\nvisibility: "+visibility+"\n---\nWrite to desk@brand.example", redact.Policy{})
		if err != nil || doc.Sections[0].Blocks[0].Text != "Write to desk@brand.example" {
			t.Errorf("%s: %+v, %v", visibility, doc.Sections, err)
		}
	}
}

func TestRedact_KeepsAnAddressThatTellsNothing(t *testing.T) {
	const text = "---\nvisibility: private\nurl: https://desk.example/sheet\n---\ntext"
	doc, err := load(t, "a.md", text, policyOf(t, reviewed+"kinds: [email]\n"))
	if err != nil || doc.Source.URL != "https://desk.example/sheet" {
		t.Errorf("without the kind url: %q, %v", doc.Source.URL, err)
	}
	if doc, err = load(t, "a.md", text, policyOf(t, reviewed)); err != nil || doc.Source.URL != "" {
		t.Errorf("with all kinds: %q, %v", doc.Source.URL, err)
	}
}

func TestRedact_RefusesByNameAndNeverByText(t *testing.T) {
	tests := []struct{ name, policy, key, text, want string }{
		{"no policy", "", "a.md", "text", "a.md: redaction_policy_missing: a private document needs a redaction.yaml that somebody has reviewed"},
		{"nobody's policy", "reviewed_at: 2026-11-18\n", "a.md", "text", "a.md: redaction_policy_not_reviewed: redaction.yaml needs reviewer and reviewed_at, a day that is not to come"},
		{"a policy of tomorrow", "reviewer: I\nreviewed_at: 2026-12-18\n", "a.md", "text", "a.md: redaction_policy_not_reviewed: redaction.yaml needs reviewer and reviewed_at, a day that is not to come"},
		{"a survivor in the text", reviewed, "a.md", "# A\n\ntext\n\n# B\n\njane@intranet", "a.md: not_redacted: email is left in the text of section 2: take it out, or list it in redaction.yaml"},
		{"a survivor in a heading", reviewed, "a.md", "# jane@intranet\n\ntext", "a.md: not_redacted: email is left in the title: take it out, or list it in redaction.yaml"},
		{"a name as the name of a file", reviewed, "people/wren-halloway.md", "text", "people/[redacted].md: not_redacted: personal data in the name of the file: rename it"},
		{"a name as the name of a folder", reviewed, "wren_halloway/a.md", "text", "[redacted]: not_redacted: personal data in the name of the file: rename it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p redact.Policy
			if tt.policy != "" {
				p = policyOf(t, tt.policy)
			}
			doc, err := load(t, tt.key, "---\nvisibility: private\n---\n"+tt.text, p)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got %v\nwant %s", err, tt.want)
			}
			if diff := cmp.Diff(Document{}, doc); diff != "" {
				t.Errorf("a refused document came back: %s", diff)
			}
		})
	}
}

// S8, D3: of a document that is stopped, and of one that is redacted, no secret is in a call of the store
// or of a model, in a log, on a screen, in an error or in the progress of the run.
func TestReindex_LeavesNoTraceOfPersonalData(t *testing.T) {
	secrets := []string{"halloway", "jane", "intranet", "467 3395", "4673395", "c01x00t47", "zonk@"}
	const head = "---\nvisibility: private\ntopic: Wren Halloway\n---\n"
	w := newWorld(t, map[string]string{
		"a/clean.md":         head + "# Wren Halloway\n\nPassport: C01X00T47. Phone: 467 3395.",
		"b/survivor.md":      head + "Wren Halloway, jane@intranet",
		"c/wren-halloway.md": head + "text",
		"d/malformed.md":     "---\nvisibility: private\ntype: zonk@halloway.example\n---\ntext",
		"f/public.md":        "all may read this",
	})
	w.Policy = policyOf(t, reviewed)

	seen := capture(t, func() {
		s, err := w.Run(context.Background(), Selection{All: true})
		fmt.Printf("%+v %v\n", s.Counts, err)
		for _, f := range s.Failures {
			fmt.Println(f.Error())
		}
		if s.Status != Partial || s.Indexed != 2 || len(s.Failures) != 3 {
			t.Errorf("summary %+v", s)
		}
	})
	seen += fmt.Sprintf("%+v %+v %+v %+v %+v %+v", w.store.planned, w.store.applied, w.store.failed, w.store.ends, w.progress, w.primary.calls)
	for key, stored := range w.store.sources {
		seen += fmt.Sprintf("%s %+v", key, *stored)
	}
	for _, secret := range secrets {
		if at := strings.Index(strings.ToLower(seen), secret); at >= 0 {
			t.Errorf("%q is told: …%s…", secret, seen[max(0, at-60):min(len(seen), at+60)])
		}
	}
	if got := w.store.texts("a/clean.md"); !slices.Equal(got, []string{"Passport: [personal detail]. Phone: [phone]."}) {
		t.Errorf("stored %q", got)
	}
	wantFailed := map[string]string{
		"b/survivor.md":   "not_redacted: email is left in the text of section 1: take it out, or list it in redaction.yaml",
		"c/[redacted].md": "not_redacted: personal data in the name of the file: rename it",
		"d/malformed.md":  `malformed: line 3: unknown type "[email]"`,
	}
	if diff := cmp.Diff(wantFailed, w.store.failed); diff != "" {
		t.Error(diff)
	}
}

// capture returns what work prints and logs.
func capture(t *testing.T, work func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout, stderr, logger := os.Stdout, os.Stderr, slog.Default()
	var logged bytes.Buffer
	os.Stdout, os.Stderr = file, file
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer func() {
		os.Stdout, os.Stderr = stdout, stderr
		slog.SetDefault(logger)
		log.SetOutput(os.Stderr)
	}()
	work()
	printed, err := os.ReadFile(file.Name())
	if err != nil || len(printed) == 0 {
		t.Fatalf("nothing was captured: %v", err)
	}
	return string(printed) + logged.String()
}

// What became private and can't be redacted is not served in the version that all could read.
func TestReindex_RemovesWhatRedactionRefuses(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "jane@intranet knows", "b.md": "text", "c.md": "text"})
	w.run(t)
	w.put("a.md", "---\nvisibility: private\n---\njane@intranet knows")
	w.put("b.md", "\xff") // for any other reason the version before stays
	if got := w.run(t); got.Retired != 1 || w.store.sources["a.md"] != nil || w.store.sources["b.md"] == nil {
		t.Errorf("summary %+v", got)
	}
	if last := w.store.ends[len(w.store.ends)-1].Listing; !slices.Equal(last, []string{"b.md", "c.md"}) {
		t.Errorf("listing %q", last)
	}
}

func TestPreview_TellsWhatRedactionWouldRefuse(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "---\nvisibility: private\n---\ntext", "b.md": "text"})
	stored := &reader{plans: map[string]Plan{"b.md": {}}}
	got, err := w.Preview(t.Context(), stored, Selection{All: true})
	if err != nil || len(got.Failures) != 1 || got.Failures[0].Reason != PolicyMissing || !slices.Equal(stored.asked, []string{"b.md"}) {
		t.Errorf("%+v, asked about %q, %v", got, stored.asked, err)
	}
}
