package ingest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A cut divides text into pieces that joined give the text again.
type cut func(text string) []string

// cutsOf returns the ways to cut a block of that kind, the gentlest first. The last one always helps.
func cutsOf(k Kind) []cut {
	forced := []cut{atSpaces, atGraphemes, atRunes}
	switch k {
	case Row:
		return append([]cut{atCells}, forced...)
	case Verbatim:
		return append([]cut{atLines, atSentences}, forced...)
	default:
		return append([]cut{atSentences}, forced...)
	}
}

// split divides text into pieces of at most most characters, each as long as the gentlest cut that
// helps leaves it.
func split(text string, most int, cuts []cut) []string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return []string{text}
	}
	var pieces []string
	for _, piece := range cuts[0](text) {
		pieces = append(pieces, split(piece, most, cuts[1:])...)
	}
	return pieces
}

func atLines(text string) []string { return strings.SplitAfter(text, "\n") }

func atCells(text string) []string { return strings.SplitAfter(text, "; ") }

// atSentences cuts after each sentence (Unicode Standard Annex 29). A line break is a wrap there, no
// end; a space has the same length.
func atSentences(text string) []string {
	var pieces []string
	rest, state := strings.ReplaceAll(text, "\n", " "), -1
	for at := 0; rest != ""; {
		var sentence string
		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		pieces = append(pieces, text[at:at+len(sentence)])
		at += len(sentence)
	}
	return pieces
}

// atSpaces cuts after each run of white space.
func atSpaces(text string) []string {
	var pieces []string
	start, wasSpace := 0, false
	for i, r := range text {
		isSpace := unicode.IsSpace(r)
		if wasSpace && !isSpace {
			pieces = append(pieces, text[start:i])
			start = i
		}
		wasSpace = isSpace
	}
	return append(pieces, text[start:])
}

// atGraphemes cuts between what a reader sees as characters (O24), a few at a time: enough for an
// exact overlap, and a line of megabytes does not become millions of pieces.
func atGraphemes(text string) []string {
	const together = 10 // bytes
	var pieces []string
	start, end, state := 0, 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end > start && end+len(cluster)-start > together {
			pieces = append(pieces, text[start:end])
			start = end
		}
		end += len(cluster)
	}
	return append(pieces, text[start:])
}

// atRunes cuts a single grapheme that is longer than a chunk.
func atRunes(text string) []string { return strings.Split(text, "") }
