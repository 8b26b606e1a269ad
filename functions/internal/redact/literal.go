package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// literal is a text of the policy as it is searched for: its letters and digits alone.
type literal struct {
	key      string // the letters
	letters  []rune
	breaks   map[int]bool // the literal has something else before this byte of key
	isWhole  bool         // found only as whole words
	anywhere bool         // its script has no spaces between words
}

// shortest is the number of letters from which on a literal is also found inside a longer word, such as
// a name with an ending.
const shortest = 5

func newLiteral(text string) literal {
	s := skeletonOf(look(text))
	l := literal{key: s.text, letters: []rune(s.text), breaks: map[int]bool{}}
	for at := 1; at < len(s.text); at++ {
		if s.isGap(at) {
			l.breaks[at] = true
		}
	}
	l.isWhole = len(l.letters) < shortest || !strings.ContainsFunc(s.text, unicode.IsLetter)
	l.anywhere = strings.ContainsFunc(s.text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
	return l
}

// skeleton is the letters and digits of a view in one case, without accents, and where each byte of
// them stands in the view.
type skeleton struct {
	text     string
	from, to []int32
}

func skeletonOf(v view) skeleton {
	var b strings.Builder
	s := skeleton{}
	for at, r := range v.text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		b.WriteString(bare(r))
		for len(s.from) < b.Len() {
			s.from = append(s.from, int32(at))
			s.to = append(s.to, int32(at+utf8.RuneLen(r)))
		}
	}
	s.text = b.String()
	return s
}

// isGap says that something stands between the character before the byte at and its own.
func (s skeleton) isGap(at int) bool {
	return at == 0 || at == len(s.text) || s.from[at] > s.to[at-1]
}

// bare returns a letter in lower case without accents. Letters whose capitals look alike are the same.
func bare(r rune) string {
	switch {
	case r < utf8.RuneSelf:
		return string(unicode.ToLower(r))
	case r == 'ß' || r == 'ẞ':
		return "ss"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		r = unicode.ToLower(unicode.ToUpper(r))
		if latin, ok := lookalikes[r]; ok {
			return latin
		}
		if latin, ok := lookalikes[unicode.ToUpper(r)]; ok {
			return unicode.ToLower(latin)
		}
		return r
	}, norm.NFD.String(string(unicode.ToLower(r))))
}

// in finds the literal in any case, with or without accents, and with anything but letters and digits
// between its letters: as words of its own; inside a longer word too when it is long enough and keeps
// its own gaps.
func (l literal) in(s skeleton) (found [][2]int) {
	for at := 0; ; {
		i := strings.Index(s.text[at:], l.key)
		if i < 0 {
			return found
		}
		start := at + i
		end := start + len(l.key)
		at = start + 1
		isWord := s.isGap(start) && s.isGap(end)
		if isWord || l.anywhere || !l.isWhole && l.keepsGaps(s, start) {
			found = append(found, [2]int{int(s.from[start]), int(s.to[end-1])})
			at = end
		}
	}
}

func (l literal) keepsGaps(s skeleton, start int) bool {
	for i := 1; i < len(l.key); i++ {
		if s.isGap(start+i) && !l.breaks[i] {
			return false
		}
	}
	return true
}
