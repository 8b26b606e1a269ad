package ingest

import (
	"strings"
	"unicode"
)

// gridCell is a cell of a table that is laid out in rows of the same length. One that spans several
// places stands in each of them.
type gridCell struct {
	origin   int // the same in all places of a cell; 0 where there is none
	text     string
	isHeader bool
}

// gridRows makes a row of text of each row of a table. header holds the names of the columns; nil where
// they have none: then a row of two cells is a property and its value.
func gridRows(header []string, body [][]gridCell) []Block {
	var blocks []Block
	for _, row := range body {
		values := make([]string, len(row))
		for i, cell := range row {
			values[i] = cell.text
		}
		names := header
		switch {
		case isOneCell(row):
			blocks = append(blocks, Block{Kind: Row, Text: values[0]})
			continue
		case header == nil && len(row) == 2:
			names, values = []string{strings.TrimSuffix(values[0], ":")}, values[1:]
			if values[0] == "" {
				names, values = []string{""}, names
			}
		case header == nil:
			names = make([]string, len(row))
		}
		blocks = append(blocks, Block{Kind: Row, Text: rowLine(names, values)})
	}
	if len(body) == 0 {
		blocks = rows(header, nil)
	}
	return blocks
}

// columnNames joins the rows of a header to one name a column, such as "Price Monthly". It returns nil
// for none.
func columnNames(head [][]gridCell) []string {
	if len(head) == 0 {
		return nil
	}
	header := make([]string, len(head[0]))
	for column := range header {
		var names []string
		for _, row := range head {
			name := row[column].text
			if name != "" && !isOneCell(row) && (len(names) == 0 || names[len(names)-1] != name) {
				names = append(names, name)
			}
		}
		header[column] = strings.TrimSuffix(strings.Join(names, " "), ":")
	}
	return header
}

func isHeaderRow(row []gridCell) bool {
	named := 0
	for _, cell := range row {
		if cell.text != "" && !cell.isHeader {
			return false
		}
		if cell.text != "" {
			named++
		}
	}
	return named > 0
}

// looksNamed says that the first row of a table without header cells names its columns: it has no
// figure, and every other row has one. Of two columns the second one is looked at.
func looksNamed(grid [][]gridCell) bool {
	if len(grid) < 2 || hasFigure(grid[0]) || isOneCell(grid[0]) {
		return false
	}
	for _, cell := range grid[0] {
		if cell.text == "" && len(grid[0]) == 2 {
			return false
		}
	}
	for _, row := range grid {
		if row[0].isHeader {
			return false
		}
	}
	for _, row := range grid[1:] {
		if !hasFigure(row[1:]) && !isOneCell(row) {
			return len(grid[0]) > 2
		}
	}
	return true
}

func hasFigure(row []gridCell) bool {
	for _, cell := range row {
		if strings.ContainsFunc(cell.text, unicode.IsDigit) {
			return true
		}
	}
	return false
}

// isOneCell says that one cell reaches over the whole row.
func isOneCell(row []gridCell) bool {
	for _, cell := range row {
		if cell.origin != row[0].origin {
			return false
		}
	}
	return true
}
