package pdf

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// PDFium writes a hyphen at the end of a line as U+0002 and leaves the line end out.
var hyphen = regexp.MustCompile(`(\p{L}?)\x02[ \t]*(\p{L}?)`)

// clean makes text of what PDFium gives: lines end with \n, ligatures and the shapes of Arabic letters
// are letters (other compatible forms stay: ½ is no 12), hyphens at line ends are undone, and what
// is no character is dropped. // O01, O06
func clean(raw string) string {
	text := hyphen.ReplaceAllStringFunc(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\uFFFE", "\x02").Replace(raw), unhyphenated)
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 0xFB00 && r <= 0xFB4F, r >= 0xFB50 && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFC:
			b.WriteString(norm.NFKC.String(string(r)))
		case r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Co, r) && r != 0xFFFF:
			b.WriteRune(r)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\u00a0")
	}
	return strings.Trim(paragraphs(lines), "\n")
}

// unhyphenated joins a word that a line end cut. Between small letters the hyphen was the line's, else
// it is the word's, as in FAA-approved.
func unhyphenated(found string) string {
	before, after, _ := strings.Cut(found, "\x02")
	after = strings.TrimLeft(after, " \t")
	if isSmall(before) && isSmall(after) {
		return before + after
	}
	return before + "-" + after
}

func isSmall(letter string) bool {
	return letter != "" && strings.IndexFunc(letter, unicode.IsLower) == 0
}

// paragraphs joins lines, with a blank one after each that ends a sentence far from the margin. A text
// layer has no other sign of a paragraph.
func paragraphs(lines []string) string {
	widest := 0
	for _, line := range lines {
		widest = max(widest, len(line))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\n")
		if line != "" && len(line) < widest*3/4 && strings.ContainsAny(line[len(line)-1:], ".?!") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// legible counts the letters and digits of a text, and what stands for letters that nobody knows.
func legible(text string) (known, unknown int) {
	for _, r := range text {
		switch {
		case r == unicode.ReplacementChar:
			unknown++
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			known++
		}
	}
	return known, unknown
}
