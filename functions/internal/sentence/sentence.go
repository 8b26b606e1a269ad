// Package sentence cuts English, German and Spanish text into sentences, whole or as it streams in.
//
// Prices ("12,50 €."), abbreviations ("z. B.", "e.g.", "No. 3"), dates ("2. März 2026") and
// ellipses do not end a sentence. A line made from a table row ("Plan: Home Flex; Fee: 12 €.") is
// one sentence whatever it contains, and so is each item of a list.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrapWidth is the number of characters from which a line without an end mark is taken for prose
// that was wrapped by an editor, and therefore goes on in the next line.
const wrapWidth = 40

// keyWidth is the longest name of a first table column, in characters.
const keyWidth = 40

// Split returns the sentences of text in order, word for word; only the white space between them
// is dropped.
func Split(text string) []string {
	var s Splitter
	return append(s.Push(text), s.Flush()...)
}

// Splitter cuts a text that arrives in pieces. Wherever the text is cut, also inside a character,
// the sentences are those of Split. The zero value is ready for use.
type Splitter struct {
	rest    string // begins with the first character of the unfinished sentence
	midLine bool   // something on the same line precedes rest
}

// Push takes the next piece and returns the sentences that are certainly complete: a sentence is
// given out as soon as the word after it has been seen.
func (s *Splitter) Push(delta string) []string {
	s.rest += delta
	return s.drain(false)
}

// Flush ends the text and returns what is left. The Splitter can then take another text.
func (s *Splitter) Flush() []string {
	out := s.drain(true)
	*s = Splitter{}
	return out
}

func (s *Splitter) drain(final bool) []string {
	var out []string
	for {
		s.skipSpace()
		if s.rest == "" {
			return out
		}
		sc := scanner{text: s.rest, lineStart: !s.midLine, final: final}
		end := sc.end()
		if end < 0 {
			return out
		}
		out = append(out, strings.TrimRightFunc(s.rest[:end], unicode.IsSpace))
		s.rest, s.midLine = s.rest[end:], true
	}
}

func (s *Splitter) skipSpace() {
	trimmed := strings.TrimLeftFunc(s.rest, unicode.IsSpace)
	if strings.Contains(s.rest[:len(s.rest)-len(trimmed)], "\n") {
		s.midLine = false
	}
	s.rest = trimmed
}

// scanner finds the end of the sentence that text begins with.
type scanner struct {
	text      string
	lineStart bool // text begins a line
	final     bool // nothing follows text
}

// unknown is the answer when more text is needed to decide.
const unknown = -1

// end returns the number of bytes of the first sentence, or unknown.
func (sc scanner) end() int {
	for i := 0; i < len(sc.text); {
		r, size, ok := sc.runeAt(i)
		switch {
		case !ok:
			return unknown
		case r == '\n':
			if end, done := sc.atNewline(i); done {
				return end
			}
		case isTerminal(r):
			if sc.lineStart && hasKey(sc.text[:i]) {
				if end, done := sc.rowEnd(); done {
					return end
				}
			}
			stop := sc.skipWhile(i, isTerminal)
			after := sc.skipWhile(stop, isCloser)
			if end, done := sc.atTerminal(i, stop, after); done {
				return end
			}
			i = after
			continue
		}
		i += size
	}
	if sc.final {
		return len(sc.text)
	}
	return unknown
}

// runeAt decodes the character at i; ok is false when its bytes have not all arrived. At the end
// of a final text it returns a line feed of size 0, so that the end behaves as the end of a line.
func (sc scanner) runeAt(i int) (r rune, size int, ok bool) {
	if i >= len(sc.text) {
		return '\n', 0, sc.final
	}
	if !sc.final && !utf8.FullRuneInString(sc.text[i:]) {
		return 0, 0, false
	}
	r, size = utf8.DecodeRuneInString(sc.text[i:])
	return r, size, true
}

