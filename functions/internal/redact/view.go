package redact

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a text as a reader sees it, in the one spelling that the finders read, and where each of its
// bytes comes from:
//
//   - compatibility forms are folded (NFKC), invisible characters and decorations of ASCII are gone;
//   - every digit is 0 to 9, every dash "-", every white space but the line feed " ";
//   - letters of other alphabets that look like Latin ones are those;
//   - a mark such as [email] is one character that no finder reads.
type view struct {
	text string
	from []int32 // for each byte of text, where its character begins in the source
	to   []int32 // and where it ends

	words map[string][]int32 // see wordsOf
}

// opaque stands for a mark in a view.
const opaque = '\uFFFC'

// look makes the view of a text.
func look(s string) view {
	v := &viewer{last: '\n'}
	v.out.Grow(len(s))
	for at := 0; at < len(s); {
		next := len(s)
		if i := strings.IndexByte(s[at:], '['); i >= 0 {
			next = at + i
		}
		v.plain(s[at:next], at)
		if at = next; at < len(s) {
			size := markAt(s[at:])
			if size == 0 {
				size = 1
				v.put('[', at, at+1)
			} else {
				v.put(opaque, at, at+size)
			}
			at += size
		}
	}
	return view{text: v.out.String(), from: v.from, to: v.to, words: wordsOf(v.out.String())}
}

// markAt returns the length of the mark that s begins with, or 0.
func markAt(s string) int {
	for _, k := range append(Kinds(), Literal) {
		if strings.HasPrefix(s, k.mark()) {
			return len(k.mark())
		}
	}
	return 0
}

// source returns where the bytes from start to end of the view come from.
func (v view) source(start, end int) (int, int) { return int(v.from[start]), int(v.to[end-1]) }

type viewer struct {
	out      strings.Builder
	from, to []int32
	last     rune // the character before
}

func (v *viewer) put(r rune, from, to int) {
	before := v.out.Len()
	v.out.WriteRune(r)
	for range v.out.Len() - before {
		v.from, v.to = append(v.from, int32(from)), append(v.to, int32(to))
	}
	v.last = r
}

// plain adds the part of a source that begins at offset. Small raised digits are left out: they are
// footnotes, and would spoil the number that they stand at.
func (v *viewer) plain(s string, offset int) {
	var segments norm.Iter
	segments.InitString(norm.NFKC, s)
	for !segments.Done() {
		from := segments.Pos()
		folded := segments.Next()
		to := segments.Pos()
		if strings.ContainsAny(s[from:to], "¹²³⁰⁴⁵⁶⁷⁸⁹") {
			continue
		}
		for len(folded) > 0 {
			r, size := utf8.DecodeRune(folded)
			folded = folded[size:]
			if r = seen(r); r >= 0 && !(unicode.IsMark(r) && v.last < utf8.RuneSelf) {
				v.put(r, offset+from, offset+to)
			}
		}
	}
}

// seen returns the character that a reader takes r for; -1 when nothing is to be seen.
func seen(r rune) rune {
	switch {
	case r == '\n' || r < unicode.MaxASCII && r >= ' ':
		return r
	case r == '\u2028' || r == '\u2029' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085':
		return '\n'
	case unicode.IsSpace(r) || r == '\u2800' || r == opaque:
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector) || strings.ContainsRune(fillers, r):
		return -1
	case unicode.IsDigit(r):
		return asciiDigit(r)
	case unicode.Is(unicode.Pd, r) || r == '\u2212' || r == '\u2043':
		return '-'
	}
	if latin, ok := lookalikes[r]; ok {
		return latin
	}
	return r
}

// fillers are letters and marks that take no room.
const fillers = "\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0"

// asciiDigit relies on Unicode: the ten digits of a script are contiguous, zero first.
func asciiDigit(r rune) rune {
	n := rune(0)
	for n < 9 && unicode.IsDigit(r-n-1) {
		n++
	}
	return '0' + n
}

// lookalikes are the letters of other alphabets and the signs that most fonts draw like ASCII, some of
// those that Unicode lists as confusable (UTS #39): Cyrillic, Greek, Armenian, then signs.
var lookalikes = pairs(
	"аеорсухіјѕԁԛԝһкАВЕКМНОРСТУХЅІЈҮ", "aeopcyxijsdqwhkABEKMHOPCTYXSIJY",
	"οραικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "opaikABEZHIKMNOPTYX",
	"օսոհ", "ounh",
	"⁄∕꞉։。․’‘ʼ", "//::..'''",
)

func pairs(lists ...string) map[rune]rune {
	m := map[rune]rune{}
	for i := 0; i < len(lists); i += 2 {
		to := lists[i+1]
		for j, r := range []rune(lists[i]) {
			m[r] = rune(to[j])
		}
	}
	return m
}

// decoded undoes what hides characters in markup and addresses: entities and percent signs.
func decoded(s string) string {
	for range 2 {
		s = percent.Replace(html.UnescapeString(s))
	}
	return s
}

// percent writes the escapes of printable ASCII as the characters that they are.
var percent = func() *strings.Replacer {
	const hex = "0123456789ABCDEF"
	var pairs []string
	for c := byte(' '); c < 0x7F; c++ {
		upper := string([]byte{'%', hex[c>>4], hex[c&15]})
		pairs = append(pairs, upper, string(c))
		if lower := strings.ToLower(upper); lower != upper {
			pairs = append(pairs, lower, string(c))
		}
	}
	return strings.NewReplacer(pairs...)
}()
