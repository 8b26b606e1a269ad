package ingest

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	tag "golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// maxNodes bounds the elements of a page. A printed page has some hundreds.
const maxNodes = 50_000

// htmlPage reads a web page: what a visitor can read of its main content, with its headings, lists and
// tables. A <meta> with the name of a fact, such as verified_at, is one; so are the language of <html>
// and the canonical address.
//
// The encoding is that of the page itself (O07). The parser refuses what is nested deeper than 512.
func htmlPage(raw []byte) (page, error) {
	text, guessed, err := decodeHTML(raw)
	if err != nil {
		return page{}, err
	}
	if strings.Count(text, "<") > 4*maxNodes {
		return page{}, tooManyElements()
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return page{}, malformed(0, "its elements are nested too deeply")
	}
	elements := 0
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements++
		}
	}
	if elements > maxNodes {
		return page{}, tooManyElements()
	}
	facts, title := htmlFacts(root)
	removeUnseen(root)
	r := htmlReader{title: title, kept: mainContent(root), counts: map[*html.Node]int{}}
	r.page.facts = facts
	r.top = onlyTopHeading(root)
	if title != "" && !r.hasTopHeading(root) {
		r.open(1, title)
	}
	r.walk(root)
	r.flush()
	if r.prune(); len(r.page.sections) == 0 {
		return page{}, &Refusal{Reason: NoContent, Detail: "a script may write its text"} // O09
	}
	r.page.isGuessed = guessed
	return r.page, nil
}

func tooManyElements() *Refusal {
	return &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("more than %d elements", maxNodes)}
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding=["']([\w-]+)["']`)

func decodeHTML(raw []byte) (text string, guessed bool, err error) {
	_, declared, _ := charset.DetermineEncoding(raw, "")
	if parts := xmlEncoding.FindSubmatch(raw[:min(len(raw), 200)]); parts != nil {
		declared = string(parts[1])
	}
	text, err = decode(raw, declared)
	return text, isGuessed(raw) && declared == "windows-1252" && !bytes.Contains(raw[:min(len(raw), 1024)], []byte("charset")), err
}

// htmlFacts returns what the head of the page says about it, and its title.
func htmlFacts(root *html.Node) (facts map[string]fact, title string) {
	facts = map[string]fact{}
	for n := range root.Descendants() {
		switch n.DataAtom {
		case tag.Html:
			code, _, _ := strings.Cut(strings.ToLower(attribute(n, "lang")), "-")
			if isLanguage(code) {
				facts[factLanguage] = fact{value: code}
			}
		case tag.Title:
			if title == "" && n.Parent.DataAtom == tag.Head {
				title = oneLine(rawText(n))
			}
		case tag.Link:
			if address := attribute(n, "href"); attribute(n, "rel") == "canonical" && isWebAddress(address) {
				facts[factURL] = fact{value: address}
			}
		case tag.Meta:
			name, content := strings.ToLower(attribute(n, "name")), attribute(n, "content")
			if name != factTitle && isFactOfData(name, content) {
				facts[name] = fact{value: content}
			}
		}
	}
	return facts, title
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// onlyTopHeading returns the top heading of a page that has one of them, which is then its title wherever
// it stands.
func onlyTopHeading(root *html.Node) (top *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom == tag.H1 {
			if top != nil {
				return nil
			}
			top = n
		}
	}
	return top
}

// hasTopHeading says that a top heading of the page is kept.
func (r *htmlReader) hasTopHeading(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.DataAtom == tag.H1 && r.keepsHeading(n) && inlineText(n) != "" {
			return true
		}
	}
	return false
}
