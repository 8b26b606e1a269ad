package ingest

import (
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"strings"
)

// csvTable reads a table whose first row names the columns. Lines "# key: value" before it are facts
// about the file. The title among them stands above the rows as their heading: it is the only heading
// that the format has.
//
// The delimiter is the one of ";", tab and "," that cuts the header into most columns (O13). A row
// with another number of cells, or a bare quotation mark (O14), refuses the whole file with its line:
// half a table is never read.
func csvTable(raw string) (page, error) { return tablePage(raw, ';', '\t', ',') }

// tsvTable is csvTable for values between tabs. A quotation mark is then mostly an inch mark: where the
// file does not quote as CSV does, each line is a row as it stands.
func tsvTable(raw string) (page, error) { return tablePage(raw, '\t') }

func tablePage(raw string, delimiters ...rune) (page, error) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(raw)
	facts, body, lines, err := leadingComments(text)
	if err != nil {
		return page{}, err
	}
	table, err := readTable(body, delimiters)
	if err != nil {
		var r *Refusal
		if errors.As(err, &r) && r.Line > 0 {
			r.Line += lines
		}
		return page{}, err
	}
	p := page{facts: facts}
	if len(table) > 0 {
		section := Section{Blocks: rows(table[0], table[1:])}
		if title := oneLine(facts[factTitle].value); title != "" {
			section.Headings = []string{title}
		}
		p.sections = []Section{section}
	}
	return p, nil
}

var comment = regexp.MustCompile(`^#[ \t]+([A-Za-z][\w-]*)[ \t]*:(.*)$`)

// leadingComments takes the lines that begin with "# " off the top. A header may begin with "#" alone.
func leadingComments(text string) (facts map[string]fact, rest string, lines int, err error) {
	facts = map[string]fact{}
	for {
		line, after, _ := strings.Cut(text, "\n")
		isBlank := text != "" && strings.TrimSpace(line) == ""
		if !isBlank && !strings.HasPrefix(line, "# ") {
			return facts, text, lines, nil
		}
		lines, text = lines+1, after
		if isBlank {
			continue
		}
		match := comment.FindStringSubmatch(line)
		if match == nil {
			return nil, "", 0, malformed(lines, `a line before the header must read "# key: value"`)
		}
		if _, isTwice := facts[match[1]]; isTwice {
			return nil, "", 0, malformed(lines, "%s is given twice", clip(match[1]))
		}
		// A spreadsheet pads the line with its delimiter to the width of the table.
		facts[match[1]] = fact{strings.TrimRight(match[2], ",;\t "), lines}
	}
}

// readTable returns the header and the rows of a table, all of the same length.
func readTable(body string, delimiters []rune) ([][]string, error) {
	if strings.TrimSpace(body) == "" {
		return nil, nil
	}
	body = strings.ReplaceAll(body, quotationMark, "")
	delimiter, columns := rune(0), 1
	for _, candidate := range delimiters {
		header, err := newCSVReader(body, candidate).Read()
		if err == nil && len(header) > columns {
			delimiter, columns = candidate, len(header)
		}
	}
	isTSV := len(delimiters) == 1
	switch {
	case isTSV && hasStrayQuotes(body):
		return readCells(unquotedReader(body), strings.Count(firstLine(body), "\t")+1)
	case delimiter == 0 && isTSV:
		return nil, malformed(1, "the header has no second column; the delimiter is tab")
	case delimiter == 0:
		return nil, malformed(1, "the header has no second column; a delimiter is ; or tab or ,")
	}
	return readCells(newCSVReader(body, delimiter), columns)
}

// hasStrayQuotes says that a table between tabs does not quote as CSV does.
func hasStrayQuotes(body string) bool {
	for r := newCSVReader(body, '\t'); ; {
		if _, err := r.Read(); err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	return line
}

func readCells(r *csv.Reader, columns int) (table [][]string, err error) {
	for {
		cells, err := r.Read()
		var syntax *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return table, nil
		case errors.As(err, &syntax):
			return nil, malformed(syntax.Line, "%s", syntax.Err)
		case err != nil:
			return nil, malformed(0, "not a table")
		}
		if len(cells) != columns {
			line, _ := r.FieldPos(0)
			return nil, malformed(line, "%d cells, the header has %d", len(cells), columns)
		}
		for i, cell := range cells {
			cells[i] = cellText(strings.ReplaceAll(cell, quotationMark, `"`))
		}
		table = append(table, cells)
	}
}

func newCSVReader(body string, delimiter rune) *csv.Reader {
	r := csv.NewReader(strings.NewReader(body))
	r.Comma, r.FieldsPerRecord = delimiter, -1
	return r
}

// quotationMark stands for one that quotes nothing. No text has it: normalising takes it out.
const quotationMark = "\x01"

func unquotedReader(body string) *csv.Reader {
	return newCSVReader(strings.ReplaceAll(body, `"`, quotationMark), '\t')
}
