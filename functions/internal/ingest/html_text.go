package ingest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	tag "golang.org/x/net/html/atom"

	"porchlight/functions/internal/corpus"
)

// htmlReader makes sections of the elements of a page, in the order in which they stand.
type htmlReader struct {
	outline
	title string              // of the head of the page
	top   *html.Node          // the only top heading, or nil
	kept  map[*html.Node]bool // the elements of the main content, nil for all
	line  strings.Builder     // the paragraph that is being gathered

	counts map[*html.Node]int // the items of each ordered list so far
}

// summaryLevel is that of a summary: below every heading.
const summaryLevel = 7

func (r *htmlReader) walk(n *html.Node) {
	if n.Type == html.TextNode {
		if r.keeps(n.Parent) {
			r.line.WriteString(spaced(n.Data))
		}
		return
	}
	switch n.DataAtom {
	case tag.Head:
	case tag.H1, tag.H2, tag.H3, tag.H4, tag.H5, tag.H6:
		r.flush()
		if r.keepsHeading(n) {
			r.heading(int(n.Data[1]-'0'), n)
		}
	case tag.Summary:
		r.flush()
		if r.keepsHeading(n) {
			r.heading(summaryLevel, n)
		}
	case tag.Br:
		r.line.WriteString("\n")
	case tag.Sup, tag.Sub:
		if r.keeps(n) {
			r.line.WriteString(raised(n))
		}
	case tag.Li:
		r.flush()
		r.item(n)
	case tag.Pre:
		r.flush()
		if r.keeps(n) {
			r.add(Block{Kind: Verbatim, Text: corpus.Normalise(rawText(n))})
		}
	case tag.Dl:
		r.flush()
		r.definitions(n)
	case tag.Table:
		r.flush()
		r.table(n)
	default:
		isBlock := isBlock(n)
		if isBlock {
			r.flush()
		}
		r.children(n)
		if isBlock {
			r.flush()
		}
		if n.DataAtom == tag.Details {
			r.close(summaryLevel)
		}
	}
}

func (r *htmlReader) children(n *html.Node) {
	for child := range n.ChildNodes() {
		r.walk(child)
	}
}

func (r *htmlReader) keeps(n *html.Node) bool { return r.kept == nil || r.kept[n] }

// keepsHeading says that a heading is kept itself or with what is in it, or is the title of the page.
func (r *htmlReader) keepsHeading(n *html.Node) bool {
	if r.keeps(n) || n == r.top {
		return true
	}
	for d := range n.Descendants() {
		if r.kept[d] {
			return true
		}
	}
	text := inlineText(n)
	return n.DataAtom == tag.H1 && text != "" && strings.Contains(r.title, text)
}

func (r *htmlReader) heading(level int, n *html.Node) {
	text := inlineText(n)
	if utf8.RuneCountInString(text) > maxHeading {
		r.add(Block{Kind: Paragraph, Text: text})
		return
	}
	if text != "" {
		r.open(level, text)
	}
}

// flush files the gathered paragraph.
func (r *htmlReader) flush() {
	text := lines(r.line.String())
	r.line.Reset()
	r.add(Block{Kind: Paragraph, Text: text})
}

// item files an item of a list with the lists nested in it. One that holds more than text, such as a
// card with a heading, is read like the rest of the page.
func (r *htmlReader) item(n *html.Node) {
	for d := range n.Descendants() {
		switch d.DataAtom {
		case tag.H1, tag.H2, tag.H3, tag.H4, tag.H5, tag.H6, tag.Table, tag.Pre, tag.Dl, tag.Details:
			r.children(n)
			r.flush()
			return
		}
	}
	if text := r.itemText(n, ""); text != "" {
		r.add(Block{Kind: Item, Text: text})
	}
}

func (r *htmlReader) itemText(n *html.Node, indent string) string {
	nested := htmlReader{kept: r.kept, counts: r.counts}
	var below []string
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		for child := range n.ChildNodes() {
			switch {
			case child.DataAtom == tag.Li:
				if text := r.itemText(child, indent+"  "); text != "" {
					below = append(below, text)
				}
			case child.DataAtom == tag.Ul, child.DataAtom == tag.Ol, isBlock(child):
				nested.line.WriteString("\n")
				visit(child)
				nested.line.WriteString("\n")
			default:
				nested.walk(child)
			}
		}
	}
	visit(n)
	text := strings.ReplaceAll(lines(nested.line.String()), "\n", "\n"+indent+"  ")
	if text != "" {
		below = append([]string{indent + r.marker(n) + text}, below...)
	}
	return strings.Join(below, "\n")
}

