package ingest

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// xlsxReader makes sections of the sheets of a workbook.
type xlsxReader struct {
	outline
}

// sheet files a sheet under its name. Rows without a value divide it into parts.
func (x *xlsxReader) sheet(name string, grid [][]gridCell) {
	x.open(1, oneLine(name))
	x.page.title = "" // a workbook is called by its file, not by its first tab
	var header []string
	for start := 0; start < len(grid); {
		end := start
		for end < len(grid) && grid[end] != nil {
			end++
		}
		if end > start {
			header = x.part(grid[start:end], header)
		}
		start = end + 1
	}
}

// part files a run of rows: lines above a table, then the table. One without a header of its own goes
// on with the columns of the table before it, which header names.
func (x *xlsxReader) part(grid [][]gridCell, header []string) []string {
	lines := 0
	for lines < len(grid) && x.isLine(grid[lines]) {
		lines++
	}
	table := grid[lines:]
	for i, row := range grid[:lines] {
		text := firstText(row)
		if isLast := i == lines-1; isLast && len(table) > 1 && utf8.RuneCountInString(text) <= maxHeading && !strings.HasSuffix(text, ".") {
			x.open(2, text)
			header = nil
			continue
		}
		x.add(Block{Kind: Paragraph, Text: text})
	}
	if len(table) == 0 {
		return header
	}
	if lines == 0 && header != nil && !startsTable(table) {
		x.add(gridRows(header, table)...)
		return header
	}
	height := headerHeight(table)
	header = columnNames(table[:height])
	if header != nil && height < len(table) && isUnits(table[height]) {
		for i, cell := range table[height] {
			if unit := strings.Trim(cell.text, "[]()"); unit != "" && header[i] != unit {
				header[i] = strings.TrimSpace(header[i] + " (" + unit + ")")
			}
		}
		height++
	}
	x.add(gridRows(header, table[height:])...)
	return header
}

// factLine is a line "# verified_at: 2026-11-20", as a CSV file has it.
var factLine = regexp.MustCompile(`^#\s*([A-Za-z][\w-]*)\s*:\s*(.*)$`)

// isLine says that a row above a table is a line of text. One that tells a fact of the document is
// taken out.
func (x *xlsxReader) isLine(row []gridCell) bool {
	filled := slices.DeleteFunc(slices.Clone(row), func(c gridCell) bool { return c.text == "" })
	if len(filled) == 2 && slices.Contains(knownFacts(), filled[0].text) && len(x.page.sections) == 1 {
		x.page.facts[filled[0].text] = fact{value: filled[1].text}
		clear(row)
		return true
	}
	if len(filled) == 0 || filled[0].origin != filled[len(filled)-1].origin {
		return false
	}
	if parts := factLine.FindStringSubmatch(filled[0].text); parts != nil && len(x.page.sections) == 1 {
		x.page.facts[parts[1]] = fact{value: parts[2]}
		clear(row)
	}
	return true
}

// headerHeight returns how many rows name the columns. The first one does, unless it holds a number, a
// year aside, or an amount of money. A header whose cells span several columns or rows goes on below.
func headerHeight(table [][]gridCell) int {
	if len(table) == 1 || !namesColumns(table[0]) || isPairs(table) {
		return 0
	}
	height := 1
	for height < len(table)-1 && reachesBelow(table[height-1], table[height]) {
		height++
	}
	return height
}

// amountFirst finds an amount of money that is not named before, as in "Fee up to 10 €".
var amountFirst = regexp.MustCompile(`(?i)^[^\p{L}]*(?:eur|usd|gbp|chf)?\s*\d[\d.,\s]*(?:[€$£]|eur\b|usd\b|gbp\b|chf\b|ct\b)|^[€$£]\s*\d`)

var year = regexp.MustCompile(`^(?:19|20)\d\d$`)

func namesColumns(row []gridCell) bool {
	names := 0
	for _, cell := range row {
		if cell.isFigure && !year.MatchString(cell.text) || amountFirst.MatchString(cell.text) {
			return false
		}
		if cell.text != "" {
			names++
		}
	}
	return names > 1
}

// isPairs says that a table of two columns lists properties and values.
func isPairs(table [][]gridCell) bool {
	filled := 0
	for i := range table[0] {
		if slices.ContainsFunc(table, func(row []gridCell) bool { return row[i].text != "" }) {
			filled++
		}
	}
	return filled == 2 && len(table[0]) == 2 && !looksNamed(table)
}

// reachesBelow says that the names of a row are completed by the next one.
func reachesBelow(row, next []gridCell) bool {
	if !namesColumns(next) {
		return false
	}
	for i, cell := range row {
		isWide := i > 0 && cell.origin != 0 && cell.origin == row[i-1].origin
		if isWide || cell.origin != 0 && cell.origin == next[i].origin {
			return true
		}
	}
	return false
}

// startsTable says that the first of several rows names columns and the rest holds values.
func startsTable(table [][]gridCell) bool {
	return len(table) > 1 && namesColumns(table[0]) && !hasFigure(table[0]) && hasFigure(table[1])
}

// unit is what a row of units has in its cells: "€/month", "[kWh]", "ct per kWh".
var unit = regexp.MustCompile(`(?i)^[\[(]?(?:€|\$|£|%|eur|usd|gbp|chf|ct|cents?|euros?|[kmgt]?wh?p?|[kmgt]?bit|[kmgt]b|[kmgt]bps|kva|m[²³23]?|cm|mm|km|k?g|l|h|s|min|months?|monate?|meses|mois|years?|jahre?|años|days?|tage?|días|°c|pcs|stk\.?|units?|#|-)(?:\s*(?:/|per|pro|por)\s*[\p{L}\d²³]+\.?)*[\])]?$`)

func isUnits(row []gridCell) bool {
	units := 0
	for _, cell := range row {
		if cell.text == "" {
			continue
		}
		if cell.isFigure || !unit.MatchString(cell.text) {
			return false
		}
		units++
	}
	return units > 0
}
