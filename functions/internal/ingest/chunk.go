package ingest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"porchlight/functions/internal/corpus"
)

// pathSeparator joins the headings of a chunk's heading path.
const pathSeparator = " › "

// Chunk cuts a document into passages, in reading order:
//
//   - no chunk reaches over a heading, so a question stays with its reply when they fit one chunk;
//   - blocks are gathered as long as they fit; one that fits no chunk is cut at line ends (Verbatim),
//     at the ends of sentences, at spaces, between graphemes, whichever is the first that helps;
//   - a row of a table is cut only when it alone exceeds a chunk, and then between its cells;
//   - only the pieces of one cut block overlap, by whole sentences or words;
//   - headings stand in the heading path, not in the content; a heading with nothing under it is the
//     content of a chunk of its own.
//
// Every character of the document that is not white space is in some chunk. The same document and
// profile give the same chunks.
func Chunk(doc Document, p Profile) ([]corpus.Chunk, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	var chunks []corpus.Chunk
	for i, s := range doc.Sections {
		if len(s.Blocks) == 0 {
			if len(s.Headings) == 0 || hasChild(doc.Sections, i) {
				continue
			}
			last := len(s.Headings) - 1
			s = Section{Headings: s.Headings[:last], Blocks: []Block{{Text: s.Headings[last]}}}
		}
		path := corpus.Normalise(strings.Join(s.Headings, pathSeparator))
		for _, content := range p.windows(atoms(s.Blocks, p.MaxCharacters)) {
			// Again: a cut may leave a space or a joiner at the end.
			if content = corpus.Normalise(content); content != "" {
				chunks = append(chunks, corpus.Chunk{HeadingPath: path, Content: content})
			}
		}
	}
	return chunks, nil
}

// hasChild says that the next section stands under the heading of section i, which is then in its
// heading path.
func hasChild(sections []Section, i int) bool {
	parent := sections[i].Headings
	if i+1 == len(sections) {
		return false
	}
	next := sections[i+1].Headings
	return len(next) > len(parent) && slices.Equal(next[:len(parent)], parent)
}

// atom is a piece of text that is never cut again.
type atom struct {
	text   string
	size   int    // characters
	before string // what stands between it and the atom before it
	block  int    // index of the block that it comes from
}

// atoms cuts the blocks into pieces of at most most characters. A block that fits is one atom.
func atoms(blocks []Block, most int) []atom {
	var all []atom
	for i, b := range blocks {
		before := "\n\n"
		if i > 0 && b.Kind == blocks[i-1].Kind && (b.Kind == Row || b.Kind == Item) {
			before = "\n"
		}
		for _, piece := range split(b.Text, most, cutsOf(b.Kind)) {
			all = append(all, atom{piece, utf8.RuneCountInString(piece), before, i})
			before = ""
		}
	}
	return all
}

// windows joins atoms to contents of at most p.MaxCharacters. Each window takes at least one atom
// that no window had, so there are never more windows than atoms, and the one with the last atom is
// the last.
func (p Profile) windows(all []atom) []string {
	var contents []string
	for start, next := 0, 0; next < len(all); start = p.overlapStart(all, next) {
		end := p.windowEnd(all, start, next)
		var b strings.Builder
		for i, a := range all[start:end] {
			if i > 0 {
				b.WriteString(a.before)
			}
			b.WriteString(a.text)
		}
		contents = append(contents, b.String())
		next = end
	}
	return contents
}

// windowEnd returns the end of the window that begins at start and whose first new atom is next. A
// line that announces what follows ("Our fees:") goes with it where both fit.
func (p Profile) windowEnd(all []atom, start, next int) int {
	size, end := all[start].size, start+1
	for ; end < len(all); end++ {
		size += len(all[end].before) + all[end].size // what stands before is ASCII
		if end > next && size > p.MaxCharacters {
			break
		}
	}
	if end < len(all) && end-1 > next && strings.HasSuffix(strings.TrimRight(all[end-1].text, "*_ \n"), ":") {
		end--
	}
	return end
}

// overlapStart returns where the window begins whose first new atom is next: before it only by
// pieces of the same block, at most p.Overlap characters that leave room for the new atom.
func (p Profile) overlapStart(all []atom, next int) int {
	start := next
	if next == len(all) {
		return start
	}
	room := min(p.Overlap, p.MaxCharacters-all[next].size)
	for start > 0 && all[start-1].block == all[next].block && all[start-1].size <= room {
		start--
		room -= all[start].size
	}
	return start
}
