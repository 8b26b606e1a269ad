package ingest

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	tag "golang.org/x/net/html/atom"
)

// markPrefix begins the attribute that gives an element a number. As a name, not a value, it survives
// when the readability module merges two elements into one.
const markPrefix = "data-ingest-"

// mainContent returns the elements of the main content of a page, or nil where nothing tells it and all
// counts. Two voices are heard: the element that the page itself marks as its content, and the
// readability module, which tells an article from what surrounds it. The module only votes: its own text
// glues the cells of tables and loses prices (O08). What bears a price, or is a table of data, stays.
func mainContent(root *html.Node) map[*html.Node]bool {
	removeAside(root)
	kept := map[*html.Node]bool{}
	isArticle := readability.CheckDocument(root)
	if main := mainElement(root); main != nil {
		keepMain(main, kept, !isArticle)
	}
	if isArticle {
		keepArticle(root, kept)
	}
	if len(kept) == 0 {
		return nil
	}
	keepPrices(root, kept)
	return kept
}

// keepArticle adds what the readability module takes for the article.
func keepArticle(root *html.Node, kept map[*html.Node]bool) {
	var elements []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			n.Attr = append(n.Attr, html.Attribute{Key: markPrefix + strconv.Itoa(len(elements))})
			elements = append(elements, n)
		}
	}
	parser := readability.NewParser()
	parser.DisableJSONLD = true
	article, err := parser.ParseDocument(root, &url.URL{Scheme: "https", Host: "localhost"})
	if err != nil || article.Node == nil {
		return
	}
	for n := range article.Node.Descendants() {
		for _, a := range n.Attr {
			number, isMark := strings.CutPrefix(a.Key, markPrefix)
			if i, err := strconv.Atoi(number); isMark && err == nil && i < len(elements) {
				kept[elements[i]] = true
			}
		}
	}
}

// mainElement returns the smallest element that the page marks as its content and that holds at least
// two fifths of its text, or nil.
func mainElement(root *html.Node) (main *html.Node) {
	sizes := map[*html.Node]int{}
	all := measure(root, sizes)
	for n := range root.Descendants() {
		if isMain(n) && sizes[n]*5 >= all*2 && (main == nil || sizes[n] <= sizes[main]) {
			main = n
		}
	}
	return main
}

func isMain(n *html.Node) bool {
	if n.DataAtom == tag.Main || n.DataAtom == tag.Article || attribute(n, "role") == "main" {
		return true
	}
	switch attribute(n, "id") {
	case "content", "main", "main-content", "maincontent", "page-content", "primary":
		return true
	}
	return false
}

// keepMain keeps what reads as text inside of main, all of it where nothing else tells.
func keepMain(main *html.Node, kept map[*html.Node]bool, all bool) {
	for n := range main.Descendants() {
		switch n.DataAtom {
		case tag.P, tag.Li, tag.Dt, tag.Dd, tag.Pre, tag.Blockquote, tag.Table, tag.H1, tag.H2, tag.H3, tag.H4, tag.H5, tag.H6:
			if all || !isLinks(n) {
				keepAll(n, kept)
			}
		default:
			if all && n.Type == html.ElementNode {
				kept[n] = true
			}
		}
	}
}

// isLinks says that most of the text of an element is links.
func isLinks(n *html.Node) bool {
	sizes := map[*html.Node]int{}
	all, links := measure(n, sizes), 0
	for d := range n.Descendants() {
		if d.DataAtom == tag.A {
			links += sizes[d]
		}
	}
	return links*10 > all*7
}

// aside names, in classes and ids, what surrounds the content of a page.
var aside = strings.Fields(`nav navbar navigation menu breadcrumb breadcrumbs cookie cookies consent gdpr sidebar
	share sharing sharedaddy social respond reply related newsletter subscribe pagination
	pager toc editsection footer widget ad ads advert advertisement cart basket toolbar skip modal popup masthead copyright`)

var words = regexp.MustCompile(`[A-Za-z]+`)

// isAside says that an element is no content by what it is or is called.
func isAside(n *html.Node) bool {
	switch n.DataAtom {
	case tag.Nav, tag.Footer:
		return true
	case tag.Div, tag.Section, tag.Aside, tag.Ul, tag.Ol, tag.Form, tag.Header, tag.P, tag.Span, tag.Dl, tag.Table:
	default:
		return false
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "complementary":
		return true
	}
	for _, word := range words.FindAllString(attribute(n, "class")+" "+attribute(n, "id"), -1) {
		if word = strings.ToLower(word); slices.Contains(aside, word) || strings.HasPrefix(word, "comment") {
			return true
		}
	}
	return false
}

// removeAside takes out what surrounds the content. What holds half of the text of the page, the first
// heading or its main element is no surroundings, whatever it is called.
func removeAside(root *html.Node) {
	sizes := map[*html.Node]int{}
	all := measure(root, sizes)
	var gone []*html.Node
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		isNamed := n.DataAtom != tag.Nav && n.DataAtom != tag.Footer
		if isAside(n) && (!isNamed || sizes[n]*2 < all) && !holdsMain(n) {
			gone = append(gone, n)
			return
		}
		for child := range n.ChildNodes() {
			visit(child)
		}
	}
	visit(root)
	for _, n := range gone {
		n.Parent.RemoveChild(n)
	}
}

// measure enters the length of the text of each element.
func measure(n *html.Node, sizes map[*html.Node]int) int {
	size := 0
	if n.Type == html.TextNode {
		size = len(strings.TrimSpace(n.Data))
	}
	for child := range n.ChildNodes() {
		size += measure(child, sizes)
	}
	sizes[n] = size
	return size
}

func holdsMain(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom == tag.Main || d.DataAtom == tag.H1 || d.DataAtom == tag.Article && attribute(d, "class") == "" {
			return true
		}
	}
	return false
}

// price finds an amount of money.
var price = regexp.MustCompile(`(?i)(?:[€$£¥]|\b(?:eur|usd|gbp|chf)\b)\s?\d|\d\s?(?:[€$£¥]|(?:eur|euros?|usd|gbp|chf|ct|cents?)\b)`)

// maxPriceBlock is the most characters of what is kept around a price: a card, a line of a list.
const maxPriceBlock = 300

// keepPrices adds what bears a price and tables of data to what is kept of an article.
func keepPrices(root *html.Node, kept map[*html.Node]bool) {
	sizes := map[*html.Node]int{}
	measure(root, sizes)
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode && price.MatchString(n.Data):
			around := n.Parent
			for p := around.Parent; p != nil && sizes[p] <= maxPriceBlock && p.DataAtom != tag.Body; p = p.Parent {
				around = p
			}
			keepAll(around, kept)
		case n.DataAtom == tag.Table && hasData(n):
			keepAll(n, kept)
		}
	}
}

func keepAll(n *html.Node, kept map[*html.Node]bool) {
	kept[n] = true
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			kept[d] = true
		}
	}
}
