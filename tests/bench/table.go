package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// row is a line of the table. A row without a limit is for information.
type row struct {
	name     string
	measured string
	ratio    float64 // 0: none
	limit    string  // as printed
	isOver   bool
}

// table collects the rows. Without limits it only shows them: at other sizes the ratios are others.
type table struct {
	rows      []row
	measured  string // on what
	hasLimits bool
}

// compare adds the ratio of two medians. most and least are limits of the ratio; 0: none.
func (t *table) compare(name string, over, under time.Duration, most, least float64) {
	r := row{name: name, ratio: float64(over) / float64(under), measured: millis(over) + " / " + millis(under)}
	if most > 0 {
		r.limit, r.isOver = fmt.Sprintf("at most  %.2f", most), r.ratio > most
	}
	if least > 0 {
		r.limit, r.isOver = fmt.Sprintf("at least %.2f", least), r.ratio < least
	}
	t.rows = append(t.rows, r)
}

// recall adds a share that has to be whole.
func (t *table) recall(name string, found, wanted int) {
	t.rows = append(t.rows, row{
		name: name, measured: fmt.Sprintf("%d of %d", found, wanted), ratio: float64(found) / float64(wanted),
		limit: "exactly 1.00", isOver: found != wanted,
	})
}

// note adds a row that is only for information.
func (t *table) note(name, measured string) {
	t.rows = append(t.rows, row{name: name, measured: measured})
}

func (t *table) print(out io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	widths := [2]int{}
	for _, r := range t.rows {
		widths[0] = max(widths[0], utf8.RuneCountInString(r.name))
		widths[1] = max(widths[1], utf8.RuneCountInString(r.measured))
	}
	over, limits := 0, 0
	fmt.Fprintf(out, "\n%s. Medians; a ratio is of two medians of one run.\n\n", t.measured)
	for _, r := range t.rows {
		line := pad(r.name, widths[0]) + "  " + pad(r.measured, widths[1])
		if r.ratio != 0 {
			line += fmt.Sprintf("  %7.3f", r.ratio)
		}
		if r.limit != "" && t.hasLimits {
			limits++
			verdict := "ok"
			if r.isOver {
				over++
				verdict = "OVER"
			}
			line += "  " + pad(r.limit, len("at least 00.00")) + "  " + verdict
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	if t.hasLimits {
		fmt.Fprintf(out, "\n%d of %d limits kept\n", limits-over, limits)
	}
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// progress says on standard error what is being done and for how long, one line a step.
type progress struct {
	out   io.Writer
	begun time.Time
	step  string
}

func newProgress(out *os.File) *progress { return &progress{out: out} }

// begin ends the step before and begins another.
func (p *progress) begin(format string, values ...any) {
	p.end()
	p.step, p.begun = fmt.Sprintf(format, values...), time.Now()
	fmt.Fprintf(p.out, "%s … ", p.step)
}

func (p *progress) end() {
	if p.step != "" {
		fmt.Fprintf(p.out, "%.1f s\n", time.Since(p.begun).Seconds())
		p.step = ""
	}
}
