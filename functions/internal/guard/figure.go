package guard

import "regexp"

// Figure is a number of a text, as the guard reads it.
type Figure struct {
	Amount    string // canonical decimal: "1299" for "1.299,00 €"
	Size      string // the amount in the base of its dimension: "1000" for "1 Gbit/s"
	Dimension string // "money", "percent", "mbit" and so on; empty for a bare number
	Spelled   bool   // written in words
}

// Figures returns the numbers of a text in order.
func Figures(text string) []Figure {
	var out []Figure
	for _, q := range quantitiesIn(plain(text)) {
		f := Figure{Amount: q.amount, Size: q.amount, Dimension: q.dimension, Spelled: q.spelled}
		if q.size != nil {
			f.Size = decimalOf(q.size)
		}
		out = append(out, f)
	}
	return out
}

// StatesPrice says whether a text names an amount of money, in digits or in words, a percentage, or
// that something is free.
func StatesPrice(text string) bool {
	line := plain(text)
	for _, q := range quantitiesIn(line) {
		if q.isPrice() {
			return true
		}
	}
	return free.MatchString(line) || atNoPrice.MatchString(line) || dashed.MatchString(line) ||
		roundSum.MatchString(line) || otherMoney.MatchString(line) || columned.MatchString(line)
}

// The shapes are looser than what the guard of numbers reads: they rank sentences and hold old prices
// back, and ground nothing.
var (
	atNoPrice = regexp.MustCompile(`\b(is|are|for|stays?|remains?) free\b`)
	// dashed is a whole amount as price tags write it: "45,-", "45.–".
	dashed = regexp.MustCompile(`\d ?[.,] ?[-–—―−]{1,2}(?:[^\d\p{L}-]|$)`)
	// roundSum is an amount whose number is no number word of its own.
	roundSum = regexp.MustCompile(`\b(thousands?|tausende?|mil|miles|dozens?|dutzend|docenas?|half an?|halber|halben|medio|millions?|million(?:en)?|millon(?:es)?) (?:of |de )?` +
		`(€|eur|euros?|dollars?|dolar|dolares|usd|pounds?|pfund|libras?|gbp|franken|francs?|francos?|chf|cents?|centimos?|pence)`)
	// otherMoney is an amount in a currency that the guard of numbers does not convert.
	otherMoney = regexp.MustCompile(`\d ?(?:kr|kronen|kronor|kroner|coronas|dkk|sek|nok|pln|zł|złoty|zloty|kc|czk|ft|forint|huf)(?:[^\p{L}]|$)|\b(?:dkk|sek|nok|pln|czk|huf) ?\d|[₠-⃏] ?\d|\d ?(?:[₠-⃏元円]|欧元|يورو|\x{110b}\x{116f}\x{11ab})`) // the last is 원, taken apart by plain
	// columned is an amount under a column whose name has the currency: "Monthly fee (€): 12,50".
	columned = regexp.MustCompile(`(?:[€$£¥₠-⃏]|\b(?:eur|usd|gbp|chf|ct|dkk|sek|nok|pln|czk|huf)\b)[^:;]{0,20}: ?[-+]?\d`)
)
