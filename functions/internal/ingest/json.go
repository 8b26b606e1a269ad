package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"porchlight/functions/internal/corpus"
)

// maxDepth is how deep the values of a JSON document may be nested.
const maxDepth = 64

// jsonPage reads price lists, arrays of documents and whatever else a program exports:
//
//   - an object with a text, such as {title, text} or {question, answer}, is a section under its title,
//     which begins with what else it says: "published: 2026-11-20; topic: Roofs.";
//   - any other object of an array is a row, each value with its label; labels of nested objects stand
//     one after the other ("price monthly: 12.50");
//   - the name of an array or object is the heading above it.
//
// Numbers, keys and order are those of the file (O15). Facts stand at the top of the outermost object.
func jsonPage(text string) (page, error) {
	if strings.TrimSpace(text) == "" {
		return page{}, &Refusal{Reason: Empty}
	}
	root, err := parseJSON([]byte(text))
	if err != nil {
		return page{}, err
	}
	r := jsonReader{outline: outline{page: page{facts: map[string]fact{}}}}
	if root.kind == jsonObject {
		r.takeFacts(root)
	}
	r.value(root, 1)
	if root.kind == jsonArray {
		r.page.title = "" // that of the first of many
	}
	if r.prune(); len(r.page.sections) == 0 {
		return page{}, &Refusal{Reason: NoContent, Detail: "it holds no text and no numbers"}
	}
	return r.page, nil
}

type jsonKind int

const (
	jsonScalar jsonKind = iota
	jsonArray
	jsonObject
)

// jsonNode is a value. Unlike a map it keeps the order of its members, and two of the same name.
type jsonNode struct {
	kind jsonKind
	text string   // of a scalar: a number as it is spelled; "" for null
	keys []string // of an object
	all  []*jsonNode
}

func parseJSON(raw []byte) (*jsonNode, error) {
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(raw, &whole); errors.As(err, &syntax) {
		return nil, malformed(1+bytes.Count(raw[:min(len(raw), int(syntax.Offset))], []byte("\n")), "it is not JSON")
	} else if err != nil {
		return nil, malformed(0, "it is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readNode(d, raw, 1)
}

func readNode(d *json.Decoder, raw []byte, depth int) (*jsonNode, error) {
	token, err := d.Token()
	switch {
	case err != nil:
		return nil, malformed(0, "it is not JSON")
	case depth > maxDepth:
		return nil, malformed(1+bytes.Count(raw[:d.InputOffset()], []byte("\n")), "values are nested more than %d deep", maxDepth)
	}
	n := &jsonNode{}
	switch token := token.(type) {
	case json.Delim:
		n.kind = jsonArray
		if token == '{' {
			n.kind = jsonObject
		}
		for d.More() {
			if n.kind == jsonObject {
				key, err := d.Token()
				if err != nil {
					return nil, malformed(0, "it is not JSON")
				}
				n.keys = append(n.keys, oneLine(fmt.Sprint(key)))
			}
			child, err := readNode(d, raw, depth+1)
			if err != nil {
				return nil, err
			}
			n.all = append(n.all, child)
		}
		_, err = d.Token() // its end
		return n, err
	case string:
		n.text = corpus.Normalise(token)
	case nil:
	default: // a json.Number is spelled as in the file
		n.text = fmt.Sprint(token)
	}
	return n, nil
}

// isFlat says that a value fits a row: a scalar, a list of scalars, or an object of such.
func (n *jsonNode) isFlat() bool {
	if n.kind == jsonScalar {
		return !n.isProse()
	}
	return !slices.ContainsFunc(n.all, func(c *jsonNode) bool {
		return !c.isFlat() || n.kind == jsonArray && c.kind != jsonScalar
	})
}

// isProse says that a value is a text of its own, not one for a row.
func (n *jsonNode) isProse() bool {
	const longValue = 240 // bytes
	return n.kind == jsonScalar && (len(n.text) > longValue || strings.Contains(n.text, "\n"))
}

// isEmpty says that there is nothing in it to read.
func (n *jsonNode) isEmpty() bool {
	return n.text == "" && !slices.ContainsFunc(n.all, func(c *jsonNode) bool { return !c.isEmpty() })
}
