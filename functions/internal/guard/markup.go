package guard

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	htmlTag = regexp.MustCompile(`(?i)</?[a-z][^<>]*>|<!--|<(script|style|img|iframe|svg|object|embed|form|a)\b|&(#\d+|#x[0-9a-f]+|lt|gt|amp|quot|nbsp);`)
	link    = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|\b(javascript|vbscript|mailto):\S|\bdata:[a-z]+/[a-z]|\bwww\.|(^|\s)//[a-z0-9-]+\.[a-z]|\]\(|!\[`)
	address = regexp.MustCompile(`(?i)[a-z0-9._%+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+|\b[a-z0-9-]{2,}(\.[a-z0-9-]+)*\.(com|net|org|info|biz|io|app|dev|shop|store|online|site|xyz|eu|de|es|uk|us|at|ch|fr|ru|example)\b(/\S*)?`)
	format  = regexp.MustCompile("^\\s*[{}]|[{\\[]\\s*\"|```|^\\s*\\|?(\\s*:?-{3,}:?\\s*\\|)+")
)

// Markup refuses what a plain spoken sentence never holds: control characters, HTML, links, images,
// code and JSON. An e-mail address or a bare domain passes when the evidence has it.
func Markup(text string, in Input) Verdict {
	switch {
	case strings.ContainsFunc(text, isHidden):
		return refuse(ReasonControl)
	case link.MatchString(text):
		return refuse(ReasonLink)
	case htmlTag.MatchString(text):
		return refuse(ReasonHTML)
	case format.MatchString(text):
		return refuse(ReasonFormat)
	}
	for _, a := range address.FindAllString(text, -1) {
		if !in.mentions(a) {
			return refuse(ReasonLink)
		}
	}
	return pass
}

func (in Input) mentions(address string) bool {
	for _, m := range in.trusted() {
		if strings.Contains(strings.ToLower(m.Content), strings.ToLower(address)) {
			return true
		}
	}
	return false
}

// isHidden reports characters that change what is seen without being seen: controls, direction
// marks, zero-width and tag characters. Joiners stay allowed, for emoji and several scripts.
func isHidden(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\u200c', '\u200d', '\u00ad':
		return false
	case unicode.ReplacementChar:
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= 0xE0000 && r <= 0xE007F
}
