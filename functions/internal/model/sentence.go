package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations end with a full stop that ends no sentence (English, German, Spanish). Those with
// fewer than three letters need no entry.
var abbreviations = map[string]bool{
	"approx": true, "excl": true, "incl": true, "inc": true, "max": true, "min": true, "etc": true,
	"bzw": true, "evtl": true, "exkl": true, "ggf": true, "inkl": true, "mtl": true, "tel": true,
	"usw": true, "zzgl": true, "aprox": true, "art": true, "núm": true, "pág": true, "máx": true,
}

// sentenceEnd returns the length of the whole sentences that s begins with, white space after them
// included. It would rather find an end too few than cut a sentence or a number in two: a full stop
// after a digit ("12.", "3. Oktober"), after fewer than three letters ("z. B.") or after an
// abbreviation ends nothing. A line break ends a sentence too. With isAll nothing follows s, and its
// last sentence may end with s; otherwise the next piece could still prove it unfinished.
func sentenceEnd(s string, isAll bool) int {
	end := 0
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch r {
		case '\n', '。', '！', '？':
			end = max(end, next)
		case '.', '!', '?', '…':
			end = max(end, endsAt(s, i, next, isAll))
		}
	}
	return end
}

// endsAt returns where the sentence with the terminator s[at:next] ends, 0 if it goes on.
func endsAt(s string, at, next int, isAll bool) int {
	if s[at] == '.' && !mayEnd(s[:at]) {
		return 0
	}
	rest := strings.TrimLeft(s[next:], `"'”’»)]*_`)
	following := strings.TrimLeftFunc(rest, unicode.IsSpace)
	switch {
	case following == "" && isAll:
		return len(s)
	case following == "" || len(following) == len(rest):
		return 0
	}
	first, _ := utf8.DecodeRuneInString(following)
	if s[at] == '.' && (unicode.IsLower(first) || unicode.IsDigit(first)) {
		return 0
	}
	return len(s) - len(following)
}

// mayEnd says whether a full stop after that text can end a sentence.
func mayEnd(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	if !unicode.IsLetter(last) {
		return before != "" && !unicode.IsDigit(last)
	}
	start := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })
	word := before
	if start >= 0 {
		_, size := utf8.DecodeRuneInString(before[start:])
		word = before[start+size:]
	}
	return utf8.RuneCountInString(word) >= 3 && !abbreviations[strings.ToLower(word)]
}
