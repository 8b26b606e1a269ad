package guard

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestPrefix is more bytes than any unit before a number takes.
const longestPrefix = 16

// maxDigits is the length from which a run of digits is an identifier, not an amount.
const maxDigits = 18

// quantity is one number of a text with what it counts.
type quantity struct {
	amount string   // canonical decimal as written, times "million"; or a literal such as "1.2.3"
	size   *big.Rat // amount in the base of its dimension; nil for a literal
	unit
	start, end int             // bytes in the line, the end without the unit
	prefixed   bool            // the unit stood before the number
	spelled    bool            // written in words
	row        *row            // the table row that states it; nil in prose
	named      map[string]bool // the periods that its chunk speaks of
}

var (
	digits = regexp.MustCompile(`\d+(?:[.,'’]\d+)*`)
	thin   = regexp.MustCompile(`^\d{3}(?:[.,]\d{1,2})?$`)
	group  = regexp.MustCompile(`^\d{1,3}(?: \d{3})*$`)
	// tight joins the ends of a range; loose also joins lists, which is too bold for prices.
	tight = regexp.MustCompile(`^(?:[-–/]| (?:to|bis|or|oder|o|u|a|hasta|and|und|y) )$`)
	loose = regexp.MustCompile(`^(?:, | ?[-–/] ?)$`)
)

// quantitiesIn returns the numbers of one plain line.
func quantitiesIn(line string) []quantity {
	out := append(digitsIn(line), spelledIn(line)...)
	slices.SortFunc(out, func(a, b quantity) int { return a.start - b.start })
	used := 0
	for i := range out {
		before := line[min(used, out[i].start):out[i].start]
		used = out[i].attachUnit(line, used)
		if m := periodBefore.FindStringSubmatch(before); m != nil && out[i].period == "" && out[i].isPrice() {
			out[i].period = periods[m[1]]
		}
	}
	inherit(out, line)
	for i := range out {
		out[i].measure()
	}
	return out
}

// digitsIn finds the numbers written in digits and joins groups of thousands set apart by spaces.
func digitsIn(line string) []quantity {
	var out []quantity
	for _, at := range digits.FindAllStringIndex(line, -1) {
		token := line[at[0]:at[1]]
		if n := len(out); n > 0 && out[n-1].end+1 == at[0] && line[at[0]-1] == ' ' && thin.MatchString(token) &&
			group.MatchString(out[n-1].amount) {
			out[n-1].amount, out[n-1].end = line[out[n-1].start:at[1]], at[1]
			continue
		}
		if r, _ := utf8.DecodeLastRuneInString(line[:at[0]]); unicode.IsLetter(r) && !prefixMoney.MatchString(line[:at[0]]) {
			continue // part of a name, see namesIn
		}
		out = append(out, quantity{amount: token, start: at[0], end: at[1]})
	}
	var split []quantity
	for _, q := range out {
		split = append(split, q.canonical()...)
	}
	return split
}

// canonical rewrites the amount without grouping, with a decimal point and no needless zeros. One
// separator before exactly three digits groups ("1.299" is 1299, as "1,299"), except after a
// lone zero. "12,24,36" becomes three numbers; "1.2.3" stays a literal.
func (q quantity) canonical() []quantity {
	s := strings.NewReplacer(" ", "", "'", "", "’", "").Replace(q.amount)
	last := strings.LastIndexAny(s, ".,")
	whole, fraction := s, ""
	if last >= 0 {
		separator := s[last : last+1]
		parts := strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == ',' })
		one := strings.Count(s, separator) == 1
		uniform := strings.Trim(s, "0123456789"+separator) == ""
		switch grouped := allOfThree(parts[1:]) && len(parts[0]) <= 3 && parts[0] != "0"; {
		case uniform && grouped:
			whole = strings.Join(parts, "")
		case one && (uniform || allOfThree(parts[1:len(parts)-1])):
			whole, fraction = strings.Join(parts[:len(parts)-1], ""), parts[len(parts)-1]
		case uniform && separator == ",":
			return q.listed()
		default:
			return []quantity{q}
		}
	}
	if len(whole)+len(fraction) > maxDigits {
		return []quantity{q}
	}
	q.amount = decimal(whole, fraction)
	return []quantity{q}
}

