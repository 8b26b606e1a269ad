package ingest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// workbook saves a workbook whose only sheet, Prices, holds the rows from its first cell on; change may
// change it before.
func workbook(t *testing.T, rows [][]any, change func(f *excelize.File) error) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if err := f.SetSheetName("Sheet1", "Prices"); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if err := f.SetSheetRow("Prices", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		if err := change(f); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadWorkbook(t *testing.T, raw []byte) Document {
	t.Helper()
	return mustLoad(t, "a.xlsx", string(raw))
}

// O15: a value is what the workbook shows, to the last digit.
func TestXLSX_ShowsValuesAsTheWorkbookDoes(t *testing.T) {
	tests := []struct {
		value  any
		format string
		want   string
	}{
		{1299.0, "0.00", "1299.00"},
		{1299.5, `#,##0.00\ [$€-407]`, "1,299.50 €"},
		{"12,50", "", "12,50"},
		{"1.299,00 €", "", "1.299,00 €"},
		{42, "00000", "00042"},
		{"00042", "", "00042"},
		{"9007199254740993123", "", "9007199254740993123"},
		{int64(9007199254740993123), "", "9007199254740993123"},
		{int64(9007199254740993123), "0", "9007199254740993123"},
		{-12.5, "0.00", "-12.50"},
		{-12.5, `#,##0.00_);(#,##0.00)`, "(12.50)"},
		{0.195, "0.0%", "19.5%"},
		{0.1 + 0.2, "General", "0.3"},
		{11.4, "", "11.4"},
		{46346, "dd.mm.yyyy", "20.11.2026"},
		{46346, "m/d/yy", "2026-11-20"},
		{true, "", "TRUE"},
		{29.99, `0.00" €/month"`, "29.99 €/month"},
	}
	for _, tt := range tests {
		t.Run(tt.format+" "+tt.want, func(t *testing.T) {
			raw := workbook(t, [][]any{{"Plan", "Fee", "Note"}, {"Flex", tt.value, "x"}}, func(f *excelize.File) error {
				if tt.format == "" {
					return nil
				}
				style := excelize.Style{CustomNumFmt: &tt.format}
				if tt.format == "m/d/yy" {
					style = excelize.Style{NumFmt: 14}
				}
				id, err := f.NewStyle(&style)
				if err != nil {
					return err
				}
				return f.SetCellStyle("Prices", "B2", "B2", id)
			})
			want := []string{"# Prices", "Plan: Flex; Fee: " + tt.want + "; Note: x."}
			if diff := cmp.Diff(want, texts(loadWorkbook(t, raw))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestXLSX_NamesTheColumnsOfEachRow(t *testing.T) {
	tests := []struct {
		name   string
		rows   [][]any
		change func(f *excelize.File) error
		want   []string
	}{
		{"a title, a table", [][]any{{"Home plans 2026"}, {}, {"Plan", "Fee"}, {"Flex", 12}, {"Fix", 10}}, nil, []string{"Home plans 2026", "Plan: Flex; Fee: 12.", "Plan: Fix; Fee: 10."}},
		{"a title that stands on its table", [][]any{{"Home plans"}, {"Plan", "Fee"}, {"Flex", 12}}, nil, []string{"# Prices › Home plans", "Plan: Flex; Fee: 12."}},
		{"units below the names", [][]any{{"Plan", "Fee", "Power"}, {nil, "€/month", "[kWh]"}, {"Flex", 12, 3}}, nil, []string{"Plan: Flex; Fee (€/month): 12; Power (kWh): 3."}},
		{"years as names", [][]any{{"Plan", 2025, 2026}, {"Flex", 12, 13}}, nil, []string{"Plan: Flex; 2025: 12; 2026: 13."}},
		{"merged headers", [][]any{{"Plan", "Fee", nil, "Term"}, {nil, "Month", "Year", nil}, {"Flex", 1, 12, "none"}}, func(f *excelize.File) error {
			for _, m := range [][2]string{{"A1", "A2"}, {"B1", "C1"}, {"D1", "D2"}} {
				if err := f.MergeCell("Prices", m[0], m[1]); err != nil {
					return err
				}
			}
			return nil
		}, []string{"Plan: Flex; Fee Month: 1; Fee Year: 12; Term: none."}},
		{"merged values", [][]any{{"Region", "Plan", "Fee"}, {"North", "Flex", 1}, {nil, "Fix", 2}, {"All with VAT"}}, func(f *excelize.File) error {
			if err := f.MergeCell("Prices", "A2", "A3"); err != nil {
				return err
			}
			return f.MergeCell("Prices", "A4", "C4")
		}, []string{"Region: North; Plan: Flex; Fee: 1.", "Region: North; Plan: Fix; Fee: 2.", "All with VAT"}},
		{"properties and values", [][]any{{"Weight", "3 kg"}, {"Fee", 12}, {"Colour", "red"}}, nil, []string{"Weight: 3 kg.", "Fee: 12.", "Colour: red."}},
		{"a table in parts", [][]any{{"Plan", "Fee"}, {"Flex", 12}, {}, {"Fix", 10}, {}, {"Router", "Price"}, {"Gate 5", 99}}, nil, []string{"Plan: Flex; Fee: 12.", "Plan: Fix; Fee: 10.", "Router: Gate 5; Price: 99."}},
		{"text only", [][]any{{"We deliver within a week."}, {"Ask us."}}, nil, []string{"We deliver within a week.", "Ask us."}},
		{"a formula that was never calculated", [][]any{{"Plan", "Fee", "Note"}, {"Flex", 12}}, func(f *excelize.File) error {
			return f.SetCellFormula("Prices", "C2", "1/0")
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := workbook(t, tt.rows, tt.change)
			if tt.want == nil {
				_, err := Load("a.xlsx", bytes.NewReader(raw), Defaults{})
				if r, ok := err.(*Refusal); !ok || !strings.HasPrefix(r.Why(), "malformed: the formula in C2 was never calculated") {
					t.Error(err)
				}
				return
			}
			want := tt.want
			if !strings.HasPrefix(want[0], "#") {
				want = append([]string{"# Prices"}, want...)
			}
			got := texts(loadWorkbook(t, raw))
			if got[0] == "# Prices" && strings.HasPrefix(want[0], "# Prices ›") {
				got = got[1:]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a reader of the workbook does not see is often what nobody is meant to see.
func TestXLSX_LeavesOutWhatIsHidden(t *testing.T) {
	raw := workbook(t, [][]any{{"Plan", "Cost to us", "Fee"}, {"Flex", 3, 12}, {"Secret", 4, 9}}, func(f *excelize.File) error {
		for _, name := range []string{"Margins", "Deep"} {
			if _, err := f.NewSheet(name); err != nil {
				return err
			}
			if err := f.SetCellValue(name, "A1", "margin 40 %"); err != nil {
				return err
			}
		}
		if err := f.SetSheetVisible("Margins", false); err != nil {
			return err
		}
		if err := f.SetSheetVisible("Deep", false, true); err != nil {
			return err
		}
		if err := f.SetColVisible("Prices", "B", false); err != nil {
			return err
		}
		return f.SetRowVisible("Prices", 3, false)
	})
	if diff := cmp.Diff([]string{"# Prices", "Plan: Flex; Fee: 12."}, texts(loadWorkbook(t, raw))); diff != "" {
		t.Error(diff)
	}
}

func TestXLSX_TellsFactsAboveTheTable(t *testing.T) {
	raw := workbook(t, [][]any{{"# title: Home plans"}, {"verified_at", "2026-11-20"}, {"Plan", "Fee"}, {"Flex", 12}}, nil)
	doc := loadWorkbook(t, raw)
	if doc.Source.Title != "Home plans" || doc.Source.VerifiedAt == nil {
		t.Errorf("%+v", doc.Source)
	}
	if diff := cmp.Diff([]string{"# Prices", "Plan: Flex; Fee: 12."}, texts(doc)); diff != "" {
		t.Error(diff)
	}
}

// rezip makes a copy of a ZIP file with other contents of its parts, and more parts.
func rezip(t *testing.T, raw []byte, parts map[string]string) []byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range archive.File {
		content, err := unpackFile(file, maxUnpacked)
		if err != nil {
			t.Fatal(err)
		}
		all[file.Name] = string(content)
	}
	for name, content := range parts {
		all[name] = content
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range all {
		part, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestXLSX_RefusesWithTheReason(t *testing.T) {
	good := workbook(t, [][]any{{"Plan", "Fee"}, {"Flex", 12}}, nil)
	const sheet = "xl/worksheets/sheet1.xml"
	cells := func(inner string) []byte {
		return rezip(t, good, map[string]string{sheet: `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + inner + `</sheetData></worksheet>`})
	}
	encrypted := func() []byte {
		var b bytes.Buffer
		f := excelize.NewFile()
		defer f.Close()
		if err := f.Write(&b, excelize.Options{Password: "opensesame"}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}()
	many := map[string]string{}
	for i := range maxEntries {
		many[fmt.Sprint("xl/media/", i)] = ""
	}
	flipped := bytes.Clone(good)
	flipped[len(good)/3] ^= 0x55
	tests := []struct {
		name string
		raw  []byte
		want string
	}{
		{"a password", encrypted, "encrypted: it opens with a password; save it without one"},
		{"a workbook of 2003", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("x", 600)), "unsupported: it is a workbook of Excel before 2007; save it as .xlsx"},
		{"no ZIP file", []byte("Plan;Fee"), "damaged: it is no ZIP file, as a workbook is"},
		{"half of it", good[:len(good)/2], "damaged: it is no ZIP file, as a workbook is"},
		{"a flipped bit", flipped, "damaged: a part of it"},
		{"another ZIP file", rezip(t, good, map[string]string{"xl/workbook.xml": "<x/>"}), "damaged: it is no workbook"},
		{"a list that is no XML", rezip(t, good, map[string]string{"xl/workbook.xml": "<x"}), "damaged: its list of sheets can't be read"},
		{"a sheet that is no XML", rezip(t, good, map[string]string{sheet: "<x"}), "damaged: a sheet can't be read"},
		{"nothing in it", cells(""), "no_readable_content: its visible sheets are empty"},
		{"a bomb", rezip(t, good, map[string]string{"xl/media/a": strings.Repeat("\x00", maxUnpacked)}), "too_large: more than 20 MB when it is unpacked"},
		{"a swarm", rezip(t, good, many), "too_large: more than 1000 files in it"},
		{"a far corner", cells(`<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`), "too_large: a sheet of more than 500000 cells"},
		{"a cell nowhere", cells(`<row r="1"><c r="1A"><v>1</v></c></row>`), "damaged: a cell has no place"},
		{"a formula without its result", cells(`<row r="1"><c r="A1"><f>B1*2</f><v></v></c><c r="B1"><v>2</v></c></row>`), "malformed: the formula in A1 was never calculated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.xlsx", bytes.NewReader(tt.raw), Defaults{})
			if r, ok := err.(*Refusal); !ok || !strings.HasPrefix(r.Why(), tt.want) || r.Err != nil {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// A result that is empty is one; and merged cells that reach over the whole sheet cost nothing.
func TestXLSX_ReadsOddSheets(t *testing.T) {
	good := workbook(t, [][]any{{"Plan", "Fee"}, {"Flex", 12}}, nil)
	raw := rezip(t, good, map[string]string{"xl/worksheets/sheet1.xml": `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` +
		`<row><c t="inlineStr"><is><t>Plan</t></is></c><c t="inlineStr"><is><t>Fee</t></is></c><c t="inlineStr"><is><t>Note</t></is></c></row>` +
		`<row><c t="inlineStr"><is><r><t>Fl</t></r><r><t>ex</t></r></is></c><c><v>12.5</v></c><c t="str"><f>IF(1,"","x")</f><v></v></c></row>` +
		`<row><c t="inlineStr"><is><t>Fix</t></is></c><c t="e"><v>#N/A</v></c><c t="inlineStr"><is><t>soon</t></is></c></row>` +
		`</sheetData><mergeCells><mergeCell ref="D1:XFD1048576"/><mergeCell ref="C2:XFD2"/><mergeCell ref="x"/></mergeCells></worksheet>`})
	if diff := cmp.Diff([]string{"# Prices", "Plan: Flex; Fee: 12.5.", "Plan: Fix; Note: soon."}, texts(loadWorkbook(t, raw))); diff != "" {
		t.Error(diff)
	}
}

func FuzzXLSX(f *testing.F) {
	f.Add(`<row r="1"><c r="A1"><v>1</v></c><c r="B1" t="str"><v>x</v></c></row>`)
	f.Add(`<row hidden="1"><c><f>A1</f></c></row></sheetData><mergeCells><mergeCell ref="A1:C9"/></mergeCells><sheetData>`)
	f.Add(`<row r="3"><c r="C3" t="s"><v>0</v></c></row><row r="2"><c r="B2" s="9"><v>1e400</v></c></row>`)
	var good []byte
	f.Fuzz(func(t *testing.T, inner string) {
		if good == nil {
			good = workbook(t, [][]any{{"Plan", "Fee"}, {"Flex", 12}}, nil)
		}
		raw := rezip(t, good, map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData>" + inner + "</sheetData></worksheet>"})
		doc, err := Load("a.xlsx", bytes.NewReader(raw), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", inner, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
	})
}
