package ingest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// jsonReader makes sections of the values of a JSON document.
type jsonReader struct {
	outline
}

// takeFacts takes the facts out of the outermost object.
func (r *jsonReader) takeFacts(root *jsonNode) {
	for i := 0; i < len(root.keys); i++ {
		value := root.all[i]
		if value.kind != jsonScalar || value.text == "" || !isFactOfData(root.keys[i], value.text) {
			continue
		}
		if root.keys[i] == factTitle && utf8.RuneCountInString(value.text) > maxHeading {
			continue
		}
		r.page.facts[root.keys[i]] = fact{value: value.text}
		if root.keys[i] == factTitle {
			continue // it is also the heading above its text
		}
		root.keys, root.all = slices.Delete(root.keys, i, i+1), slices.Delete(root.all, i, i+1)
		i--
	}
}

func (r *jsonReader) value(n *jsonNode, level int) {
	switch n.kind {
	case jsonObject:
		r.object(n, level)
	case jsonArray:
		for _, item := range n.all {
			switch {
			case item.isEmpty():
			case item.kind == jsonScalar && item.isProse():
				r.prose("", item.text)
			case item.kind == jsonScalar:
				r.add(Block{Kind: Item, Text: "- " + item.text})
			case item.isFlat() && !item.isDocument():
				r.row(item)
			default:
				r.value(item, level)
				r.close(level)
			}
		}
	default:
		r.prose("", n.text)
	}
}

// object files an object: its title as a heading, then what is short, its text, and what is nested.
func (r *jsonReader) object(n *jsonNode, level int) {
	title, text := n.find(titleNames), n.find(textNames)
	if title >= 0 && (utf8.RuneCountInString(n.all[title].text) > maxHeading || n.all[title].isProse()) {
		title = -1
	}
	if title >= 0 {
		r.open(level, oneLine(n.all[title].text))
		level++
	}
	short := jsonNode{kind: jsonObject}
	for i, child := range n.all {
		if i != title && i != text && child.isFlat() && !child.isTable() {
			short.keys, short.all = append(short.keys, n.keys[i]), append(short.all, child)
		}
	}
	r.row(&short)
	if text >= 0 {
		r.prose("", n.all[text].text)
	}
	for i, child := range n.all {
		switch {
		case i == title || i == text || child.isEmpty() || child.isFlat() && !child.isTable():
		case child.kind == jsonScalar:
			r.prose(n.keys[i], child.text)
		case child.isNamedRows():
			r.open(level, clipHeading(n.keys[i]))
			for j, row := range child.all {
				r.row(&jsonNode{kind: jsonObject, keys: append([]string{""}, row.keys...), all: append([]*jsonNode{{text: child.keys[j]}}, row.all...)})
			}
			r.close(level)
		default:
			r.open(level, clipHeading(n.keys[i]))
			r.value(child, level+1)
			r.close(level)
		}
	}
}

// isTable says that an object holds objects under names, such as plans, or an array objects.
func (n *jsonNode) isTable() bool {
	objects := 0
	for _, child := range n.all {
		if child.kind == jsonObject {
			objects++
		}
	}
	return objects > 0 && (objects > 1 || n.kind == jsonArray)
}

// isNamedRows says that all members of an object are flat objects: a table whose rows have names.
func (n *jsonNode) isNamedRows() bool {
	return n.kind == jsonObject && !slices.ContainsFunc(n.all, func(c *jsonNode) bool { return c.kind != jsonObject || !c.isFlat() || c.isDocument() })
}

// row files the labels and values of an object on one line.
func (r *jsonReader) row(n *jsonNode) {
	var labels, values []string
	var visit func(label string, n *jsonNode)
	visit = func(label string, n *jsonNode) {
		switch n.kind {
		case jsonScalar:
			labels, values = append(labels, label), append(values, oneLine(n.text))
		case jsonArray:
			var all []string
			for _, child := range n.all {
				if child.text != "" {
					all = append(all, child.text)
				}
			}
			labels, values = append(labels, label), append(values, strings.Join(all, ", "))
		case jsonObject:
			for i, child := range n.all {
				visit(strings.TrimSpace(label+" "+n.keys[i]), child)
			}
		}
	}
	visit("", n)
	r.add(Block{Kind: Row, Text: rowLine(labels, values)})
}

// prose files a text in paragraphs, under a label where it has one. One that is written in HTML is read
// as that.
func (r *jsonReader) prose(label, text string) {
	if looksHTML(text) {
		text = fragmentText(text)
	}
	if label != "" {
		r.add(Block{Kind: Paragraph, Text: label + ":"})
	}
	r.add(paragraphs(text)...)
}

// The last words of the names under which exports keep a title and a text.
var (
	titleNames = []string{"title", "heading", "headline", "question", "objection", "subject", "name", "titel", "frage", "einwand", "titulo", "título", "pregunta", "objecion", "objeción"}
	textNames  = []string{"text", "content", "body", "answer", "response", "reply", "rebuttal", "markdown", "html", "description", "inhalt", "antwort", "texto", "contenido", "respuesta"}
)

// find returns the member whose name ends in one of the words, that which stands first among them.
func (n *jsonNode) find(names []string) int {
	for _, name := range names {
		for i, key := range n.keys {
			if n.all[i].kind == jsonScalar && n.all[i].text != "" && lastWord(key) == name {
				return i
			}
		}
	}
	return -1
}

// isDocument says that an object is a text with a title, or one that is longer than a row.
func (n *jsonNode) isDocument() bool {
	text := n.find(textNames)
	return n.kind == jsonObject && text >= 0 && (n.find(titleNames) >= 0 && lastWord(n.keys[text]) != "description" || n.all[text].isProse())
}

var wordOfKey = regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+|\d+`)

// lastWord returns the last word of a name such as chunk_heading or chunkHeading.
func lastWord(key string) string {
	words := wordOfKey.FindAllString(key, -1)
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(words[len(words)-1])
}

// clipHeading shortens a key that is too long for a heading.
func clipHeading(key string) string {
	if runes := []rune(key); len(runes) > maxHeading {
		return strings.TrimRightFunc(string(runes[:maxHeading-1]), unicode.IsSpace) + "…"
	}
	return key
}
