package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
	"unicode/utf8"

	"porchlight/functions/internal/corpus"
)

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
