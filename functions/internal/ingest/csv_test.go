package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCSV_BecomesALineForEachRow(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a byte order mark", "\ufeffplan,price\nBasic,12", []string{"plan: Basic; price: 12."}},                              // O12
		{"a byte order mark before a comment", "\ufeff# language: es\nplan;precio\nUno;1", []string{"plan: Uno; precio: 1."}}, // O12
		{ // O13
			"semicolons and decimal commas", "plan;precio\nBásico;12,50\nPro;1.299,00",
			[]string{"plan: Básico; precio: 12,50.", "plan: Pro; precio: 1.299,00."},
		},
		{"tabs", "plan\tfee\tnote\nFlex\t12,50\t\n", []string{"plan: Flex; fee: 12,50."}},
		{"commas in quotes", "plan,fee\nFlex,\"12,50 €\"\n", []string{"plan: Flex; fee: 12,50 €."}},
		{"a delimiter in a quoted header", "\"Plan; all\",Fee\nFlex,1", []string{"Plan; all: Flex; Fee: 1."}},
		{"values to the last digit", "sku,price,share\n9007199254740993,1299.00,-03 %", []string{"sku: 9007199254740993; price: 1299.00; share: -03 %."}}, // O15
		{"doubled quotes", "item,price\n\"Rack 19\"\"\",39", []string{"item: Rack 19\"; price: 39."}},
		{"a line break in a cell", "a,b\n\"one\r\ntwo\",2\r\n", []string{"a: one two; b: 2."}},
		{"lone carriage returns", "a,b\r1,2\r3,4", []string{"a: 1; b: 2.", "a: 3; b: 4."}},
		{"empty cells and rows", "a;b;c\n1;;3\n;;\n\n4;5;\n", []string{"a: 1; c: 3.", "a: 4; b: 5."}},
		{"a header that begins with a number sign", "#;Plan\n1;Flex", []string{"#: 1; Plan: Flex."}},
		{"invisible characters", "Pl\u200ban;Fee\x00\nFl\u00adex;1\u00a0299,00", []string{"Plan: Flex; Fee: 1\u00a0299,00."}},
		{"a header only", "Plan;Fee\n", []string{"Plan; Fee."}},
		{"blank lines before it", "\n# language: de\n\nPlan;Fee\nFlex;1", []string{"Plan: Flex; Fee: 1."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range mustLoad(t, "a.csv", tt.text).Sections {
				for _, b := range s.Blocks {
					got = append(got, b.Text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// O13, O14: what does not fit refuses the whole file with its line; half a table is never read.
func TestCSV_RefusesTheWholeFileWithTheLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a short row", "# title: x\n\nplan;precio\nUno;1\nDos\n", "malformed: line 5: 1 cells, the header has 2"},
		{"a long row", "plan,precio\nUno,12,50\n", "malformed: line 2: 3 cells, the header has 2"},
		{"a ragged row after a cell of two lines", "a;b\n\"1\n2\";3\n4\n", "malformed: line 4: 1 cells, the header has 2"},
		{"the wrong delimiter in a row", "plan;precio\nUno,12\n", "malformed: line 2: 1 cells, the header has 2"},
		{"a bare inch mark", "item,price\nRack,1\nRack 19\",39\n", `malformed: line 3: bare " in non-quoted-field`},
		{"a quote that nobody closed", "item,price\n\"Rack,1\n", `malformed: line 2: extraneous or missing " in quoted-field`},
		{"one column", "plan\nUno\n", "malformed: line 1: the header has no second column; a delimiter is ; or tab or ,"},
		{"a comment without a key", "# spring prices\nplan;fee\n", `malformed: line 1: a line before the header must read "# key: value"`},
		{"a fact given twice", "# type: faq\n# type: price\nplan;fee\nUno;1", "malformed: line 2: type is given twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.csv", strings.NewReader(tt.text), Defaults{})
			if refusal, ok := err.(*Refusal); !ok || refusal.Why() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestCSV_PutsItsTitleAboveItsRows(t *testing.T) {
	got := mustLoad(t, "a.csv", "# title: Home plans\nPlan;Fee\nFlex;1").Sections
	want := []Section{{[]string{"Home plans"}, []Block{{Row, "Plan: Flex; Fee: 1."}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{"", "a;b\n1;2", "# title: x\na,b\n\"1\n2\",3", "\ufeffa\tb\r1\t\r", "a,b\n\"", "#\n# a\n;;\n", "a;b\n\x00;\u200d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Load("a.csv", strings.NewReader(text), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", text, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
	})
}

func TestTSV_ReadsValuesBetweenTabs(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"commas and semicolons are text", "plan\tfee, net\nFlex; new\t12,50\n", []string{"plan: Flex; new; fee, net: 12,50."}},
		{"quoted as a spreadsheet does", "item\tnote\nRack\t\"two\nlines, 19\"\"\"\n", []string{`item: Rack; note: two lines, 19".`}},
		{"inch marks", "item\tprice\nRack 19\"\t39\n\"Big\" pipe\t5\n", []string{`item: Rack 19"; price: 39.`, `item: "Big" pipe; price: 5.`}}, // O14
		{"values to the last digit", "sku\tprice\n0049007199254740993\t1299.00\n", []string{"sku: 0049007199254740993; price: 1299.00."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustLoad(t, "a.tsv", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTSV_RefusesTheWholeFileWithTheLine(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a row without a tab", "a\tb\n1 2\n", "malformed: line 2: 1 cells, the header has 2"},
		{"the same among inch marks", "a\tb\nRack 19\"\t2\n3\n", "malformed: line 3: 1 cells, the header has 2"},
		{"semicolons", "a;b\n1;2\n", "malformed: line 1: the header has no second column; the delimiter is tab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.tsv", strings.NewReader(tt.text), Defaults{})
			if refusal, ok := err.(*Refusal); !ok || refusal.Why() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// What a reader sees of a cell in which somebody wrote markup; "<24h>" is none.
func TestCSV_ReadsMarkupInCells(t *testing.T) {
	got := texts(mustLoad(t, "a.csv", "q,a\nHow?,\"<p>See <a href='x'>our page</a>.</p><p style='display:none'>1 €</p>\"\n<24h>,a < b\n"))
	if diff := cmp.Diff([]string{"q: How?; a: See our page.", "q: <24h>; a: a < b."}, got); diff != "" {
		t.Error(diff)
	}
}
