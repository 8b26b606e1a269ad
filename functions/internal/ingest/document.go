// Package ingest turns the files of a brand's library into typed sources and chunks, and runs a
// reindex: list, load, chunk, compare by hash, embed what is missing, apply. What the database does
// with it stands behind Store, what a model does behind Embedder.
//
// A file goes Load → Redact → Chunk. A step that rewrites text, as Redact does, maps one Document to
// another; a new format is one more loader that makes sections.
package ingest

import (
	"strings"

	"porchlight/functions/internal/corpus"
)

// Document is what a loader made of one file: what it is and its text in reading order. All of its
// text is normalised (corpus.Normalise) and no heading holds a line feed.
type Document struct {
	Source   corpus.Source
	Sections []Section
}

// Section is the text under one heading. It may have no blocks: then only the heading was written.
type Section struct {
	Headings []string // the headings above the text, outermost first; none before the first heading
	Blocks   []Block
}

// Block is a run of source text that belongs together.
type Block struct {
	Kind Kind
	Text string
}

// Kind says how a block may be cut when it is longer than a chunk, and how it meets its neighbour.
type Kind int

// The kinds of block. Rows and items follow each other on the next line, others after a blank line.
const (
	Paragraph Kind = iota // cut at the ends of sentences; a line break inside is only a wrap
	Item                  // an item of a list with all that is nested in it, cut like a paragraph
	Row                   // "Header: value; Header: value.", cut only where it alone exceeds a chunk
	Verbatim              // code, quotation, markup: cut at line ends first
)

// isEmpty says that no section holds a heading or a block.
func (d Document) isEmpty() bool {
	for _, s := range d.Sections {
		if len(s.Headings) > 0 || len(s.Blocks) > 0 {
			return false
		}
	}
	return true
}

// holds says that r stands in a heading or a block.
func (d Document) holds(r rune) bool {
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if strings.ContainsRune(b.Text, r) {
				return true
			}
		}
		if strings.ContainsRune(strings.Join(s.Headings, ""), r) {
			return true
		}
	}
	return false
}

// isStandIn says that all of the document is what programs write where they found no text (O20).
func (d Document) isStandIn() bool {
	if len(d.Sections) != 1 || len(d.Sections[0].Blocks) != 1 {
		return false
	}
	switch strings.ToLower(strings.Trim(d.Sections[0].Blocks[0].Text, "()[]<>*_-. \"'")) {
	case "none", "null", "nil", "nan", "undefined", "n/a", "no content", "no text", "empty", "[object object]", "object object":
		return true
	}
	return false
}
