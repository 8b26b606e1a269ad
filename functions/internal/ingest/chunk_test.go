package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
)

func paragraphDoc(text string) Document {
	return Document{Sections: []Section{{Blocks: []Block{{Paragraph, text}}}}}
}

func contents(t *testing.T, doc Document, p Profile) []string {
	t.Helper()
	chunks, err := Chunk(doc, p)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range chunks {
		all = append(all, c.Content)
	}
	return all
}

// O21
func TestProfile_RefusesSizesThatNeverEnd(t *testing.T) {
	for _, p := range []Profile{
		{"p", 100, 100},
		{"p", 100, 120},
		{"p", 100, 51},
		{"p", 0, 0},
		{"p", 100, -1},
		{"p", -5, -9},
		{"p", minCharacters - 1, 0},
		{"p", maxCharacters + 1, 0},
		{"", 100, 0},
	} {
		if p.Validate() == nil {
			t.Errorf("%+v is valid", p)
		}
		if _, err := Chunk(paragraphDoc(strings.Repeat("a", 500)), p); err == nil {
			t.Errorf("Chunk took %+v", p)
		}
	}
	for _, p := range []Profile{Doorstep(), {"p", 100, 50}, {"p", 100, 0}, {"p", 3000, 180}} {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// O22
func TestChunk_EndsWithTheWindowThatReachesTheEnd(t *testing.T) {
	var text strings.Builder
	for i := range 25 {
		fmt.Fprintf(&text, "%010d", i)
	}
	all := text.String()
	want := []string{all[:100], all[80:180], all[160:]}
	if diff := cmp.Diff(want, contents(t, paragraphDoc(all), Profile{"p", 100, 20})); diff != "" {
		t.Error(diff)
	}
}

// O23
func TestChunk_EndsWhenPiecesAreLongerThanSizeWithoutOverlap(t *testing.T) {
	var sentences []string
	for i := range 6 {
		sentences = append(sentences, fmt.Sprintf("Sentence %d %s.", i, strings.Repeat("x", 58)))
	}
	got := contents(t, paragraphDoc(strings.Join(sentences, " ")), Profile{"p", 100, 40})
	if diff := cmp.Diff(sentences, got); diff != "" {
		t.Error(diff)
	}
}

// O24
func TestChunk_CutsBetweenGraphemes(t *testing.T) {
	tests := []struct{ name, text, whole string }{
		{"euro sign", strings.Repeat("a", 599) + "€" + strings.Repeat("b", 700), "€"},
		{"family emoji", strings.Repeat("a", 597) + "👩\u200d👩\u200d👧" + strings.Repeat("b", 700), "👩\u200d👩\u200d👧"},
		{"flag", strings.Repeat("a", 599) + "🇪🇸" + strings.Repeat("b", 700), "🇪🇸"},
		{"combining mark", strings.Repeat("a", 599) + "x\u0327" + strings.Repeat("b", 700), "x\u0327"},
		{"Korean", strings.Repeat("가격", 400), "가"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := contents(t, paragraphDoc(tt.text), Profile{"p", 600, 0})
			if strings.Join(got, "") != tt.text {
				t.Errorf("pieces do not join to the text: %q", got)
			}
			for _, c := range got {
				if !utf8.ValidString(c) {
					t.Errorf("invalid UTF-8: %q", c)
				}
			}
			if !slices.ContainsFunc(got, func(c string) bool { return strings.Contains(c, tt.whole) }) {
				t.Errorf("%q was cut", tt.whole)
			}
		})
	}
}

func TestChunk_CutsWhereItHurtsLeast(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	p := Profile{"p", 100, 0}
	tests := []struct {
		name string
		doc  Document
		want []string
	}{
		{
			"groups paragraphs that fit",
			Document{Sections: []Section{{Blocks: []Block{{Paragraph, x(49)}, {Paragraph, x(49)}, {Paragraph, x(50)}}}}},
			[]string{x(49) + "\n\n" + x(49), x(50)},
		},
		{
			"never groups over a heading",
			Document{Sections: []Section{{[]string{"A"}, []Block{{Paragraph, "a"}}}, {[]string{"A"}, []Block{{Paragraph, "b"}}}}},
			[]string{"a", "b"},
		},
		{
			"cuts a paragraph at its sentences, not at its wraps",
			paragraphDoc("One " + x(50) + ".\nTwo\n" + x(40) + ". Three."),
			[]string{"One " + x(50) + ".", "Two\n" + x(40) + ". Three."},
		},
		{
			"cuts a sentence at its spaces",
			paragraphDoc(x(60) + " " + x(60)),
			[]string{x(60), x(60)},
		},
		{
			"does not cut an amount",
			paragraphDoc(x(60) + ". Costs 1.299,00 € or 12.50 a month " + x(20) + "."),
			[]string{x(60) + ".", "Costs 1.299,00 € or 12.50 a month " + x(20) + "."},
		},
		{
			"cuts code at its lines",
			Document{Sections: []Section{{Blocks: []Block{{Verbatim, "a. " + x(60) + "\n  b. " + x(60)}}}}},
			[]string{"a. " + x(60), "  b. " + x(60)},
		},
		{
			"puts rows and items on lines of their own",
			Document{Sections: []Section{{Blocks: []Block{{Paragraph, "p"}, {Row, "a: 1."}, {Row, "a: 2."}, {Item, "- i"}, {Item, "- j"}}}}},
			[]string{"p\n\na: 1.\na: 2.\n\n- i\n- j"},
		},
		{
			"keeps a row whole",
			Document{Sections: []Section{{Blocks: []Block{{Row, "a: " + x(55) + "."}, {Row, "a: " + x(55) + "; b: 2."}}}}},
			[]string{"a: " + x(55) + ".", "a: " + x(55) + "; b: 2."},
		},
		{
			"cuts a row that fits no chunk between its cells",
			Document{Sections: []Section{{Blocks: []Block{{Row, "a: one two. Three " + x(50) + "; b c: " + x(50) + "."}}}}},
			[]string{"a: one two. Three " + x(50) + ";", "b c: " + x(50) + "."},
		},
		{
			"leaves an announcement with what it announces",
			Document{Sections: []Section{{Blocks: []Block{{Paragraph, x(60)}, {Paragraph, "**Our fees:**"}, {Item, "- " + x(60)}}}}},
			[]string{x(60), "**Our fees:**\n\n- " + x(60)},
		},
		{
			"keeps a heading with nothing under it",
			Document{Sections: []Section{{Headings: []string{"A"}}, {Headings: []string{"A", "B"}}, {Headings: []string{"C"}}}},
			[]string{"B", "C"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, contents(t, tt.doc, p)); diff != "" {
				t.Error(diff)
			}
			checkChunks(t, tt.doc, p)
		})
	}
}