func (sc scanner) skipWhile(i int, in func(rune) bool) int {
	for i < len(sc.text) {
		r, size, ok := sc.runeAt(i)
		if !ok || !in(r) {
			break
		}
		i += size
	}
	return i
}

// rowEnd handles a line that may be a table row: done says that it is one (with its end) or that
// the line has not yet arrived (with unknown).
func (sc scanner) rowEnd() (end int, done bool) {
	line, _, whole := strings.Cut(sc.text, "\n")
	if !whole && !sc.final {
		return unknown, true
	}
	return len(line), IsRow(line)
}

// atNewline decides whether the line feed at i ends the sentence; done is false when it does not.
func (sc scanner) atNewline(i int) (end int, done bool) {
	line := sc.text[strings.LastIndexByte(sc.text[:i], '\n')+1 : i]
	trimmed := strings.TrimRightFunc(line, unicode.IsSpace)
	if utf8.RuneCountInString(trimmed) < wrapWidth || strings.HasSuffix(trimmed, ":") {
		return i, true
	}
	next := sc.skipWhile(i+1, func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
	r, size, ok := sc.runeAt(next)
	switch {
	case !ok:
		return unknown, true
	case r == '\n':
		return i, true
	case strings.ContainsRune("-*+•–>#|", r):
		return i, true
	case unicode.IsDigit(r):
		dot := sc.skipWhile(next+size, unicode.IsDigit)
		mark, _, ok := sc.runeAt(dot)
		if !ok {
			return unknown, true
		}
		return i, mark == '.' || mark == ')'
	}
	return i, false
}

// atTerminal decides whether the end marks at [mark, stop), closed by quotes up to after, end the
// sentence; done is false when they do not.
func (sc scanner) atTerminal(mark, stop, after int) (end int, done bool) {
	r, _, ok := sc.runeAt(after)
	if !ok {
		return unknown, true
	}
	if last, _ := utf8.DecodeLastRuneInString(sc.text[mark:stop]); isWideTerminal(last) {
		return after, true
	}
	if !unicode.IsSpace(r) {
		return 0, false
	}
	next := sc.skipWhile(after, unicode.IsSpace)
	word := sc.skipWhile(next, isOpener)
	stopWord := sc.skipWhile(word, isWordRune)
	follow, _, ok := sc.runeAt(stopWord)
	if !ok {
		return unknown, true
	}
	c := candidate{
		before:    sc.text[:mark],
		marks:     sc.text[mark:stop],
		closed:    after > stop,
		newline:   strings.Contains(sc.text[after:next], "\n") || next == len(sc.text),
		next:      sc.text[word:stopWord],
		follow:    follow,
		lineStart: sc.lineStart,
	}
	return after, c.ends()
}

// IsRow says whether line is a table row written out as "header: value; header: value."
func IsRow(line string) bool {
	if !hasKey(line) {
		return false
	}
	cells := strings.Split(line, "; ")
	for _, cell := range cells[1:] {
		if strings.Contains(cell+" ", ": ") {
			return true
		}
	}
	return false
}

// hasKey says whether s begins with the name of a column: a few words and a colon.
func hasKey(s string) bool {
	key, _, found := strings.Cut(s, ": ")
	return found && key != "" && utf8.RuneCountInString(key) <= keyWidth &&
		!strings.ContainsAny(key, ".!?;\n")
}

func isTerminal(r rune) bool {
	return r == '.' || r == '!' || r == '?' || r == '…' || isWideTerminal(r)
}

// isWideTerminal reports the end marks after which Chinese and Japanese put no space.
func isWideTerminal(r rune) bool { return r == '。' || r == '！' || r == '？' }

func isCloser(r rune) bool { return strings.ContainsRune(`"'”“’‘»«›‹)]*_」』）`, r) }

func isOpener(r rune) bool { return strings.ContainsRune(`"'“”„‘‚«»‹›([*_¿¡`, r) }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
