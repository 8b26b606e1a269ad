package guard

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/sentence"
)

var (
	// name is a word with a letter before a digit: "B2B", "WPA3".
	name = regexp.MustCompile(`[\p{L}\d]*\p{L}\d[\p{L}\d]*`)
	// free says that something costs nothing, which "0 €" may repeat.
	free     = regexp.MustCompile(`\b(kostenlos\w*|kostenfrei\w*|gratis|gratuit[oa]s?|gratuitamente|costs? (?:you )?nothing|kostet (?:sie )?nichts|no cuesta nada|free of charge|no charge|at no cost|sin coste|sin costo)\b|: (free|none|keine?|ninguna?)\b`)
	priceKey = regexp.MustCompile(`fee|price|cost|charge|preis|gebuhr|kosten|precio|cuota|tarif|coste|importe`)
	// gluedMoney is a currency code without a space before its number.
	gluedMoney = regexp.MustCompile(`^(eur|usd|gbp|chf)\d+$`)
	listMarker = regexp.MustCompile(`^\s*\d{1,2}[.)] `)
	currency   = regexp.MustCompile(`[€$£¥]|\b(eur|euros?|usd|gbp|chf)\b`)
)

// facts are the numbers that an answer may use.
type facts struct {
	quantities []quantity
	dates      []date
	names      map[string]bool
	rows       []row
}

// Numbers refuses a sentence with a number, date or numbered name that the evidence does not hold.
// Spelling does not matter (1.299,00 € is €1,299), the unit does: euros are not cents, per month is
// not per year. A number of the question may be repeated unless it is a price.
func Numbers(text string, in Input) Verdict {
	if in.known == nil {
		in = Prepare(in)
	}
	return in.known.judge(plain(listMarker.ReplaceAllString(text, "")))
}

// factsOf reads trusted evidence and the question.
func factsOf(in Input) *facts {
	f := &facts{names: map[string]bool{}}
	for _, m := range in.Evidence {
		f.addMatch(m)
	}
	asked := plain(in.Question)
	f.addNames(asked)
	for _, q := range quantitiesIn(asked) {
		if !q.isPrice() {
			f.quantities = append(f.quantities, q)
		}
	}
	for _, d := range datesIn(asked) {
		f.dates = append(f.dates, d.readings...)
	}
	return f
}

func (f *facts) addMatch(m corpus.Match) {
	whole := plain(m.SourceTitle + " " + m.HeadingPath + " " + m.Content)
	named := periodsNamed(whole)
	for _, s := range slices.Concat([]string{m.SourceTitle, m.HeadingPath}, sentence.Split(m.Content)) {
		line := plain(s)
		f.addNames(line)
		owner := f.addRow(s)
		for cell := range strings.SplitSeq(line, "; ") {
			for _, q := range cellQuantities(cell, whole) {
				q.row, q.named = owner, named
				f.quantities = append(f.quantities, q)
			}
		}
		for _, d := range datesIn(line) {
			f.addDates(d.readings...)
		}
	}
	if m.VerifiedAt != nil {
		f.addDates(dateOf(*m.VerifiedAt))
	}
	if free.MatchString(whole) {
		f.quantities = append(f.quantities, zeroMoney())
	}
}

func (f *facts) addNames(line string) {
	for _, n := range name.FindAllString(line, -1) {
		f.names[n] = true
	}
}

// addDates keeps the dates, and their years as numbers of their own.
func (f *facts) addDates(dates ...date) {
	f.dates = append(f.dates, dates...)
	for _, d := range dates {
		if d.year > 0 {
			f.quantities = append(f.quantities, quantity{amount: strconv.Itoa(d.year)})
		}
	}
}

func zeroMoney() quantity {
	q := quantity{amount: "0", unit: unit{dimension: money}}
	q.measure()
	return q
}

// cellQuantities returns the numbers of a sentence or of a table cell "name: value". A lone number in
// a cell counts what its column says ("Monthly fee (EUR): 12.50"); when a price column names no unit,
// any currency that the chunk names.
func cellQuantities(cell, chunk string) []quantity {
	key, value, found := strings.Cut(cell, ": ")
	if !found {
		return quantitiesIn(cell)
	}
	out, values := quantitiesIn(key), quantitiesIn(value)
	if len(values) != 1 {
		return append(out, values...)
	}
	q := values[0]
	if q.period == "" && q.dimension == money {
		q.period = periodIn(key)
	}
	out = append(out, q)
	if q.dimension != "" || q.start != 0 || q.end != len(strings.TrimRight(value, ". ")) {
		return out
	}
	candidates := unitsIn(key)
	if len(candidates) == 0 && priceKey.MatchString(key) {
		for _, symbol := range currency.FindAllString(chunk, -1) {
			candidates = append(candidates, units[symbol])
		}
	}
	for _, u := range candidates {
		q.unit = u
		q.period = periodIn(key)
		q.measure()
		out = append(out, q)
	}
	return out
}

// judge looks at one plain line of the answer.
func (f *facts) judge(line string) Verdict {
	masked := line
	for _, claim := range datesIn(line) {
		if !f.hasDate(claim) {
			return refuse(ReasonDate)
		}
		masked = masked[:claim.start] + strings.Repeat("\x00", claim.end-claim.start) + masked[claim.end:]
	}
	for _, n := range name.FindAllString(masked, -1) {
		if !f.names[n] && !gluedMoney.MatchString(n) {
			return refuse(ReasonNumber)
		}
	}
	mentioned := f.mentioned(line)
	for _, claim := range quantitiesIn(masked) {
		if claim.spelled && !claim.isPrice() {
			continue // "two options"
		}
		if v := f.judgeQuantity(claim, mentioned); !v.OK {
			return v
		}
	}
	return pass
}

func (f *facts) hasDate(claim dateSpan) bool {
	return slices.ContainsFunc(claim.readings, func(c date) bool {
		return slices.ContainsFunc(f.dates, func(d date) bool { return d.grounds(c) })
	})
}

func (f *facts) judgeQuantity(claim quantity, mentioned []row) Verdict {
	reason := ReasonNumber
	for _, q := range f.quantities {
		switch {
		case q.grounds(claim) && !contradicts(q.row, mentioned):
			return pass
		case q.grounds(claim):
			reason = ReasonRow
		case q.amount == claim.amount && reason == ReasonNumber:
			reason = ReasonUnit
		}
	}
	return refuse(reason)
}
