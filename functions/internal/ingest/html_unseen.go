package ingest

import (
	"regexp"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	tag "golang.org/x/net/html/atom"
)

// removeUnseen takes out what a visitor does not see (O102): scripts, comments, what is hidden by an
// attribute, a style or a class of the page's own style sheet, and text that is struck out, since an
// old price would be read as the price.
func removeUnseen(root *html.Node) {
	hides := hidingRules(root)
	var gone []*html.Node
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && (isUnseen(n) || isHiddenBy(hides, n)) {
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

func isUnseen(n *html.Node) bool {
	switch n.DataAtom {
	case tag.Script, tag.Style, tag.Noscript, tag.Template, tag.Iframe, tag.Object, tag.Svg, tag.Math,
		tag.Canvas, tag.Audio, tag.Video, tag.Select, tag.Textarea, tag.Button, tag.Input, tag.Datalist,
		tag.Del, tag.S, tag.Strike, tag.Dialog, tag.Noframes, tag.Title:
		return true
	case tag.Body, tag.Html:
		return false // pages hide them until a script has run
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			if a.Val != "until-found" {
				return true
			}
		case "style":
			if isHidingStyle(a.Val) {
				return true
			}
		}
	}
	return false
}

var hidingStyle = regexp.MustCompile(`(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0?\.?0*(?:;|!|$)|font-size:0[a-z%.0]*(?:;|!|$)|(?:text-indent|left|top|margin-left|margin-top):-\d{3,})`)

func isHidingStyle(style string) bool {
	style = strings.Join(strings.Fields(strings.ToLower(style)), "")
	if hidingStyle.MatchString(style) {
		return true
	}
	var color, background string
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		switch name {
		case "color":
			color = value
		case "background", "background-color":
			background = value
		}
	}
	return color != "" && color == background
}

// maxRules bounds how many selectors of a page are tried on each of its elements.
const maxRules = 100

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssRule    = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	cssOnTop   = regexp.MustCompile(`@[^{};]*(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})`)
)

// hidingRules returns the selectors under which the page's own style sheets show nothing. Rules for one
// medium, such as print, are left out.
func hidingRules(root *html.Node) (hides []cascadia.Sel) {
	for n := range root.Descendants() {
		if n.DataAtom != tag.Style || n.FirstChild == nil {
			continue
		}
		css := cssOnTop.ReplaceAllString(cssComment.ReplaceAllString(n.FirstChild.Data, ""), "")
		for _, parts := range cssRule.FindAllStringSubmatch(css, -1) {
			if !isHidingStyle(parts[2]) {
				continue
			}
			group, err := cascadia.ParseGroup(strings.TrimSpace(parts[1]))
			if err != nil {
				continue // ":hover" and the like
			}
			if hides = append(hides, group...); len(hides) > maxRules {
				return hides[:maxRules]
			}
		}
	}
	return hides
}

func isHiddenBy(hides []cascadia.Sel, n *html.Node) bool {
	if n.DataAtom == tag.Body || n.DataAtom == tag.Html || n.DataAtom == tag.Head {
		return false
	}
	for _, s := range hides {
		if s.PseudoElement() == "" && s.Match(n) {
			return true
		}
	}
	return false
}
