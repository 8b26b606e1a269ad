package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable_BecomesALineForEachRow(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Block
	}{
		{
			"a price table", "| Plan | Monthly fee | Contract |\n|:-----|:-----------:|---------:|\n| Home Flex | 12,50 € | 12 months |\n| Home Max | 1.299,00 € | approx. |",
			[]Block{
				{Row, "Plan: Home Flex; Monthly fee: 12,50 €; Contract: 12 months."},
				{Row, "Plan: Home Max; Monthly fee: 1.299,00 €; Contract: approx."},
			},
		},
		{"no outer pipes", "a | b\n--|--\n1 | 2", []Block{{Row, "a: 1; b: 2."}}},
		{"empty cells and short rows", "|a|b|c|\n|-|-|-|\n|1||3|\n|4|\n||||", []Block{{Row, "a: 1; c: 3."}, {Row, "a: 4."}}},
		{"a column without a name", "|a||\n|-|-|\n|1|2|", []Block{{Row, "a: 1; 2."}}},
		{"a pipe in a cell", "|a|b|\n|-|-|\n|1 \\| 2|3\\||", []Block{{Row, "a: 1 | 2; b: 3|."}}},
		{"emphasis stays as written", "|a|\n|-|\n|**12,50 €**|", []Block{{Row, "a: **12,50 €**."}}},
		{"a header only", "|Plan|Fee|\n|-|-|", []Block{{Row, "Plan; Fee."}}},
		{"text before and after", "Our fees:\n|a|\n|-|\n|1|\n\nafter", []Block{{Paragraph, "Our fees:"}, {Row, "a: 1."}, {Paragraph, "after"}}},
		{"no table without a fitting header", "a\n|-|-|\n1", []Block{{Paragraph, "a\n|-|-|\n1"}}},
		{"no table in a fence", "```\n|a|\n|-|\n|1|\n```", []Block{{Verbatim, "```\n|a|\n|-|\n|1|\n```"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := []Section{{nil, tt.want}}
			if diff := cmp.Diff(want, mustLoad(t, "a.md", tt.text).Sections); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTable_KeepsItsHeadingPath(t *testing.T) {
	doc := mustLoad(t, "a.md", "# Prices\n\n## Homes\n\n|Plan|Fee|\n|-|-|\n|Flex|12,50 €|\n")
	chunks, err := Chunk(doc, Doorstep())
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) != 1 || chunks[0].HeadingPath != "Prices › Homes" || chunks[0].Content != "Plan: Flex; Fee: 12,50 €." {
		t.Errorf("got %+v", chunks)
	}
}

func TestTable_RefusesARowWithMoreCellsThanItsHeader(t *testing.T) {
	_, err := Load("a.md", strings.NewReader("---\ntitle: x\n---\n\ntext\n\n|a|b|\n|-|-|\n|1|2|\n|1|2|3|\n"), Defaults{})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Why() != "malformed: line 10: 3 cells, the header has 2" {
		t.Errorf("error %v", err)
	}
}

// O27: every row of a long table names its columns, whichever chunk it is in, and none is cut.
func TestTable_NamesItsColumnsInEveryChunk(t *testing.T) {
	var markdown, csv strings.Builder
	markdown.WriteString("# Tarifas\n\n| Plan | Mensual | Anual |\n|---|---|---|\n")
	csv.WriteString("# title: Tarifas\nPlan;Mensual;Anual\n")
	var want []string
	for i := range 60 {
		fmt.Fprintf(&markdown, "| Plan %d | %d,50 € | %d,00 € |\n", i, i, i*12)
		fmt.Fprintf(&csv, "Plan %d;%d,50 €;%d,00 €\n", i, i, i*12)
		want = append(want, fmt.Sprintf("Plan: Plan %d; Mensual: %d,50 €; Anual: %d,00 €.", i, i, i*12))
	}
	for key, text := range map[string]string{"a.md": markdown.String(), "a.csv": csv.String()} {
		chunks, err := Chunk(mustLoad(t, key, text), Profile{Name: "p", MaxCharacters: 600, Overlap: 100})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range chunks {
			if c.HeadingPath != "Tarifas" {
				t.Errorf("%s: heading path %q", key, c.HeadingPath)
			}
			got = append(got, strings.Split(c.Content, "\n")...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
		if len(chunks) < 5 {
			t.Errorf("%s: %d chunks, want several", key, len(chunks))
		}
	}
}
