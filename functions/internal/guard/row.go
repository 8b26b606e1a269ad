package guard

import (
	"slices"
	"strings"

	"porchlight/functions/internal/sentence"
)

// row is where a number stands in a table: whose row, and which table by its columns.
type row struct{ name, columns string }

// addRow notes the row that a line is; nil when it is prose.
func (f *facts) addRow(line string) *row {
	if !sentence.IsRow(line) {
		return nil
	}
	var r row
	for i, cell := range strings.Split(plain(line), "; ") {
		key, value, _ := strings.Cut(cell, ": ")
		if i == 0 {
			r.name = runOf(Words(value))
		}
		r.columns += key + ";"
	}
	f.rows = append(f.rows, r)
	return &r
}

// mentioned returns the rows whose name a plain line says. "Home Flex Plus" does not say "Home Flex".
func (f *facts) mentioned(line string) []row {
	said := runOf(Words(line))
	byLength := slices.SortedFunc(slices.Values(f.rows), func(a, b row) int { return len(b.name) - len(a.name) })
	var out []row
	last, lastFound := "", false
	for _, r := range byLength {
		found := r.name == last && lastFound
		if r.name != last && strings.TrimSpace(r.name) != "" && strings.Contains(said, r.name) {
			said, found = strings.ReplaceAll(said, r.name, " | "), true
		}
		last, lastFound = r.name, found
		if found {
			out = append(out, r)
		}
	}
	return out
}

// contradicts says whether the line speaks of other rows of the table that owner belongs to.
func contradicts(owner *row, mentioned []row) bool {
	other := false
	for _, r := range mentioned {
		if owner == nil || r == *owner {
			return false
		}
		other = other || r.columns == owner.columns
	}
	return other
}
