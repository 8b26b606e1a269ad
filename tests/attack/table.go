package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// row is what came of one attack.
type row struct {
	name     string
	requests int
	racers   int    // how many of them at once
	foreign  int    // rows, words or answers of somebody else that were found
	figures  string // what else was counted or measured
	isHeld   bool   // whether it is as promised
}

// table is the rows of a run.
type table []row

// print says whether all rows are as promised.
func (t table) print(out io.Writer) (isHeld bool) {
	isHeld = true
	width := utf8.RuneCountInString("attack")
	for _, r := range t {
		width = max(width, utf8.RuneCountInString(r.name))
	}
	fmt.Fprintf(out, "\n%s  %8s  %7s  %7s  %-6s  %s\n", pad("attack", width), "requests", "at once", "foreign", "", "figures")
	for _, r := range t {
		verdict := "held"
		if !r.isHeld {
			verdict, isHeld = "BROKEN", false
		}
		fmt.Fprintf(out, "%s  %8d  %7d  %7d  %-6s  %s\n", pad(r.name, width), r.requests, r.racers, r.foreign, verdict, r.figures)
	}
	return isHeld
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
