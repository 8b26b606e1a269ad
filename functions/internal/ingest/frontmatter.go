package ingest

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFrontMatter bounds, in bytes, what is given to the YAML parser, whose time grows faster than
// its input.
const maxFrontMatter = 8 << 10

// frontMatter takes the facts off the top of normalised Markdown. It returns them, the rest of the
// text, and how many lines went before it.
//
// A block between two lines "---" is front matter only when its first line is not blank and it reads
// as YAML keys and values; otherwise "---" was a rule and all of it is text (O17), and a document
// without front matter is a good document (O18). But a block that names one of our facts and can't be
// read is refused: taking it for text would forget the date or the visibility that its author wrote.
func frontMatter(text string) (facts map[string]fact, rest string, lines int, err error) {
	body, isOpen := strings.CutPrefix(text, "---\n")
	block, rest, isClosed := strings.Cut("\n"+body, "\n---\n")
	if !isClosed {
		block, isClosed = strings.CutSuffix(block, "\n---")
	}
	block = strings.TrimPrefix(block, "\n")
	if beginning, _, _ := strings.Cut(block, "\n\n"); isOpen && !isClosed && namesAFact(beginning) {
		return nil, "", 0, malformed(1, "the front matter has no closing ---")
	}
	if !isOpen || !isClosed || block == "" || strings.HasPrefix(block, "\n") {
		return nil, text, 0, nil
	}
	facts, err = readFacts(block)
	if err != nil && namesAFact(block) {
		return nil, "", 0, err
	}
	if err != nil {
		return nil, text, 0, nil
	}
	return facts, rest, strings.Count(block, "\n") + 3, nil
}

// readFacts reads YAML keys and values. Scalars keep their spelling: 1.10 is not 1.1, no is not false
// and a date is no time (O16). Lists and maps are left out.
func readFacts(block string) (map[string]fact, error) {
	if len(block) > maxFrontMatter {
		return nil, malformed(1, "the front matter is longer than %d bytes", maxFrontMatter)
	}
	file, err := parser.ParseBytes([]byte(block), 0)
	if err != nil {
		line := 0
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			line = y.GetToken().Position.Line
		}
		return nil, malformed(line+1, "the front matter is not YAML keys and values")
	}
	mapping, ok := onlyMapping(file)
	if !ok {
		return nil, malformed(1, "the front matter is not YAML keys and values")
	}
	facts := map[string]fact{}
	for _, pair := range mapping.Values {
		key := pair.Key.GetToken()
		at := fact{line: key.Position.Line + 1} // below the opening "---"
		if at.value, ok = spelling(pair.Value); ok {
			facts[key.Value] = at
		} else if slices.Contains(knownFacts(), key.Value) {
			return nil, malformed(at.line, "%s must be plain text", key.Value)
		}
	}
	return facts, nil
}

func onlyMapping(file *ast.File) (*ast.MappingNode, bool) {
	if len(file.Docs) != 1 {
		return nil, false
	}
	mapping, ok := file.Docs[0].Body.(*ast.MappingNode)
	return mapping, ok
}

// spelling returns a scalar as it is written; false for a list, a map, an alias or a tag.
func spelling(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", true
	case *ast.LiteralNode: // a block scalar
		return n.Value.Value, true
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// namesAFact says that a line of the block begins like one of our facts.
func namesAFact(block string) bool {
	for _, line := range strings.Split(block, "\n") {
		name, _, ok := strings.Cut(line, ":")
		if ok && slices.Contains(knownFacts(), strings.Trim(name, `"' `)) {
			return true
		}
	}
	return false
}