// listed takes "12,24,36" apart.
func (q quantity) listed() []quantity {
	var out []quantity
	at := q.start
	for part := range strings.SplitSeq(q.amount, ",") {
		one := quantity{amount: part, start: at, end: at + len(part)}
		out = append(out, one.canonical()...)
		at += len(part) + 1
	}
	return out
}

func allOfThree(parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return len(p) != 3 })
}

func decimal(whole, fraction string) string {
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// attachUnit reads the unit around the number. used is where the text that belongs to earlier
// numbers ends; the new end is returned.
func (q *quantity) attachUnit(line string, used int) int {
	before := line[max(min(used, q.start), q.start-longestPrefix):q.start]
	if m := prefixMoney.FindStringSubmatch(before); m != nil {
		q.unit, q.prefixed = units[m[1]], true
		_, factor, n := unitAfter(line[q.end:])
		if factor > 1 {
			q.multiply(factor)
		} else {
			n = 0
		}
		q.period = periodAfter(line[q.end+n:])
		return q.end + n
	}
	u, factor, n := unitAfter(line[q.end:])
	q.multiply(factor)
	q.unit = u
	if m := prefixSpan.FindStringSubmatch(before); m != nil && u.dimension == "" && len(q.amount) <= 2 { // not "year 2026"
		q.unit, q.prefixed = units[m[1]], true
	}
	if q.dimension == "" {
		q.period = periodAfter(line[q.end+n:])
	}
	return q.end + n
}

func (q *quantity) multiply(factor int64) {
	if r, ok := new(big.Rat).SetString(q.amount); ok && factor != 1 {
		r.Mul(r, new(big.Rat).SetInt64(factor))
		q.amount = decimalOf(r)
	}
}

// decimalOf writes a number with a finite decimal expansion.
func decimalOf(r *big.Rat) string {
	whole, fraction, _ := strings.Cut(r.FloatString(maxDigits), ".")
	return decimal(whole, fraction)
}

// inherit gives "10" in "10 to 14 days" its days, "12" in "months 1 to 12" its months, and "12" in
// "12, 18 or 24 months" its months.
func inherit(qs []quantity, line string) {
	for i := len(qs) - 2; i >= 0; i-- {
		from, gap := qs[i+1], line[min(qs[i].end, qs[i+1].start):qs[i+1].start]
		if qs[i].dimension != "" || from.dimension == "" || from.prefixed {
			continue
		}
		if tight.MatchString(gap) || loose.MatchString(gap) && from.dimension != money {
			qs[i].unit = from.unit
		}
	}
	for i := 1; i < len(qs); i++ {
		from, gap := qs[i-1], line[min(qs[i-1].end, qs[i].start):qs[i].start]
		if qs[i].dimension == "" && from.prefixed && tight.MatchString(gap) {
			qs[i].unit, qs[i].prefixed = from.unit, true
		}
	}
}

func (q *quantity) measure() {
	size, ok := new(big.Rat).SetString(q.amount)
	if !ok {
		return
	}
	if q.scale != nil {
		size.Mul(size, q.scale)
	}
	q.size = size
}

// isPrice says whether the number is a claim about money: an amount, a percentage, or a bare number
// for a period ("49 a month").
func (q quantity) isPrice() bool {
	return q.dimension == money || q.dimension == percent || q.dimension == "" && q.period != ""
}

// grounds says whether q of the evidence supports the claim.
func (q quantity) grounds(claim quantity) bool {
	if claim.period != "" && claim.isPrice() && !q.isFor(claim.period) {
		return false
	}
	if q.period != "" && claim.period != "" && q.period != claim.period {
		return false
	}
	if claim.dimension == "" || q.size == nil || claim.size == nil {
		return q.amount == claim.amount
	}
	return q.dimension == claim.dimension && q.size.Cmp(claim.size) == 0 &&
		(q.currency == claim.currency || q.currency == "" || claim.currency == "")
}

// isFor says whether q is said to be for the period: beside it, or, where nothing is said there, anywhere
// in its chunk. A price that is paid once is no price a month.
func (q quantity) isFor(period string) bool {
	return q.period == period || q.period == "" && (q.named[period] || period == once)
}
