package ingest

import (
	"regexp"
	"strings"
)

// rowLine writes a row of a table as "Header: value; Header: value.", each value as it is. Empty
// cells are left out, and so is the name of a column without one. It returns "" for an empty row.
func rowLine(header, cells []string) string {
	var parts []string
	for i, value := range cells {
		switch {
		case value == "":
		case header[i] == "":
			parts = append(parts, value)
		default:
			parts = append(parts, header[i]+": "+value)
		}
	}
	line := strings.Join(parts, "; ")
	if line == "" || strings.HasSuffix(line, ".") {
		return line
	}
	return line + "."
}

// rows makes the blocks of a table. One that has a header only keeps it as a row of its own, so that
// nothing is lost.
func rows(header []string, body [][]string) []Block {
	var blocks []Block
	for _, cells := range body {
		if line := rowLine(header, cells); line != "" {
			blocks = append(blocks, Block{Kind: Row, Text: line})
		}
	}
	if len(blocks) == 0 {
		if line := rowLine(make([]string, len(header)), header); line != "" {
			blocks = []Block{{Kind: Row, Text: line}}
		}
	}
	return blocks
}

// delimiterRow is the line "| --- | :--: |" under the header of a Markdown table.
var delimiterRow = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// paragraphOrTable returns the blocks of a Markdown paragraph that begins at that line of the file.
// From a header and its delimiter row on it is a table, as GitHub's dialect has it. The dialect drops
// the cells of a row beyond its header; here that is an error, because a price would vanish with them.
func paragraphOrTable(source string, firstLine int) ([]Block, error) {
	lines := strings.Split(source, "\n")
	for i := 1; i < len(lines); i++ {
		if !strings.Contains(lines[i], "|") || !delimiterRow.MatchString(lines[i]) {
			continue
		}
		header := tableCells(lines[i-1])
		if len(header) != len(tableCells(lines[i])) {
			continue
		}
		var body [][]string
		for j, line := range lines[i+1:] {
			cells := tableCells(line)
			if len(cells) > len(header) {
				return nil, malformed(firstLine+i+1+j, "%d cells, the header has %d", len(cells), len(header))
			}
			body = append(body, cells)
		}
		before := Block{Kind: Paragraph, Text: strings.Join(lines[:i-1], "\n")}
		return append([]Block{before}, rows(header, body)...), nil
	}
	return []Block{{Kind: Paragraph, Text: source}}, nil
}

// tableCells splits a line of a Markdown table at its pipes. "\|" is a pipe inside a cell.
func tableCells(line string) []string {
	const escaped = "\x00" // normalised text has no NUL
	line = strings.TrimSpace(strings.ReplaceAll(line, `\|`, escaped))
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, escaped, "|"))
	}
	return cells
}
