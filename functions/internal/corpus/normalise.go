package corpus

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normalise returns the one spelling in which text is stored, hashed, embedded and searched:
//
//   - every line break (CRLF, CR, vertical tab, form feed, NEL) is a line feed;
//   - NUL, the other control characters except tab, and the invisible code points listed in this
//     file are gone;
//   - a zero-width joiner or non-joiner stays only where it changes what a reader sees: inside a
//     word of a script that is written with it, and between two emoji;
//   - a character carries at most twelve combining marks;
//   - the rest is in NFC, never NFKC: "½", "²" and every digit stay what they are;
//   - no line ends in white space, and no blank line stands first or last;
//   - a text without a single character to read is empty.
//
// It is idempotent and its result is valid UTF-8. Bytes that are not UTF-8 would become U+FFFD, so
// a caller refuses them before.
func Normalise(s string) string {
	s = strings.Map(visible, norm.NFC.String(lineBreaks.Replace(s)))
	s = norm.NFC.String(dropUseless(s)) // again: what went may have kept two characters apart
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	s = strings.Trim(strings.Join(lines, "\n"), "\n")
	if !strings.ContainsFunc(s, isReadable) {
		return ""
	}
	return s
}

// isReadable says whether a character means something by itself. Accents without a letter, format
// characters, private use and U+FFFD do not, and a model finds no word in them.
func isReadable(r rune) bool {
	return r != unicode.ReplacementChar && !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Mn)
}

// lineBreaks maps the vertical controls to line feeds: dropping them would glue two words.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n")

func visible(r rune) rune {
	if r != '\n' && r != '\t' && unicode.Is(invisible, r) {
		return -1
	}
	return r
}

// invisible lists what a reader can't see but a model or a comparison does. Variation selectors are
// on it because any byte can be hidden in a run of them, while they only choose a glyph.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0000, Hi: 0x001F, Stride: 1}, // C0 controls
		{Lo: 0x007F, Hi: 0x009F, Stride: 1}, // delete, C1 controls
		{Lo: 0x00AD, Hi: 0x00AD, Stride: 1}, // soft hyphen
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x061C, Hi: 0x061C, Stride: 1}, // Arabic letter mark
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180E, Hi: 0x180E, Stride: 1}, // Mongolian vowel separator
		{Lo: 0x200B, Hi: 0x200B, Stride: 1}, // zero-width space
		{Lo: 0x200E, Hi: 0x200F, Stride: 1}, // left-to-right and right-to-left mark
		{Lo: 0x202A, Hi: 0x202E, Stride: 1}, // bidi embeddings and overrides
		{Lo: 0x2060, Hi: 0x206F, Stride: 1}, // word joiner, invisible operators, bidi isolates
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, // variation selectors
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, // byte order mark
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1}, // interlinear annotation
	},
	R32: []unicode.Range32{
		{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, // shorthand format controls
		{Lo: 0x1D173, Hi: 0x1D17A, Stride: 1}, // musical format controls
		{Lo: 0xE0000, Hi: 0xE01EF, Stride: 1}, // tag characters, supplementary variation selectors
	},
	LatinOffset: 3,
}

const (
	zeroWidthNonJoiner = '\u200C'
	zeroWidthJoiner    = '\u200D'
)

// joining lists the scripts whose spelling needs joiners: a Persian verb without its non-joiner is
// misspelt, and a Sinhala or Malayalam conjunct falls apart.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
	unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// maxMarks is how many combining marks may follow one character. Real spelling needs fewer, and
// beyond 30 the norm package inserts an invisible character, which Postgres' normalize does not.
const maxMarks = 12

// dropUseless removes each joiner that does not stand between two characters that it can join, and
// each combining mark beyond maxMarks. The rule for joiners looks past combining marks, so that NFC,
// which reorders and composes them, can't change its verdict.
func dropUseless(s string) string {
	runes := []rune(s)
	kept := runes[:0]
	var before rune // last kept character that is no combining mark
	marks := 0      // kept since then
	for i, r := range runes {
		switch {
		case unicode.IsMark(r):
			if marks++; marks > maxMarks {
				continue
			}
		case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
			if i+1 == len(runes) || !joins(before, r, runes[i+1]) {
				continue
			}
			before, marks = r, 0
		default:
			before, marks = r, 0
		}
		kept = append(kept, r)
	}
	return string(kept)
}

func joins(before, joiner, after rune) bool {
	if unicode.IsOneOf(joining, before) {
		return unicode.IsMark(after) || unicode.IsOneOf(joining, after)
	}
	isEmoji := unicode.Is(unicode.So, before) || (before >= 0x1F3FB && before <= 0x1F3FF)
	return joiner == zeroWidthJoiner && isEmoji && unicode.Is(unicode.So, after)
}