func TestChunk_OverlapsOnlyThePiecesOfOneBlock(t *testing.T) {
	sentence := func(i int) string { return fmt.Sprintf("Sentence number %d is forty characters..", i) }
	doc := Document{Sections: []Section{{Blocks: []Block{
		{Paragraph, "First."},
		{Paragraph, sentence(1) + " " + sentence(2) + " " + sentence(3) + " " + sentence(4)},
		{Paragraph, "Last " + strings.Repeat("x", 60)},
	}}}}
	want := []string{
		"First.\n\n" + sentence(1) + " " + sentence(2),
		sentence(2) + " " + sentence(3),
		sentence(3) + " " + sentence(4),
		"Last " + strings.Repeat("x", 60),
	}
	if diff := cmp.Diff(want, contents(t, doc, Profile{"p", 100, 45})); diff != "" {
		t.Error(diff)
	}
}

func TestChunk_KeepsAnObjectionWithItsReply(t *testing.T) {
	doc := mustLoad(t, "objections/price.md", "# Objections\n\n## \"It costs too much\"\n\nCompare the year.\n\n- Fee: 12,50 €\n- Bonus: 40 €\n\n## \"I must ask my wife\"\n\nThen let us call her.\n")
	chunks, err := Chunk(doc, Doorstep())
	if err != nil {
		t.Fatal(err)
	}
	want := []corpus.Chunk{
		{HeadingPath: `Objections › "It costs too much"`, Content: "Compare the year.\n\n- Fee: 12,50 €\n- Bonus: 40 €"},
		{HeadingPath: `Objections › "I must ask my wife"`, Content: "Then let us call her."},
	}
	if diff := cmp.Diff(want, chunks); diff != "" {
		t.Error(diff)
	}
}

// O30: a decomposed body, heading and title make the chunks of the composed ones.
func TestChunk_HasOneHashForEverySpelling(t *testing.T) {
	composed, err := Chunk(mustLoad(t, "a.md", "# Caf\u00e9\n\nUn caf\u00e9: 1,20 €"), Doorstep())
	if err != nil {
		t.Fatal(err)
	}
	decomposed, err := Chunk(mustLoad(t, "a.md", "# Cafe\u0301\r\n\r\nUn cafe\u0301: 1,20 €\r\n"), Doorstep())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hashes(composed), hashes(decomposed)); diff != "" {
		t.Error(diff)
	}
}

func hashes(chunks []corpus.Chunk) (all [][32]byte) {
	for _, c := range chunks {
		all = append(all, c.Hash())
	}
	return all
}
