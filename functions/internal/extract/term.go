package extract

import (
	"strings"
	"unicode"

	"porchlight/functions/internal/guard"
)

// terms returns what a text is compared by: stems of its words without the ones that say nothing,
// and its numbers as "#12.5".
func terms(text string) []string {
	var out []string
	for _, w := range guard.Words(text) {
		if saysSomething(w) {
			out = append(out, stem(w))
		}
	}
	for _, f := range guard.Figures(text) {
		if !f.Spelled {
			out = append(out, "#"+f.Amount, numberTerm(f))
		}
	}
	return out
}

// numberTerm is what a number is compared by: that of a speed, a volume or a power in its base unit,
// so that "1 Gbit/s" is "1000 Mbit/s".
func numberTerm(f guard.Figure) string {
	switch f.Dimension {
	case "mbit", "gb", "kw":
		return "#" + f.Size
	}
	return "#" + f.Amount
}

// saysSomething reports words that distinguish texts.
func saysSomething(w string) bool { return len(w) > 1 && !isDigits(w) && !isStopword(w) }

func isStopword(w string) bool { return stopwords["en"][w] || stopwords["de"][w] || stopwords["es"][w] }

// languageOf guesses the language of words by the ones that say nothing; "" when two are as likely.
func languageOf(words []string) string {
	guess, most, isTie := "", 0, false
	for _, language := range []string{"en", "de", "es"} {
		n := 0
		for _, w := range words {
			if stopwords[language][w] {
				n++
			}
		}
		if n >= most {
			guess, most, isTie = language, n, n == most
		}
	}
	if isTie {
		return ""
	}
	return guess
}

func isDigits(w string) bool { return strings.Trim(w, "0123456789") == "" }

// suffixes are endings of inflected forms in English, German and Spanish, longest first.
var suffixes = strings.Fields(`ungen aciones acion ation ung ern ing ies em en er
	es ed ly os as ar an s e n a o y`)

// shortestStem is the fewest letters that an ending leaves.
const shortestStem = 4

// stem cuts one ending. It is coarse on purpose: a handful of chunks is compared, not a library.
func stem(w string) string {
	for _, s := range suffixes {
		if strings.HasSuffix(w, s) && len(w)-len(s) >= shortestStem {
			return w[:len(w)-len(s)]
		}
	}
	return w
}

// alike says how far two stems are the same word: 1 equal, less for a compound ("stromtarif" and
// "tarif") or a derived form ("cancel" and "cancellation"), else 0.
func alike(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 5 || a[0] == '#' {
		return 0
	}
	common := 0
	for common < len(a) && a[common] == b[common] {
		common++
	}
	switch {
	case common == len(a):
		return 0.8
	case strings.HasSuffix(b, a):
		return 0.6
	case common >= 5 && 4*common >= 3*len(a):
		return 0.6
	}
	return 0
}

// best returns how well the best of the terms matches t.
func best(t string, among map[string]bool) float64 {
	if among[t] {
		return 1
	}
	found := 0.0
	for other := range among {
		found = max(found, alike(t, other))
	}
	return found
}

func setOf(terms []string) map[string]bool {
	m := map[string]bool{}
	for _, t := range terms {
		m[t] = true
	}
	return m
}

// isCapitalised reports "Home", but neither "home" nor "HOME".
func isCapitalised(w string) bool {
	for _, r := range w {
		return unicode.IsUpper(r) && strings.ContainsFunc(w, unicode.IsLower)
	}
	return false
}
