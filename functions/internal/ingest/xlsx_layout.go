package ingest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
	"golang.org/x/net/html/charset"
)

// xlsxSheet is a sheet of a workbook in the order of its tabs.
type xlsxSheet struct {
	name, part string
	isHidden   bool
}

// place is a cell, counted from 1.
type place struct{ row, column int }

// sheetLayout is what a sheet says beside its values.
type sheetLayout struct {
	rows, columns int // that hold a cell
	merged        []struct{ from, to place }
	hiddenRows    map[int]bool
	hiddenColumns [][2]int // from, to
	isNumber      map[place]bool
	isError       map[place]bool
}

// The bounds of a sheet. A single cell in its last corner would make a grid of 17 billion.
const (
	maxSheetColumns = 16_384
	maxSheetCells   = 500_000 // rows times columns
	maxMerged       = 10_000
)

func newXML(part []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(part))
	d.CharsetReader = charset.NewReaderLabel
	return d
}

// listSheets returns the sheets of a workbook that hold cells.
func listSheets(parts map[string][]byte) ([]xlsxSheet, error) {
	const main = "xl/workbook.xml"
	var book struct {
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			Ref   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	var links struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if newXML(parts[main]).Decode(&book) != nil || newXML(parts["xl/_rels/workbook.xml.rels"]).Decode(&links) != nil {
		return nil, damaged("its list of sheets can't be read")
	}
	targets := map[string]string{}
	for _, link := range links.All {
		target := path.Join("xl", link.Target)
		if strings.HasPrefix(link.Target, "/") {
			target = strings.TrimPrefix(link.Target, "/")
		}
		targets[link.ID] = target
	}
	var sheets []xlsxSheet
	for _, s := range book.Sheets {
		part := targets[s.Ref]
		if strings.Contains(part, "chartsheets/") || strings.Contains(part, "dialogsheets/") {
			continue
		}
		if parts[part] == nil {
			return nil, damaged("a sheet of it is missing")
		}
		sheets = append(sheets, xlsxSheet{s.Name, part, s.State == "hidden" || s.State == "veryHidden"})
	}
	return sheets, nil
}

// readLayout reads a sheet once from beginning to end, without building anything of its size.
func readLayout(part []byte) (sheetLayout, error) {
	l := layoutReader{sheetLayout: sheetLayout{
		hiddenRows: map[int]bool{}, isNumber: map[place]bool{}, isError: map[place]bool{},
	}}
	for d := newXML(part); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return l.sheetLayout, damaged("a sheet can't be read")
		}
		switch token := token.(type) {
		case xml.StartElement:
			err = l.start(token)
		case xml.CharData:
			if l.inValue {
				l.hasValue = l.hasValue || len(bytes.TrimSpace(token)) > 0
			}
		case xml.EndElement:
			err = l.end(token.Name.Local)
		}
		if err != nil {
			return l.sheetLayout, err
		}
	}
	return l.sheetLayout, nil
}

type layoutReader struct {
	sheetLayout
	at                            place
	kind                          string // the type of the cell
	inValue, hasValue, hasFormula bool
	isSaved                       bool // its result is there, if only as an empty text
}

func (l *layoutReader) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "col":
		from, _ := strconv.Atoi(attr(e, "min"))
		to, _ := strconv.Atoi(attr(e, "max"))
		if isTrue(attr(e, "hidden")) && len(l.hiddenColumns) < maxSheetColumns {
			l.hiddenColumns = append(l.hiddenColumns, [2]int{from, to})
		}
	case "row":
		l.at = place{l.at.row + 1, 0}
		if n, err := strconv.Atoi(attr(e, "r")); err == nil {
			l.at.row = n
		}
		if isTrue(attr(e, "hidden")) {
			l.hiddenRows[l.at.row] = true
		}
	case "c":
		l.at.column++
		if name := attr(e, "r"); name != "" {
			column, row, err := excelize.CellNameToCoordinates(name)
			if err != nil {
				return damaged("a cell has no place")
			}
			l.at = place{row, column}
		}
		l.kind, l.hasValue, l.hasFormula, l.isSaved = attr(e, "t"), false, false, false
	case "f":
		l.hasFormula = true
	case "v", "is":
		l.inValue, l.isSaved = true, l.kind == "str"
	case "mergeCell":
		return l.mergeCell(attr(e, "ref"))
	}
	return nil
}

func (l *layoutReader) end(name string) error {
	switch name {
	case "v", "is":
		l.inValue = false
	case "c":
		if l.hasFormula && !l.hasValue && !l.isSaved {
			cell, _ := excelize.CoordinatesToCellName(l.at.column, l.at.row)
			return malformed(0, "the formula in %s was never calculated; open the file in a spreadsheet program and save it", cell)
		}
		if !l.hasValue {
			return nil
		}
		l.rows, l.columns = max(l.rows, l.at.row), max(l.columns, l.at.column)
		if l.rows*l.columns > maxSheetCells {
			return &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("a sheet of more than %d cells", maxSheetCells)}
		}
		switch l.kind {
		case "", "n":
			l.isNumber[l.at] = true
		case "e":
			l.isError[l.at] = true
		}
	}
	return nil
}

// mergeCell keeps a merged range as far as the sheet has cells. It stands after them.
func (l *layoutReader) mergeCell(ref string) error {
	from, to, _ := strings.Cut(ref, ":")
	c1, r1, err1 := excelize.CellNameToCoordinates(from)
	c2, r2, err2 := excelize.CellNameToCoordinates(to)
	if err1 != nil || err2 != nil || c1 > l.columns || r1 > l.rows || c2 < c1 || r2 < r1 {
		return nil
	}
	if len(l.merged) == maxMerged {
		return &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("a sheet with more than %d merged cells", maxMerged)}
	}
	l.merged = append(l.merged, struct{ from, to place }{place{r1, c1}, place{min(r2, l.rows), min(c2, l.columns)}})
	return nil
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

func isTrue(value string) bool { return value == "1" || value == "true" }
