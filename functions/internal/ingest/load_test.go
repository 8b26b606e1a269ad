package ingest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
)

func mustLoad(t *testing.T, key, text string) Document {
	t.Helper()
	doc, err := Load(key, strings.NewReader(text), Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func day(s string) *time.Time {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return &d
}

func TestLoad_DescribesTheSource(t *testing.T) {
	defaults := Defaults{Language: "de", Types: usualFolders()}
	tests := []struct {
		name, key, text string
		want            corpus.Source
	}{
		{
			"from front matter", "faq/homes.md",
			"---\ntitle: Home plans\ntype: price\nlanguage: en\nvisibility: public\nverified_at: 2026-11-20\n" +
				"valid_from: 2026-11-01\nvalid_to: 2026-12-31\nurl: https://amber-grid.example/homes?a=1&b=2\n---\n# Plans\n\nText",
			corpus.Source{
				Type: "price", Title: "Home plans", Language: "en", Visibility: corpus.Public,
				URL:        "https://amber-grid.example/homes?a=1&b=2",
				VerifiedAt: day("2026-11-20"), ValidFrom: day("2026-11-01"), ValidTo: day("2026-12-31"),
			},
		},
		{
			"from leading comments", "prices/homes.csv",
			"# title: Home plans\n# verified_at: 2026-11-20;;\n# region: North\nPlan;Fee\nFlex;12,50\n",
			corpus.Source{
				Type: "price", Title: "Home plans", Language: "de", Visibility: corpus.Tenant,
				VerifiedAt: day("2026-11-20"), Metadata: map[string]any{"region": "North"},
			},
		},
		{
			"title from the first top heading", "objections/price.md", "## Small\n\n# **Too** [dear](x)\n\nText\n\n# Other",
			corpus.Source{Type: "objection", Title: "Too dear", Language: "de", Visibility: corpus.Tenant},
		},
		{
			"title from the file name", "scripts/door-opener_2.txt", "Good evening.",
			corpus.Source{Type: "script", Title: "Door opener 2", Language: "de", Visibility: corpus.Tenant},
		},
		{
			"type of a nested folder", "policies/homes/privacy.md", "Text",
			corpus.Source{Type: "policy", Title: "Privacy", Language: "de", Visibility: corpus.Tenant},
		},
		{
			"an article without a known folder", "notes.md", "Text",
			corpus.Source{Type: "article", Title: "Notes", Language: "de", Visibility: corpus.Tenant},
		},
		{
			"a fact without a value is not given", "prices/x.md", "---\ntitle:\nverified_at: ~\ntype: \"\"\n---\nText",
			corpus.Source{Type: "price", Title: "X", Language: "de", Visibility: corpus.Tenant},
		},
		{
			"invisible characters leave titles too", "a.md", "---\ntitle: \"Ta\\u200Brifas\\U000E0041 cafe\\u0301\"\n---\nText", // O30
			corpus.Source{Type: "article", Title: "Tarifas caf\u00e9", Language: "de", Visibility: corpus.Tenant},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Load(tt.key, strings.NewReader(tt.text), defaults)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Key = tt.key
			if diff := cmp.Diff(tt.want, doc.Source); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoad_RefusesWithKeyReasonAndLine(t *testing.T) {
	tests := []struct{ name, key, text, want string }{
		{"no bytes", "a.md", "", "empty"},
		{"a byte order mark only", "a.txt", "\ufeff", "empty"},
		{"nothing visible", "a.txt", " \n\u200b\x00\n", "empty"},
		{"front matter only", "a.md", "---\ntitle: A\n---\n", "empty"},
		{"a rule only", "a.md", "***", "empty"},
		{"an empty table", "a.csv", "# title: x\n\n", "empty"},
		{"another format", "a.pdf", "%PDF-1.7", "unsupported: .pdf files are not read"},
		{"no extension", "prices/LICENSE", "x", "unsupported: the file has no extension"},
		{"no encoding", "a.txt", "Canone 49 \x81 al mese", "undecodable: its characters are in no encoding that can be told; save it as UTF-8"},
		{"over five megabytes", "a.md", strings.Repeat("a", MaxBytes+1), "too_large: more than 5 MB"},
		{"unknown type", "a.md", "---\ntitle: A\ntype: poem\n---\nx", `malformed: line 3: unknown type "poem"`},
		{"unknown visibility", "a.csv", "# visibility: everyone\na,b\n1,2", `malformed: line 1: unknown visibility "everyone"`},
		{"unknown language", "a.md", "---\nlanguage: english\n---\nx", `malformed: line 2: unknown language "english"`},
		{"language in capitals", "a.md", "---\nlanguage: EN\n---\nx", `malformed: line 2: unknown language "EN"`},
		{"impossible date", "a.md", "---\nverified_at: 2026-02-30\n---\nx", "malformed: line 2: verified_at is not a date like 2026-11-20"},
		{"other date order", "a.csv", "# valid_to: 31.12.2026\na,b\n1,2", "malformed: line 1: valid_to is not a date like 2026-11-20"},
		{"dates the wrong way round", "a.md", "---\nvalid_from: 2026-12-01\nvalid_to: 2026-11-01\n---\nx", "malformed: line 3: valid_to is not after valid_from"},
		{"a title too long to store", "a.csv", "# title: " + strings.Repeat("x", 501) + "\na,b\n1,2", "malformed: line 1: title has more than 500 characters"},
		{"an address too long to store", "a.md", "---\nurl: https://a.example/" + strings.Repeat("x", 2000) + "\n---\nx", "malformed: line 2: url has more than 2000 characters"},
		{"address that runs code", "a.md", "---\nurl: javascript:alert(1)\n---\nx", "malformed: line 2: url is not an http or https address"},
		{"a date to come", "a.md", "---\nverified_at: 2027-05-01\n---\nx", "malformed: line 2: verified_at lies in the future"},
		{"a fact spelled wrong", "a.md", "---\ntitle: A\nverifed_at: 2026-11-01\n---\nx", `malformed: line 3: unknown fact "verifed_at": is it verified_at?`},
		{"a fact of a table spelled wrong", "a.csv", "# visibilty: private\na,b\n1,2", `malformed: line 1: unknown fact "visibilty": is it visibility?`},
		{"list for a title", "a.md", "---\ntitle: [a, b]\n---\nx", "malformed: line 2: title must be plain text"},
		{"deep nesting", "a.md", "x\n\n" + strings.Repeat("> ", 32) + "y", "malformed: line 3: lists or quotations nested too deeply"},
		{"deep indentation", "a.md", "- x\n" + strings.Repeat(" ", 100) + "- y", "malformed: line 2: lists or quotations nested too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(tt.key, strings.NewReader(tt.text), Defaults{Today: *day("2026-12-01")})
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("error %v is no refusal", err)
			}
			if refusal.Key != tt.key || refusal.Why() != tt.want {
				t.Errorf("%s: %s, want %s", refusal.Key, refusal.Why(), tt.want)
			}
		})
	}
}

// O20: what a program writes where it found no text is no text.
func TestLoad_RefusesAWordForNothing(t *testing.T) {
	for key, text := range map[string]string{"a.txt": "None\n", "a.md": "# Fees\n\n(no content)", "a.html": "<p>undefined</p>", "a.json": `"null"`} {
		_, err := Load(key, strings.NewReader(text), Defaults{})
		if r, ok := err.(*Refusal); !ok || r.Reason != NoContent {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := Load("a.txt", strings.NewReader("None of our plans has a setup fee."), Defaults{}); err != nil {
		t.Error(err)
	}
}

func TestLoad_TellsAReadErrorFromBadText(t *testing.T) {
	broken := errors.New("disk gone")
	_, err := Load("a.md", io.MultiReader(strings.NewReader("text"), iotest.ErrReader(broken)), Defaults{})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Reason != Unreadable || !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestLoad_ReadsExactlyFiveMegabytes(t *testing.T) {
	if _, err := Load("a.txt", strings.NewReader(strings.Repeat("a", MaxBytes)), Defaults{}); err != nil {
		t.Error(err)
	}
}

// O29: the same Markdown saved with CRLF, with LF and with a trailing newline makes the same chunks.
func TestLoad_ReadsEveryLineEndingAlike(t *testing.T) {
	const text = "---\ntitle: Tarifas\n---\n\n# Tarifas\n\nPlan Uno\ncuesta 49 €.\n\n| Plan | Mes |\n|---|---|\n| Dos | 12,50 |"
	want := mustLoad(t, "a.md", text)
	for _, variant := range []string{
		strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(text, "\n", "\r"), text + "\n\n", "\ufeff" + text,
	} {
		if diff := cmp.Diff(want, mustLoad(t, "a.md", variant)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestLoad_CutsPlainTextAtBlankLines(t *testing.T) {
	got := mustLoad(t, "a.txt", "# no heading\r\nsame paragraph\r\n \r\n\r\nsecond\n\n---\n\nthird\n").Sections
	want := []Section{{Blocks: []Block{
		{Paragraph, "# no heading\nsame paragraph"}, {Paragraph, "second"}, {Paragraph, "---"}, {Paragraph, "third"},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
