package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"porchlight/functions/internal/guard"
)

// row is a table row taken apart. Its first cell names it.
type row struct {
	name  string          // first cell in plain words
	kind  map[string]bool // terms of the first column: "tariff"
	core  map[string]bool // terms of its name up to "for …", "of …", "with …", "added to …"
	head  map[string]bool // terms of what it is: of "Winter cover for a kayak", those of "winter cover"
	of    map[string]bool // terms of what it belongs to: "kayak"
	cells []cell          // the others

	proper      []bool // which words of the name have a capital letter
	shortLength int    // words of the name up to the same place
}

// cell is a column name with its value.
type cell struct {
	key    map[string]bool // terms
	value  map[string]bool // terms of what the value is, without what it belongs to
	number string          // the value when it is one amount, as a term
	denies bool            // "none", "not offered"
	isFor  bool            // says whom or what the row is for
}

// belongs stand between a thing and another that it belongs to or comes after; holds between a thing
// and what it includes.
var (
	belongs = fields(`for of to from after before until when if added against outside fur von zu zum zur nach vor bis wenn
		gegen ab para de del tras desde hasta cuando si`)
	holds = fields(`with without including plus mit ohne samt inklusive zuzuglich con sin incluido incluida mas`)
)

// purposes stand in the name of a column that says whom or what a row is for.
var purposes = fields(`for suits purpose use fur zweck eignung geeignet para uso destinado`)

// denial is how a cell says that there is none.
var denial = regexp.MustCompile(`^(?:(?:none|no|not|without|never|kein\w*|nein|nicht|ohne|nie|sin|ningun\w*|nada|nunca)\b|0$|[-–—]+$|n/a$)`)

func readRow(text string) *row {
	parts := strings.Split(strings.TrimSuffix(text, "."), "; ")
	kind, name, _ := strings.Cut(parts[0], ": ")
	r := &row{name: strings.Join(guard.Words(name), " "), kind: setOf(terms(kind))}
	head, of := cutAt(name, belongs)
	r.head, r.of = setOf(terms(head)), setOf(terms(of))
	short, _ := cutAt(head, holds)
	r.core, r.shortLength = setOf(terms(short)), len(guard.Words(short))
	for _, w := range strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		r.proper = append(r.proper, isCapitalised(w))
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, ": ")
		c := cell{key: setOf(terms(key)), value: map[string]bool{}}
		c.isFor = slices.ContainsFunc(guard.Words(key), func(w string) bool { return purposes[w] })
		c.denies = denial.MatchString(strings.Join(strings.Fields(strings.ToLower(value)), " "))
		for item := range strings.SplitSeq(value, ", ") {
			thing, _ := cutAt(item, belongs)
			for _, t := range terms(thing) {
				c.value[t] = true
			}
		}
		if f := guard.Figures(value); len(f) == 1 && len(guard.Words(value)) <= 3 {
			c.number = "#" + f[0].Size
		}
		r.cells = append(r.cells, c)
	}
	return r
}

// cutAt cuts a text before the first of some words that is not its first word.
func cutAt(text string, at map[string]bool) (before, after string) {
	words := strings.Fields(text)
	for i, w := range words {
		if i > 0 && at[strings.Join(guard.Words(w), "")] {
			return strings.Join(words[:i], " "), strings.Join(words[i:], " ")
		}
	}
	return text, ""
}

// named says how far a question names a row: 3 its whole name, 2 a word of what it is, 1 a word of what
// it includes, 0 nothing.
func (r *row) named(q question) int {
	level := 0
	for _, t := range q.terms {
		switch {
		case q.names(r.name):
			return 3
		case t.isNumber() || t.isDenied:
		case best(t.stem, r.core) > 0:
			level = 2
		case best(t.stem, r.head) > 0:
			level = max(level, 1)
		}
	}
	return level
}

// has says how far a row has what a term says: 1 in its name, as a column or as the value of one.
func (r *row) has(t term) float64 {
	if t.isNumber() {
		switch {
		case r.head[t.stem] || r.of[t.stem]:
			return 1
		case r.hasNumber(t.stem):
			return cellShare
		}
		return 0
	}
	found := max(best(t.stem, r.head), best(t.stem, r.of), best(t.stem, r.kind))
	for _, c := range r.cells {
		if !c.denies {
			share := cellShare
			if c.isFor {
				share = purposeShare
			}
			found = max(found, best(t.stem, c.key), share*best(t.stem, c.value))
		}
	}
	return found
}

func (r *row) hasNumber(number string) bool {
	for _, c := range r.cells {
		if c.number == number {
			return true
		}
	}
	return false
}

// denies says whether a row has a column for a thing that is asked for, and none of it, or the other
// way round for a thing that is asked to be absent.
func (r *row) denies(t term) bool {
	if best(t.stem, r.head) > 0 {
		return t.isDenied
	}
	hasColumn, hasSome := false, false
	for _, c := range r.cells {
		if best(t.stem, c.key) > 0 {
			hasColumn, hasSome = true, hasSome || !c.denies
		}
	}
	return hasColumn && hasSome == t.isDenied
}

// isAccessory says whether the question names only what the row belongs to: a kayak, and not its cover.
func (r *row) isAccessory(q question) bool {
	isOf := false
	for _, t := range q.terms {
		if t.isNumber() {
			continue
		}
		if best(t.stem, r.head) > 0 {
			return false
		}
		isOf = isOf || best(t.stem, r.of) > 0
	}
	return isOf
}
