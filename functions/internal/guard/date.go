package guard

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// date is a day as far as it was said; 0 stands for a part that was not.
type date struct{ year, month, day int }

// dateSpan is a date in a line, with both readings where "03/04/2026" has two.
type dateSpan struct {
	readings   []date
	start, end int
}

var monthNames = makeMonths()

func makeMonths() map[string]int {
	m := map[string]int{}
	for i, names := range strings.Fields(`january|jan|januar|janner|enero|ene february|feb|februar|febrero
		march|mar|marz|marzo april|apr|abril|abr may|mai|mayo june|jun|juni|junio july|jul|juli|julio
		august|aug|agosto|ago september|sep|sept|septiembre october|oct|oktober|okt|octubre
		november|nov|noviembre december|dec|dezember|dez|diciembre|dic`) {
		for name := range strings.SplitSeq(names, "|") {
			m[name] = i + 1
		}
	}
	return m
}

// The shapes of dates on plain text; the groups are named after their parts. A month in letters is
// looked up afterwards.
var dateShapes = []*regexp.Regexp{
	regexp.MustCompile(`\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b`),
	regexp.MustCompile(`\b(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4}|\d{2})\b`),
	regexp.MustCompile(`\b(?P<either>\d{1,2})/(?P<other>\d{1,2})/(?P<year>\d{4})\b`),
	regexp.MustCompile(`\b(?P<day>\d{1,2})(?:st|nd|rd|th|\.|o)? (?:de |of )?(?P<month>[a-z]{3,10})\b\.?(?:,? (?:de |del )?(?P<year>\d{4})\b)?`),
	regexp.MustCompile(`\b(?P<month>[a-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, ?| )(?P<year>\d{4})\b`),
	regexp.MustCompile(`\b(?P<month>[a-z]{3,10})\.? (?:de |del )?(?P<year>\d{4})\b`),
	regexp.MustCompile(`\b(?P<month>[a-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?\b`),
}

// datesIn returns the dates of a plain line. No two overlap.
func datesIn(line string) []dateSpan {
	if !strings.ContainsAny(line, "0123456789") {
		return nil
	}
	var out []dateSpan
	for _, shape := range dateShapes {
		for _, at := range shape.FindAllStringSubmatchIndex(line, -1) {
			parts := map[string]string{}
			for i, name := range shape.SubexpNames() {
				if at[2*i] >= 0 {
					parts[name] = line[at[2*i]:at[2*i+1]]
				}
			}
			if readings := readDate(parts); len(readings) > 0 && !counts(line[at[1]:], parts) {
				out = append(out, dateSpan{readings: readings, start: at[0], end: at[1]})
				line = line[:at[0]] + strings.Repeat("\x00", at[1]-at[0]) + line[at[1]:]
			}
		}
	}
	return out
}

// counts says whether the day is in truth a number of something: "im April 12 Monate gratis".
func counts(rest string, parts map[string]string) bool {
	if parts["year"] != "" {
		return false
	}
	u, _, _ := unitAfter(rest)
	return u.dimension != ""
}

func readDate(parts map[string]string) []date {
	year := number(parts["year"])
	if len(parts["year"]) == 2 {
		year += 2000
	}
	if parts["either"] != "" {
		a, b := number(parts["either"]), number(parts["other"])
		return valid(date{year, b, a}, date{year, a, b})
	}
	month, named := monthNames[parts["month"]]
	if !named {
		month = number(parts["month"])
	}
	if parts["month"] == "may" && year == 0 {
		return nil // "all 12 may cancel"
	}
	return valid(date{year, month, number(parts["day"])})
}

func valid(dates ...date) []date {
	var out []date
	for _, d := range dates {
		if d.month >= 1 && d.month <= 12 && d.day <= 31 {
			out = append(out, d)
		}
	}
	return out
}

// number reads digits; "" is 0.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// dateOf is the calendar day of an instant in its own time zone.
func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return date{y, int(m), d}
}

// grounds says whether d of the evidence says all that the claim says.
func (d date) grounds(claim date) bool {
	same := func(claimed, known int) bool { return claimed == 0 || claimed == known }
	return same(claim.year, d.year) && same(claim.month, d.month) && same(claim.day, d.day)
}
