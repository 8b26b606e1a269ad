package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// texts returns headings as "# A › B" and the blocks below them.
func texts(doc Document) (all []string) {
	for _, s := range doc.Sections {
		if len(s.Headings) > 0 {
			all = append(all, "# "+strings.Join(s.Headings, pathSeparator))
		}
		for _, b := range s.Blocks {
			all = append(all, b.Text)
		}
	}
	return all
}

func TestMDX_KeepsWhatAReaderSees(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"imports and exports go", "import Fee from '../fee'\nimport {\n  A,\n\n  B\n} from \"x\"\n\nexport const meta = {\n  a: [1,\n\n  2],\n}\n\nText", []string{"Text"}},
		{"an import in a sentence stays", "import duties are 4 %.\n\nexport is free.", []string{"import duties are 4 %.", "export is free."}},
		{"tags go, their text stays", "<Note type=\"info\">\n\nThe fee is <Price>12,50 €</Price> a month.\n\n</Note>\n\nEnd", []string{"The fee is 12,50 € a month.", "End"}},
		{"a tag over many lines", "<Card\n  href={links[\"a\"].b}\n  title=\"Home plan\"\n>\n\n12 €\n\n</Card>", []string{"Home plan", "12 €"}},
		{"attributes that are shown", "<Plan label='Flex' price={12.50} icon=\"sun\" />", []string{"Flex 12.50"}},
		{"fragments", "<>\n\nText\n\n</>", []string{"Text"}},
		{"tags in a table", "| Plan | Fee |\n|---|---|\n| Flex | <Price>$0.125</Price> |\n| Fix<br/>now | {12.00} € |", []string{"Plan: Flex; Fee: $0.125.", "Plan: Fix now; Fee: 12.00 €."}},
		{"comments", "A {/* price: 1 € */}B\n\n<!-- price: 2 € -->\n\nC", []string{"A B", "C"}},
		{"strings, numbers and constants", "export const fee = \"49 €\"\n\nIt costs {fee}{' '}or {1299.00}{\" \"}{`once`}, {props.more}.", []string{"It costs 49 € or 1299.00 once, ."}},
		{"markup in an expression", "{isNew && (<b>New: 12 €</b>)}", []string{"New: 12 €"}},
		{"code is not touched", "```js\nimport x from 'y'\n<A>{b}</A>\n```\n\nUse `<A>{b}</A>` here.", []string{"```js\nimport x from 'y'\n<A>{b}</A>\n```", "Use `<A>{b}</A>` here."}},
		{"less than and links", "5 < 6 and a<b, <https://a.example/x> \\<A> \\{b}", []string{"5 < 6 and a<b, <https://a.example/x> \\<A> \\{b}"}},
		{"directives", ":::note[Good to know]\nText\n:::\n\n:::tip\nMore\n:::", []string{"Good to know\nText", "More"}},
		{"the mark of a heading", "## Fees {#fees}\n\nText", []string{"# Fees", "Text"}},
		{"indented content is no code", "<Tabs>\n  <Tab>\n\n    The fee is 12 €.\n\n    - one\n      - two\n\n    ```\n      code\n    ```\n\n  </Tab>\n</Tabs>", []string{"The fee is 12 €.", "- one\n  - two", "```\n  code\n```"}},
		{"a script", "<script>\nfee = 1\n</script>\n\nText <style>{`a{}`}</style>", []string{"Text"}},
		{"what nobody closed", "a {b\n\nc <d\n\n`e", []string{"a {b", "c <d", "`e"}},
		{"don't stumble over an apostrophe", "{isNew && <b>Don't pay 49 €</b>} more", []string{"Don't pay 49 € more"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustLoad(t, "a.mdx", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMDX_KeepsFactsAndLines(t *testing.T) {
	doc := mustLoad(t, "prices/a.mdx", "---\ntitle: Home plans\nverified_at: 2026-11-20\n---\nimport A from 'a'\n\n# Plans\n\nText")
	if doc.Source.Title != "Home plans" || doc.Source.VerifiedAt == nil {
		t.Errorf("%+v", doc.Source)
	}
	_, err := Load("a.mdx", strings.NewReader("---\ntitle: A\n---\nimport {\n A\n} from 'a'\n\n<B\n c={1}\n/>\n\n| a | b |\n|---|---|\n| 1 | 2 | 3 |\n"), Defaults{})
	if r, ok := err.(*Refusal); !ok || r.Why() != "malformed: line 14: 3 cells, the header has 2" {
		t.Error(err)
	}
}

// What opens a thousand times and never closes ends, with a page or a reason.
func TestMDX_EndsOnWhatNeverCloses(t *testing.T) {
	for _, piece := range []string{"{", "<a ", "<a '", "<!--", "<script>", "`", "`a``", "{`", "{\"\\\"", "import {\n", "{<a>", "```\n", ":::", "export const a=1\n", "{'", "- {/*"} {
		_, err := Load("a.mdx", strings.NewReader(strings.Repeat(piece, MaxBytes/32/len(piece))), Defaults{})
		if refusal, ok := err.(*Refusal); err != nil && (!ok || refusal.Err != nil) {
			t.Errorf("%q: %v", piece, err)
		}
	}
}

func FuzzMDX(f *testing.F) {
	for _, text := range []string{"", "{", "<a b={", "import {", "export const a = 'b'\n{a}", "```\n{", ":::a[b", "{<a>b</a>}", "<style>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Load("a.mdx", strings.NewReader(text), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", text, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
	})
}
