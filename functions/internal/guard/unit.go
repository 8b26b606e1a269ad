package guard

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Dimensions. A number of one dimension never grounds a number of another.
const (
	money    = "money"
	percent  = "percent"
	duration = "month" // months and years
	days     = "day"   // days and weeks: a month is not 30 days
	hours    = "hour"
	energy   = "kwh"
	power    = "kw"
	rate     = "mbit"
	volume   = "gb"
	length   = "km"
)

// unit is what a number counts. The zero value is a bare number.
type unit struct {
	dimension string
	currency  string   // ISO 4217; empty for a hundredth ("ct"), which fits every currency
	scale     *big.Rat // size in the base of the dimension; nil is 1
	period    string   // "month" in "12 € a month"; empty when not said
}

var units = makeUnits()

func makeUnits() map[string]unit {
	m := map[string]unit{}
	add := func(dimension, currency string, num, den int64, names string) {
		for n := range strings.FieldsSeq(names) {
			m[n] = unit{dimension: dimension, currency: currency, scale: big.NewRat(num, den)}
		}
	}
	add(money, "EUR", 1, 1, "€ eur euro euros")
	add(money, "USD", 1, 1, "$ us$ usd dollar dollars dolar dolares")
	add(money, "GBP", 1, 1, "£ gbp pound pounds pfund libra libras")
	add(money, "CHF", 1, 1, "chf franken francs")
	add(money, "JPY", 1, 1, "¥ jpy yen")
	add(money, "", 1, 100, "ct cts cent cents ¢ centimo centimos pence")
	add(percent, "", 1, 1, "% percent pct prozent percentage prozentpunkte porcentaje")
	add(duration, "", 1, 1, "month months mo monat monate monaten monats mes meses monatig monatige monatigen monatiger")
	add(duration, "", 12, 1, "year years yr yrs jahr jahre jahren jahres ano anos jahrig jahrige jahrigen jahriger")
	add(days, "", 1, 1, "day days tag tage tagen tages dia dias tagig tagige tagigen werktag werktage werktagen")
	add(days, "", 7, 1, "week weeks woche wochen semana semanas wochig wochige wochigen")
	add(hours, "", 60, 1, "hour hours hr hrs h stunde stunden std hora horas")
	add(hours, "", 1, 1, "minute minutes min mins minuten minuto minutos")
	add(energy, "", 1, 1, "kwh kilowattstunde kilowattstunden")
	add(energy, "", 1000, 1, "mwh")
	add(power, "", 1, 1, "kw kilowatt kwp")
	add(power, "", 1, 1000, "watt watts w")
	add(rate, "", 1, 1, "mbit/s mbps mbit mbits megabit megabits mb/s")
	add(rate, "", 1000, 1, "gbit/s gbps gbit gbits gigabit gigabits gb/s gig gigs")
	add(volume, "", 1, 1, "gb gigabyte gigabytes")
	add(volume, "", 1000, 1, "tb terabyte terabytes")
	add(volume, "", 1, 1000, "mb megabyte megabytes")
	add(length, "", 1, 1, "km kilometre kilometres kilometer kilometern kilometers kilometro kilometros")
	return m
}

// multipliers stand between a number and its unit: "5 million euros".
var multipliers = map[string]int64{
	"thousand": 1e3, "tausend": 1e3, "mil": 1e3, "tsd": 1e3,
	"million": 1e6, "millions": 1e6, "millionen": 1e6, "millon": 1e6, "millones": 1e6, "mio": 1e6,
	"billion": 1e9, "billions": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9,
}

// adjectives stand between a number and its unit: "14 working days".
const adjectives = `(?:working |business |calendar |full |whole |volle |ganze |free |kostenlose |contract |swiss |schweizer |us[ -]|british )?`

