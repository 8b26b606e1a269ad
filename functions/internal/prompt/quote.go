package prompt

import (
	"regexp"
	"strings"
	"unicode"
)

// roleMark is the beginning of a tag or of a role token of some chat format ("</context>",
// "<|im_start|>", "<<SYS>>", "[INST]"). A comparison ("< 3 kWh") is not.
var roleMark = regexp.MustCompile(`(?i)<(\s*[/|<!?a-z])|\[(\s*/?\s*inst\s*)\]`)

// quote writes every line of data as "| line". Line breaks of every kind are kept as such,
// characters that cannot be seen are dropped, role marks lose their meaning, and the nonce of the
// request is taken out.
func quote(data, nonce string) string {
	data = strings.Map(visible, strings.ReplaceAll(data, "\r\n", "\n"))
	for roleMark.MatchString(data) { // "<<SYS>>" needs two rounds
		data = roleMark.ReplaceAllString(data, "‹$1$2")
	}
	if nonce != "" {
		data = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(nonce)).ReplaceAllString(data, "-")
	}
	var b strings.Builder
	for line := range strings.SplitSeq(data, "\n") {
		b.WriteString("| " + line + "\n")
	}
	return b.String()
}

// visible maps every line break to a line feed and drops control and format characters.
func visible(r rune) rune {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return '\n'
	case '\t':
		return ' '
	}
	if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// truncate cuts s after n characters.
func truncate(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
