package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The bounds of a workbook: what it may hold once it is unpacked, and how many files.
const (
	maxUnpacked = 20 << 20
	maxEntries  = 1000
)

// xlsxPage reads a workbook: each sheet is a section with its name, each row of a table a row with the
// names of its columns. Values are as the workbook shows them: 1299.00, 00042, 19 %, all digits of a
// long number. A date in the format of the reader's country is written 2026-11-20, since its order of
// day and month can't be told.
//
// Hidden sheets, rows and columns are left out: they often hold what nobody is meant to see. A formula
// whose result was never saved refuses the file, as a row without its price would.
func xlsxPage(raw []byte) (page, error) {
	parts, err := unpack(raw)
	if err != nil {
		return page{}, err
	}
	sheets, err := listSheets(parts)
	if err != nil {
		return page{}, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(raw), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked,
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err != nil {
		return page{}, damaged("it is no workbook")
	}
	defer book.Close()
	x := xlsxReader{outline: outline{page: page{facts: map[string]fact{}}}}
	for _, sheet := range sheets {
		if sheet.isHidden {
			continue
		}
		layout, err := readLayout(parts[sheet.part])
		if err != nil {
			return page{}, err
		}
		grid, err := sheetGrid(book, sheet.name, layout)
		if err != nil {
			return page{}, err
		}
		x.sheet(sheet.name, grid)
	}
	if x.prune(); len(x.page.sections) == 0 {
		return page{}, &Refusal{Reason: NoContent, Detail: "its visible sheets are empty"}
	}
	return x.page, nil
}

func damaged(why string) *Refusal { return &Refusal{Reason: Damaged, Detail: why} }

// unpack returns the parts of an Office file by name. All of it is unpacked once, and counted, before a
// parser sees it: the sizes that a ZIP file states may be wrong.
func unpack(raw []byte) (map[string][]byte, error) {
	if bytes.HasPrefix(raw, []byte("\xD0\xCF\x11\xE0")) {
		if bytes.Contains(raw, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e")) {
			return nil, &Refusal{Reason: Encrypted, Detail: "it opens with a password; save it without one"}
		}
		return nil, &Refusal{Reason: Unsupported, Detail: "it is a workbook of Excel before 2007; save it as .xlsx"}
	}
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, damaged("it is no ZIP file, as a workbook is")
	}
	if len(archive.File) > maxEntries {
		return nil, &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("more than %d files in it", maxEntries)}
	}
	parts, left := map[string][]byte{}, int64(maxUnpacked)
	for _, file := range archive.File {
		const encrypted = 1
		if file.Flags&encrypted != 0 {
			return nil, &Refusal{Reason: Encrypted, Detail: "it is packed with a password"}
		}
		content, err := unpackFile(file, left)
		if err != nil {
			return nil, err
		}
		if _, isTwice := parts[file.Name]; isTwice {
			return nil, damaged("a part of it is there twice")
		}
		left -= int64(len(content))
		parts[file.Name] = content
	}
	return parts, nil
}

func unpackFile(file *zip.File, most int64) ([]byte, error) {
	tooLarge := &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("more than %d MB when it is unpacked", maxUnpacked>>20)}
	if file.UncompressedSize64 > uint64(most) {
		return nil, tooLarge
	}
	content, err := file.Open()
	if err != nil {
		return nil, damaged("a part of it can't be unpacked")
	}
	defer content.Close()
	all, err := io.ReadAll(io.LimitReader(content, most+1))
	switch {
	case int64(len(all)) > most:
		return nil, tooLarge
	case errors.Is(err, zip.ErrChecksum):
		return nil, damaged("a part of it has a wrong checksum")
	case err != nil:
		return nil, damaged("a part of it can't be unpacked")
	}
	return all, nil
}

// sheetGrid lays a sheet out in rows of the same length, hidden ones left out. A row without a value is
// nil: it keeps two tables apart.
func sheetGrid(book *excelize.File, name string, layout sheetLayout) ([][]gridCell, error) {
	shown, err := book.Rows(name)
	if err != nil {
		return nil, damaged("a sheet can't be read")
	}
	defer shown.Close()
	plain, err := book.Rows(name)
	if err != nil {
		return nil, damaged("a sheet can't be read")
	}
	defer plain.Close()
	var grid [][]gridCell
	for number := 1; shown.Next() && plain.Next() && number <= layout.rows; number++ {
		values, err := shown.Columns()
		written, err2 := plain.Columns(excelize.Options{RawCellValue: true})
		if err != nil || err2 != nil {
			return nil, damaged("a row can't be read")
		}
		row := make([]gridCell, layout.columns)
		for i, value := range values[:min(len(values), layout.columns)] {
			at := place{number, i + 1}
			if i < len(written) {
				value = wholeNumber(value, written[i])
			}
			if value = cellText(value); value != "" && !layout.isError[at] {
				row[i] = gridCell{origin: at.row*maxSheetColumns + at.column, text: value, isFigure: layout.isNumber[at]}
			}
		}
		grid = append(grid, row)
	}
	return layout.visible(layout.merge(grid)), nil
}

// wholeNumber returns what is written where the value shown has lost digits of a long number.
func wholeNumber(shown, written string) string {
	if len(written) > 15 && isDigits(written) && shown != written {
		if isDigits(shown) || strings.Contains(shown, "E+") {
			return written
		}
	}
	return shown
}

func isDigits(s string) bool {
	for i, c := range s {
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return s != ""
}

// merge repeats the value of a merged cell in all of its places.
func (l sheetLayout) merge(grid [][]gridCell) [][]gridCell {
	for _, m := range l.merged {
		if m.from.row > len(grid) {
			continue
		}
		cell := grid[m.from.row-1][m.from.column-1]
		for row := m.from.row; row <= min(m.to.row, len(grid)); row++ {
			for column := m.from.column; column <= m.to.column; column++ {
				grid[row-1][column-1] = cell
			}
		}
	}
	return grid
}

// visible takes out hidden rows and columns.
func (l sheetLayout) visible(grid [][]gridCell) [][]gridCell {
	var kept [][]gridCell
	for i, row := range grid {
		if l.hiddenRows[i+1] {
			continue
		}
		var cells []gridCell
		for j, cell := range row {
			if !slices.ContainsFunc(l.hiddenColumns, func(c [2]int) bool { return c[0] <= j+1 && j+1 <= c[1] }) {
				cells = append(cells, cell)
			}
		}
		if !slices.ContainsFunc(cells, func(c gridCell) bool { return c.text != "" }) {
			cells = nil
		}
		kept = append(kept, cells)
	}
	return kept
}