// marker is what Markdown writes before the next item of a list.
func (r *htmlReader) marker(item *html.Node) string {
	if item.Parent == nil || item.Parent.DataAtom != tag.Ol {
		return "- "
	}
	r.counts[item.Parent]++
	return strconv.Itoa(r.counts[item.Parent]) + ". "
}

// definitions files a list of terms as rows "term: description."
func (r *htmlReader) definitions(list *html.Node) {
	term, isShown := "", false
	for n := range list.Descendants() {
		switch n.DataAtom {
		case tag.Dt:
			if term != "" && !isShown {
				r.add(Block{Kind: Row, Text: term})
			}
			term, isShown = "", false
			if r.keepsHeading(n) {
				term = inlineText(n)
			}
		case tag.Dd:
			if r.keepsHeading(n) {
				r.add(Block{Kind: Row, Text: rowLine([]string{strings.TrimSuffix(term, ":")}, []string{inlineText(n)})})
				isShown = true
			}
		}
	}
	if term != "" && !isShown {
		r.add(Block{Kind: Row, Text: term})
	}
}

// inlineText returns the text of an element on one line. What a list in it enumerates stands between
// commas.
func inlineText(n *html.Node) string {
	var b strings.Builder
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		for child := range n.ChildNodes() {
			switch {
			case child.Type == html.TextNode:
				b.WriteString(spaced(child.Data))
			case child.DataAtom == tag.Sup, child.DataAtom == tag.Sub:
				b.WriteString(raised(child))
			case child.DataAtom == tag.Li && child.PrevSibling != nil && strings.TrimSpace(b.String()) != "":
				b.WriteString(", ")
				visit(child)
			case child.DataAtom == tag.Br, isBlock(child), child.DataAtom == tag.Td:
				b.WriteString(" ")
				visit(child)
				b.WriteString(" ")
			default:
				visit(child)
			}
		}
	}
	visit(n)
	text := strings.Join(strings.FieldsFunc(corpus.Normalise(b.String()), isBreakable), " ")
	return strings.ReplaceAll(text, " ,", ",")
}

// rawText returns the text of an element as it is written.
func rawText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.DataAtom == tag.Br:
			b.WriteString("\n")
		}
	}
	return b.String()
}

// raised returns the figures of a <sup> or <sub> as such: m², CO₂, and 39⁹⁰, which is not 3990.
func raised(n *html.Node) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	if n.DataAtom == tag.Sub {
		digits = []rune("₀₁₂₃₄₅₆₇₈₉")
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return digits[r-'0']
		}
		return r
	}, inlineText(n))
}

// isBreakable says that a browser may show the character as any other space: not a no-break space,
// which belongs to a number.
func isBreakable(r rune) bool { return unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' }

// spaced replaces line ends, which mean nothing in a page, by spaces.
func spaced(text string) string {
	return strings.Map(func(r rune) rune {
		if isBreakable(r) {
			return ' '
		}
		return r
	}, text)
}

// lines returns normalised text in which only <br> breaks lines and spaces stand alone.
func lines(text string) string {
	all := strings.Split(text, "\n")
	kept := all[:0]
	for _, line := range all {
		if line = strings.Join(strings.FieldsFunc(line, isBreakable), " "); line != "" {
			kept = append(kept, line)
		}
	}
	return corpus.Normalise(strings.Join(kept, "\n"))
}

func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case tag.Address, tag.Article, tag.Aside, tag.Blockquote, tag.Body, tag.Caption, tag.Center, tag.Dd, tag.Details,
		tag.Div, tag.Dl, tag.Dt, tag.Fieldset, tag.Figcaption, tag.Figure, tag.Footer, tag.Form, tag.Header,
		tag.Hr, tag.Label, tag.Legend, tag.Li, tag.Main, tag.Nav, tag.Ol, tag.P, tag.Section, tag.Summary,
		tag.Table, tag.Tbody, tag.Td, tag.Th, tag.Tr, tag.Ul:
		return true
	}
	return false
}
