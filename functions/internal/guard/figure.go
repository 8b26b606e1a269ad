package guard

import "regexp"

// Figure is a number of a text, as the guard reads it.
type Figure struct {
	Amount    string // canonical decimal: "1299" for "1.299,00 €"
	Dimension string // "money", "percent", "mbit" and so on; empty for a bare number
	Spelled   bool   // written in words
}

// Figures returns the numbers of a text in order.
func Figures(text string) []Figure {
	var out []Figure
	for _, q := range quantitiesIn(plain(text)) {
		out = append(out, Figure{Amount: q.amount, Dimension: q.dimension, Spelled: q.spelled})
	}
	return out
}

// StatesPrice says whether a text names an amount of money, a percentage, or that something is free.
func StatesPrice(text string) bool {
	line := plain(text)
	for _, q := range quantitiesIn(line) {
		if q.isPrice() {
			return true
		}
	}
	return free.MatchString(line) || atNoPrice.MatchString(line)
}

// atNoPrice is looser than free: it ranks sentences and grounds nothing.
var atNoPrice = regexp.MustCompile(`\b(is|are|for|stays?|remains?) free\b`)
