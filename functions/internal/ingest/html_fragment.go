package ingest

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// markup finds a tag that people write into a cell or a field. "<24h>" is none.
var markup = regexp.MustCompile(`(?i)</?(?:a|abbr|b|br|code|div|em|h[1-6]|i|img|li|ol|p|pre|small|span|strong|sub|sup|table|td|th|tr|u|ul)(?:\s[^<>]*)?/?>`)

func looksHTML(text string) bool { return markup.MatchString(text) }

// fragmentText returns the text of a piece of HTML, its blocks apart by blank lines. What can't be read
// stays as it is.
func fragmentText(text string) string {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return text
	}
	removeUnseen(root)
	r := htmlReader{counts: map[*html.Node]int{}}
	r.walk(root)
	r.flush()
	var all []string
	for _, s := range r.page.sections {
		if len(s.Headings) > 0 {
			all = append(all, s.Headings[len(s.Headings)-1])
		}
		for _, b := range s.Blocks {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// cellText returns what a reader sees of a cell, on one line.
func cellText(cell string) string {
	if looksHTML(cell) {
		cell = strings.ReplaceAll(fragmentText(cell), "\n\n", " ")
	}
	return oneLine(cell)
}
