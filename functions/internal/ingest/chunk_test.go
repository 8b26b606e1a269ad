package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
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
			Document{Sections: []Section{{Blocks: []Block{{Row, "a: one two. Three " + x(50) + "; b: " + x(50) + "."}}}}},
			[]string{"a: one two. Three " + x(50) + ";", "b: " + x(50) + "."},
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

func TestChunk_HoldsItsPropertiesForAnyDocument(t *testing.T) {
	words := []string{
		"Tarifa", "12,50 €", "1.299,00", "¿Qué?", "end.", "Ja!", "👩\u200d💻", "家庭套餐每月。", "\n", " ", "; ", "  \n",
		"می\u200cخواهم", strings.Repeat("long", 40), "x" + strings.Repeat("\u0327", 12), "\u2028", "`#`",
	}
	property := func(shape []uint8, size, overlap uint8) bool {
		var doc Document
		for i := 0; i+1 < len(shape); i += 2 {
			if len(doc.Sections) == 0 || shape[i]%7 == 0 {
				doc.Sections = append(doc.Sections, Section{Headings: []string{"H", fmt.Sprint(shape[i] % 3)}[:shape[i]%3]})
			}
			var b strings.Builder
			for j := range int(shape[i+1]) {
				b.WriteString(words[(int(shape[i])+j*j)%len(words)])
			}
			if text := corpus.Normalise(b.String()); text != "" {
				s := &doc.Sections[len(doc.Sections)-1]
				s.Blocks = append(s.Blocks, Block{Kind(shape[i] % 4), text})
			}
		}
		p := Profile{"p", minCharacters + int(size), 0}
		p.Overlap = int(overlap) % (p.MaxCharacters/2 + 1)
		checkChunks(t, doc, p)
		return !t.Failed()
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 40}); err != nil {
		t.Error(err)
	}
}

func FuzzChunk(f *testing.F) {
	f.Add("One. Two.\nThree; four", uint8(0), 100, 20)
	f.Add(strings.Repeat("€", 300)+" 👩\u200d👩\u200d👧", uint8(2), 80, 40)
	f.Add(strings.Repeat(". \u2028", 200), uint8(3), 90, 0)
	f.Fuzz(func(t *testing.T, text string, kind uint8, size, overlap int) {
		p := Profile{"p", size, overlap}
		text = corpus.Normalise(text)
		if p.Validate() != nil || text == "" {
			return
		}
		checkChunks(t, Document{Sections: []Section{{[]string{"H"}, []Block{{Kind(kind % 4), text}, {Paragraph, "end"}}}}}, p)
	})
}

// checkChunks fails unless the chunks of doc are normal, inside the maximum, deterministic and hold
// every character of doc that is not white space, in order.
func checkChunks(t *testing.T, doc Document, p Profile) {
	t.Helper()
	chunks, err := Chunk(doc, p)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Chunk(doc, p)
	if !slices.Equal(chunks, again) {
		t.Error("a second run gives other chunks")
	}
	seen := map[rune]int{}
	for _, c := range chunks {
		if n := utf8.RuneCountInString(c.Content); n > p.MaxCharacters || n == 0 {
			t.Errorf("%d characters, the maximum is %d", n, p.MaxCharacters)
		}
		if c.Content != corpus.Normalise(c.Content) || !utf8.ValidString(c.Content) || strings.Contains(c.HeadingPath, "\n") {
			t.Errorf("not normalised: %+q", c)
		}
		for _, r := range c.HeadingPath + c.Content {
			seen[r]++
		}
	}
	for _, s := range doc.Sections {
		for _, b := range s.Blocks {
			for _, r := range b.Text {
				if seen[r]--; seen[r] < 0 && !unicode.IsSpace(r) && r != '\u200c' && r != '\u200d' {
					t.Fatalf("%q is lost from %q in %q", r, b.Text, chunks)
				}
			}
		}
	}
}
