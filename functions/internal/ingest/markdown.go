package ingest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"porchlight/functions/internal/corpus"
)

// maxHeading is the most characters of a heading; a longer line is text that begins with a "#". Six
// of them and what joins them stay under the 1,000 of a stored heading path.
const maxHeading = 150

// deepNesting finds a line that opens 32 lists and quotations or is indented for 50: the parser's time
// grows with the square of their number.
var deepNesting = regexp.MustCompile(`(?m)^(?:(?:[ \t]*(?:>|(?:[-+*]|\d+[.)])[ \t])){32}|[ \t]{100,}[-+*>\d])`)

// markdown reads CommonMark with front matter and tables. The parser only finds where blocks begin
// and what is a heading; the text of a block is its source.
func markdown(raw string) (page, error) {
	src := corpus.Normalise(raw)
	facts, src, lines, err := frontMatter(src)
	if err != nil {
		return page{}, err
	}
	if at := deepNesting.FindStringIndex(src); at != nil {
		return page{}, malformed(lines+1+strings.Count(src[:at[0]], "\n"), "lists or quotations nested too deeply")
	}
	r := markdownReader{
		src: src, firstLine: lines + 1, inline: goldmark.DefaultParser(), outline: outline{page: page{facts: facts}},
	}
	// Only block parsers: inline ones take minutes for a megabyte of "[a](".
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	if err := r.read(blocks.Parse(text.NewReader([]byte(src)))); err != nil {
		return page{}, err
	}
	return r.page, nil
}

type markdownReader struct {
	src       string
	firstLine int // of src in the file
	inline    parser.Parser
	outline
}

// read files every top-level block. A block reaches from its first line to that of the next one, so
// that nothing between two blocks is lost.
func (r *markdownReader) read(root ast.Node) error {
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		start, end := r.lineStart(n), len(r.src)
		if next := n.NextSibling(); next != nil {
			end = r.lineStart(next)
		}
		if err := r.block(n, start, end); err != nil {
			return err
		}
	}
	return nil
}

func (r *markdownReader) lineStart(n ast.Node) int {
	return strings.LastIndexByte(r.src[:n.Pos()], '\n') + 1
}

func (r *markdownReader) block(n ast.Node, start, end int) error {
	source := strings.Trim(r.src[start:end], "\n")
	switch n := n.(type) {
	case *ast.ThematicBreak:
	case *ast.Heading:
		r.heading(n, source)
	case *ast.List:
		r.list(n, end)
	case *ast.Paragraph:
		blocks, err := paragraphOrTable(source, r.firstLine+strings.Count(r.src[:start], "\n"))
		r.add(blocks...)
		return err
	default: // code, quotation, HTML
		r.add(Block{Kind: Verbatim, Text: source})
	}
	return nil
}

// list files the items of a list one by one.
func (r *markdownReader) list(n *ast.List, end int) {
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		start, stop := r.lineStart(item), end
		if next := item.NextSibling(); next != nil {
			stop = r.lineStart(next)
		}
		r.add(Block{Kind: Item, Text: strings.Trim(r.src[start:stop], "\n")})
	}
}

func (r *markdownReader) heading(n *ast.Heading, source string) {
	lines := make([]string, n.Lines().Len())
	for i := range lines {
		segment := n.Lines().At(i)
		lines[i] = r.src[segment.Start:segment.Stop]
	}
	written := strings.TrimSpace(strings.Join(lines, ""))
	if utf8.RuneCountInString(written) > maxHeading {
		r.add(Block{Kind: Paragraph, Text: source})
		return
	}
	r.open(n.Level, r.headingText(written))
}

// headingText returns what a reader sees of a heading: a link is its words, emphasis has no stars.
func (r *markdownReader) headingText(written string) string {
	src := []byte("# " + strings.ReplaceAll(written, "\n", " "))
	root := r.inline.Parse(text.NewReader(src))
	var b strings.Builder
	// The walker fails only when its function does.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(src))
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(src))
		}
		return ast.WalkContinue, nil
	})
	return oneLine(b.String())
}
