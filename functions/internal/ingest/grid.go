package ingest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gridCell is a cell of a table that is laid out in rows of the same length. One that spans several
// places stands in each of them.
type gridCell struct {
	origin   int // the same in all places of a cell; 0 where there is none
	text     string
	isHeader bool // marked as the name of a row or column
	isFigure bool // stored as a number
}

// gridRows makes a row of text of each row of a table. header holds the names of the columns; nil where
// they have none: then a row of two cells is a property and its value. A row in which nothing begins,
// only cells reach down from above, is no row.
func gridRows(header []string, body [][]gridCell) []Block {
	var blocks []Block
	last := 0 // origins grow from row to row
	for _, row := range body {
		newest := slices.MaxFunc(row, func(a, b gridCell) int { return a.origin - b.origin }).origin
		if newest <= last {
			continue
		}
		last = newest
		names, values := header, make([]string, len(row))
		for i, cell := range row {
			// A cell below a name that reaches as far as it does is said once.
			isSaid := i > 0 && i < len(header) && cell.origin == row[i-1].origin && header[i] == header[i-1]
			if !isSaid {
				values[i] = cell.text
			}
		}
		switch {
		case isOneCell(row):
			blocks = append(blocks, Block{Kind: Row, Text: firstText(row)})
			continue
		case header == nil:
			if values = distinctTexts(row); len(values) == 2 {
				names, values = []string{strings.TrimSuffix(values[0], ":")}, values[1:]
			} else {
				names = make([]string, len(values))
			}
		}
		blocks = append(blocks, Block{Kind: Row, Text: rowLine(names, values)})
	}
	if len(body) == 0 {
		blocks = rows(header, nil)
	}
	return blocks
}

// distinctTexts returns the texts of a row, each once however far its cell reaches.
func distinctTexts(row []gridCell) (all []string) {
	for i, cell := range row {
		if cell.text != "" && (i == 0 || cell.origin != row[i-1].origin) {
			all = append(all, cell.text)
		}
	}
	return all
}

func firstText(row []gridCell) string {
	for _, cell := range row {
		if cell.text != "" {
			return cell.text
		}
	}
	return ""
}

// columnNames joins the rows of a header to one name a column, such as "Price Monthly". It returns nil
// for none.
func columnNames(head [][]gridCell) []string {
	if len(head) == 0 {
		return nil
	}
	const longName = 40 // characters: what is longer and spans columns is a title
	header := make([]string, len(head[0]))
	for column := range header {
		var names []string
		for i, row := range head {
			name := row[column].text
			isWide := column > 0 && row[column-1].origin == row[column].origin || column+1 < len(row) && row[column+1].origin == row[column].origin
			if isWide && i+1 < len(head) && utf8.RuneCountInString(name) > longName || isOneCell(row) {
				continue
			}
			if name != "" && (len(names) == 0 || names[len(names)-1] != name) {
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

// isOneCell says that a row has text in one cell, wherever that reaches, and nothing beside it.
func isOneCell(row []gridCell) bool {
	return len(distinctTexts(row)) <= 1 && (len(row) < 2 || row[0].text == "" || row[0].origin == row[1].origin)
}
