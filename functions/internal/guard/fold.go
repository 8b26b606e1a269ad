package guard

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// superscripts are footnote marks and exponents; as digits they would make a price of "12 €¹".
const superscripts = "¹²³⁰⁴⁵⁶⁷⁸⁹"

// fold makes spellings of the same text equal: compatibility forms (NFKC), invisible characters and
// superscripts dropped, every white space but the line feed a space, every decimal digit 0 to 9.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(superscripts, r) {
			return -1
		}
		return r
	}, s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r < unicode.MaxASCII && r > ' ':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsDigit(r):
			return asciiDigit(r)
		}
		return r
	}, norm.NFKC.String(s))
}

// asciiDigit relies on Unicode: the ten digits of a script are contiguous, zero first.
func asciiDigit(r rune) rune {
	n := rune(0)
	for n < 9 && unicode.IsDigit(r-n-1) {
		n++
	}
	return '0' + n
}

// plain is fold for comparing words: lower case, no accents, no emphasis marks of Markdown, one space
// between words.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == '*' || r == '`' {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(fold(s))))
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "ß", "ss")), " ")
}

// Words returns the letters and digits of s as words that compare: lower case, no accents.
func Words(s string) []string {
	return strings.FieldsFunc(plain(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
