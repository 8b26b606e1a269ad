package ingest

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	tag "golang.org/x/net/html/atom"
)

// The most columns and cells of a table; a bigger one is read as text.
const (
	maxColumns = 200
	maxCells   = 200_000
)

// table files a table of data row by row with the names of its columns. One that only lays out the
// page is read as text.
func (r *htmlReader) table(n *html.Node) {
	grid := gridOf(n)
	if !isData(n, grid) {
		r.children(n)
		return
	}
	if r.kept != nil && !r.kept[n] && !r.keepsHeading(n) {
		return
	}
	for child := range n.ChildNodes() {
		if child.DataAtom == tag.Caption {
			r.add(Block{Kind: Paragraph, Text: inlineText(child)})
		}
	}
	height := 0
	for height < len(grid) && isHeaderRow(grid[height]) {
		height++
	}
	if height == 0 && looksNamed(grid) {
		height = 1
	}
	r.add(gridRows(columnNames(grid[:height]), grid[height:])...)
}

// gridOf lays the cells of a table out in rows of the same length, or returns nil when it is too big.
func gridOf(table *html.Node) [][]gridCell {
	var grid [][]gridCell
	cells, origin := 0, 0
	type hanging struct {
		cell gridCell
		left int // rows
	}
	var above []hanging // by column: what reaches down from the rows before
	for _, tr := range rowsOf(table) {
		var row []gridCell
		fill := func() {
			for len(row) < len(above) && above[len(row)].left > 0 {
				above[len(row)].left--
				row = append(row, above[len(row)].cell)
			}
		}
		for td := range tr.ChildNodes() {
			if td.DataAtom != tag.Td && td.DataAtom != tag.Th {
				continue
			}
			fill()
			origin++
			cell := gridCell{origin: origin, text: inlineText(td), isHeader: td.DataAtom == tag.Th || tr.Parent.DataAtom == tag.Thead}
			for range span(td, "colspan") {
				if cells++; cells > maxCells || len(row) == maxColumns {
					return nil
				}
				for len(above) <= len(row) {
					above = append(above, hanging{})
				}
				above[len(row)] = hanging{cell, span(td, "rowspan") - 1}
				row = append(row, cell)
			}
		}
		for len(row) < len(above) {
			before := len(row)
			if fill(); len(row) == before {
				row = append(row, gridCell{})
			}
			if cells++; cells > maxCells {
				return nil
			}
		}
		grid = append(grid, row)
	}
	for i, row := range grid {
		grid[i] = append(row, make([]gridCell, len(above)-len(row))...)
	}
	return grid
}

func span(cell *html.Node, name string) int {
	n, err := strconv.Atoi(attribute(cell, name))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxColumns)
}

// rowsOf returns the rows of a table, not those of tables in it.
func rowsOf(table *html.Node) (all []*html.Node) {
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		for child := range n.ChildNodes() {
			switch child.DataAtom {
			case tag.Tr:
				all = append(all, child)
			case tag.Table:
			default:
				visit(child)
			}
		}
	}
	visit(table)
	return all
}

// isData says that a table is one of data: at least two rows or named columns, at least two columns,
// and cells that hold a few words each.
func isData(table *html.Node, grid [][]gridCell) bool {
	const longCell = 600 // bytes
	role := attribute(table, "role")
	if len(grid) == 0 || len(grid[0]) < 2 || role == "presentation" || role == "none" {
		return false
	}
	texts, hasHeader := 0, false
	for _, row := range grid {
		for _, cell := range row {
			if len(cell.text) > longCell && !hasHeader {
				return false
			}
			hasHeader = hasHeader || cell.isHeader
			if cell.text != "" {
				texts++
			}
		}
	}
	for d := range table.Descendants() {
		switch d.DataAtom {
		case tag.Table, tag.H1, tag.H2, tag.H3, tag.Pre, tag.Article, tag.Section:
			return false
		}
	}
	return texts >= 2 && (len(grid) > 1 || hasHeader)
}

// hasData says that a table is one of data with figures in it.
func hasData(table *html.Node) bool {
	return isData(table, gridOf(table)) && strings.ContainsFunc(inlineText(table), unicode.IsDigit)
}