var (
	suffixUnit   = regexp.MustCompile(`^(?:[.,][-–—]{1,2})?[ -]{0,2}` + adjectives + `([€$£¥¢%]|per cent\b|por ciento\b|\p{L}+(?:/s\b)?)`)
	prefixMoney  = regexp.MustCompile(`(?:^|[^\p{L}])(us\$|[€$£¥]|eur|euro|usd|gbp|chf) ?$`)
	prefixSpan   = regexp.MustCompile(`(?:^|[^\p{L}])(months?|monate?n?|mes(?:es)?|years?|jahre?n?|anos?) $`)
	periodOf     = regexp.MustCompile(`^ ?(?:/|per |pro |im |je |an? |al |por |each |every |jede[nrs]? |cada )(?:each |full )?(\p{L}+)`)
	periodAdverb = regexp.MustCompile(`^ ?(monthly|monatlich|mensual|mensuales|yearly|annually|annual|jahrlich|anual|anuales|daily|taglich|weekly|wochentlich)\b`)
	// periodBefore is "monthly fee of", "monatlich nur", "cuota mensual de".
	periodBefore = regexp.MustCompile(`\b(monthly|monatlich|mensual|yearly|annual|jahrlich|anual|weekly|wochentlich|daily|taglich)(?:e[rnms]?|es)? (?:\p{L}+ ){0,2}(?:(?:of|is|von|de|es|ist|only|nur) )?(?:[€$£¥]|(?:eur|usd|gbp|chf) )?$`)
	// onceAfter ends what it says, unlike "once you have signed".
	onceAfter   = regexp.MustCompile(`^,? (?:once|one[ -]off|einmalig|einmal|una sola vez|una vez)(?:[ ,.;:)]*$|[,.;:)])`)
	onceInKey   = regexp.MustCompile(`\b(?:one[ -](?:time|off)|einmalig|unic[oa]|once)`)
	anyPeriodOf = regexp.MustCompile(`(?:/|\b(?:per|pro|im|je|an?|al|por|each|every|jede[nrs]?|cada) )(?:each |full )?(\p{L}+)`)
	// anyPeriodWord is "monthly" or a German compound such as "Monatspreis".
	anyPeriodWord = regexp.MustCompile(`\b(monthly|monatlich|mensual|yearly|annually|annual|jahrlich|anual|daily|taglich|weekly|wochentlich|monat|jahr|woche)(?:e[rnms]?|es|s\p{L}+|n\p{L}+)?\b`)
	periodInKey   = regexp.MustCompile(`\b(?:(monthly|monatlich|mensual|yearly|annual|jahrlich|anual)(?:e[rnms]?|es)?|(?:per|pro|im|al|por|a|je) (month|monat|mes|year|jahr|ano|kwh))\b`)
)

var periods = map[string]string{
	"month": "month", "monat": "month", "mes": "month", "mo": "month", "monthly": "month", "monatlich": "month",
	"mensual": "month", "mensuales": "month", "year": "year", "jahr": "year", "ano": "year", "yearly": "year",
	"annum": "year", "annually": "year", "annual": "year", "jahrlich": "year", "anual": "year", "anuales": "year",
	"day": "day", "tag": "day", "dia": "day", "daily": "day", "taglich": "day", "week": "week", "woche": "week",
	"semana": "week", "weekly": "week", "wochentlich": "week", "kwh": "kwh", "kilowattstunde": "kwh",
	"hour": "hour", "stunde": "hour", "hora": "hour", "minute": "minute", "minuto": "minute", "gb": "gb",
}

// unitAfter reads the unit that rest, the text after a number, begins with. It returns the number
// of bytes used, and the factor of a word like "million" (1 without one).
func unitAfter(rest string) (u unit, factor int64, used int) {
	factor = 1
	for range 2 {
		at := suffixUnit.FindStringSubmatchIndex(rest[used:])
		if at == nil {
			return u, factor, used
		}
		name := rest[used+at[2] : used+at[3]]
		if f, ok := multipliers[name]; ok && factor == 1 {
			factor, used = f, used+at[3]
			if strings.HasPrefix(rest[used:], ".") { // "Mio."
				used++
			}
			if tail, ok := strings.CutPrefix(rest[used:], " de "); ok { // "5 millones de euros"
				used = len(rest) - len(tail)
			}
			continue
		}
		if name == "per cent" || name == "por ciento" {
			name = "%"
		}
		found, ok := units[name]
		if !ok {
			return u, factor, used
		}
		used += at[3]
		found.period = periodAfter(rest[used:])
		return found, factor, used
	}
	return u, factor, used
}

// periodAfter reads "/month", "a month" or "monthly".
func periodAfter(rest string) string {
	if m := periodOf.FindStringSubmatch(rest); m != nil {
		return periods[m[1]]
	}
	if m := periodAdverb.FindStringSubmatch(rest); m != nil {
		return periods[m[1]]
	}
	if onceAfter.MatchString(rest) {
		return once
	}
	return ""
}

// once is the period of what is paid one time.
const once = "once"

// periodsNamed returns every period that a text speaks of: a price list says "all prices per month" above
// its rows.
func periodsNamed(text string) map[string]bool {
	named := map[string]bool{}
	for _, m := range slices.Concat(anyPeriodOf.FindAllStringSubmatch(text, -1), anyPeriodWord.FindAllStringSubmatch(text, -1)) {
		if period, ok := periods[m[1]]; ok {
			named[period] = true
		}
	}
	return named
}

// periodIn reads the period that a column name states: "Monthly fee", "Preis pro Monat".
func periodIn(key string) string {
	if m := periodInKey.FindStringSubmatch(key); m != nil {
		return periods[m[1]+m[2]]
	}
	if onceInKey.MatchString(key) {
		return once
	}
	return ""
}

// unitsIn returns the units that a column name mentions: "Monthly fee (EUR)", "Term in months". A
// period is not one: the kWh of "ct per kWh" is not what the number counts.
func unitsIn(key string) []unit {
	var out []unit
	key = periodInKey.ReplaceAllString(key, " ")
	for _, name := range strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(" ()[],:", r) }) {
		u, ok := units[name]
		if !ok {
			before, _, _ := strings.Cut(name, "/") // "ct/kwh"
			u, ok = units[before]
		}
		if ok {
			out = append(out, u)
		}
	}
	return out
}
