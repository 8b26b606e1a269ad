package ingest

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown_FindsTheBlocks(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Section
	}{
		{
			"headings of all levels", "intro\n\n# A\n\na\n\n### B\n\nb\n\n## C\n\nc\n\n# D\n\nd",
			[]Section{
				{nil, []Block{{Paragraph, "intro"}}},
				{[]string{"A"}, []Block{{Paragraph, "a"}}},
				{[]string{"A", "B"}, []Block{{Paragraph, "b"}}},
				{[]string{"A", "C"}, []Block{{Paragraph, "c"}}},
				{[]string{"D"}, []Block{{Paragraph, "d"}}},
			},
		},
		{
			"underlined headings", "Tariffs\nof spring\n===\nfirst\n\nHomes\n---\nsecond",
			[]Section{
				{[]string{"Tariffs of spring"}, []Block{{Paragraph, "first"}}},
				{[]string{"Tariffs of spring", "Homes"}, []Block{{Paragraph, "second"}}},
			},
		},
		{
			"a heading as a reader sees it", "## [Too **dear**](../x.md \"t\") `now` <b>!</b> ![alt](i.png) ##\n\nx",
			[]Section{{[]string{"Too dear now ! alt"}, []Block{{Paragraph, "x"}}}},
		},
		{
			"a heading without words", "# A\n\na\n\n#\n\nb",
			[]Section{{[]string{"A"}, []Block{{Paragraph, "a"}}}, {nil, []Block{{Paragraph, "b"}}}},
		},
		{
			"no heading without its space", "#Not a heading\ntext",
			[]Section{{nil, []Block{{Paragraph, "#Not a heading\ntext"}}}},
		},
		{
			"the items of a list one by one", "- one\n  - nested\n- two\n\n  more\n1. uno",
			[]Section{{nil, []Block{{Item, "- one\n  - nested"}, {Item, "- two\n\n  more"}, {Item, "1. uno"}}}},
		},
		{
			"code, quotation, markup as they are", "    code\n\n> # quoted\n> text\nlazy\n\n<div>\n# no\n</div>\n\n***\n\nend",
			[]Section{{nil, []Block{
				{Verbatim, "    code"},
				{Verbatim, "> # quoted\n> text\nlazy"},
				{Verbatim, "<div>\n# no\n</div>"},
				{Paragraph, "end"},
			}}},
		},
		{
			"link definitions are text", "# A\n[ref]: /url \"title\"\n\ntext [ref]",
			[]Section{{[]string{"A"}, []Block{{Paragraph, "[ref]: /url \"title\""}, {Paragraph, "text [ref]"}}}},
		},
		{ // O25
			"a comment in a tilde fence", "# Install\n\n~~~ sh\n# prices below\n```\n~~~\n\nafter",
			[]Section{{[]string{"Install"}, []Block{{Verbatim, "~~~ sh\n# prices below\n```\n~~~"}, {Paragraph, "after"}}}},
		},
		{ // O25
			"a fence in a longer fence", "# Install\n\n````md\n```\n# prices below\n```\n# still\n````\nafter",
			[]Section{{[]string{"Install"}, []Block{{Verbatim, "````md\n```\n# prices below\n```\n# still\n````"}, {Paragraph, "after"}}}},
		},
		{ // O25
			"a fence that nobody closed", "# Install\n\n```\n# prices below",
			[]Section{{[]string{"Install"}, []Block{{Verbatim, "```\n# prices below"}}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustLoad(t, "a.md", tt.text).Sections); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarkdown_TakesALineOfHundredsOfCharactersForText(t *testing.T) {
	long := "# " + strings.Repeat("word ", 60) + "end"
	got := mustLoad(t, "a.md", "# A\n\n"+long).Sections
	want := []Section{{[]string{"A"}, []Block{{Paragraph, long}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{
		"", "---\ntitle: x\n---\n# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "Set\next\n---\n- a\n  1. b\n> c\n\n~~~\nd",
		"---\n- a\n---\n", "a\n| b |\n|-|\n\n***\n[x]: y\n#\n====\n\t- z", "-\n- b\n=\n-\n", "<!--\n\n-->\n&amp; \\| `|`",
		"---\na: *x\nb: &x 1\nc: !!str 2\n? d\n---\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Load("a.md", strings.NewReader(text), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", text, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
		if !strings.HasPrefix(text, "---") && !strings.Contains(text, "#") { // no front matter, no heading markup
			checkLetters(t, doc, text)
		}
	})
}

// checkLetters fails when a letter or digit of the Markdown is in no block and no heading.
func checkLetters(t *testing.T, doc Document, text string) {
	t.Helper()
	var all strings.Builder
	for _, s := range doc.Sections {
		for _, b := range s.Blocks {
			all.WriteString(b.Text)
		}
		all.WriteString(strings.Join(s.Headings, ""))
	}
	have := count(all.String())
	for r, n := range count(text) {
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && r < 128 && have[r] < n && !strings.ContainsAny(text, "|<[`&\x00") {
			t.Errorf("%q: %d of %d %q are left in %q", text, have[r], n, r, all.String())
		}
	}
}

func count(s string) map[rune]int {
	n := map[rune]int{}
	for _, r := range s {
		n[r]++
	}
	return n
}
