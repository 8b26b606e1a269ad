package redact

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// left looks a second time, for the kind of something that was left. It reads copies in which what hides
// characters is undone: entities and percent signs, raised digits, letters with a space or a sign between
// each two, words cut at the end of a line. It runs the finders on each, and then patterns that are
// broader than theirs: a document that is stopped for nothing is looked at by a person, one that slips
// through is not.
func (p Policy) left(text string) (Kind, bool) {
	open := flat(norm.NFKC.String(decoded(text)))
	for _, copied := range distinct(flat(text), open, squeeze(open), joinLines(open)) {
		if found := p.find(copied); len(found) > 0 {
			return found[0].kind, true
		}
		if kind, ok := p.broadly(look(copied).text); ok {
			return kind, true
		}
	}
	return "", false
}

// partWith returns the index of the first part with something of the kind in it, or -1.
func (p Policy) partWith(kind Kind, parts []string) int {
	return slices.IndexFunc(parts, func(part string) bool {
		found, ok := p.left(part)
		return ok && found == kind
	})
}

// flat is a text as its view shows it.
func flat(text string) string {
	return strings.ReplaceAll(look(text).text, string(opaque), Literal.mark())
}

func distinct(texts ...string) (all []string) {
	seen := map[string]bool{}
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	return all
}

// spaced finds five or more single characters with the same sort of sign between each two.
var spaced = regexp.MustCompile(`(?:(?:^|[^\p{L}\p{N}])[\p{L}\p{N}@.+:/](?: {1,2}[\p{L}\p{N}@.+:/]){4,}(?:$|[^\p{L}\p{N}]))` +
	`|(?:(?:^|[^\p{L}\p{N}])[\p{L}\p{N}@+](?:[-_.*|·•/~][\p{L}\p{N}@+]){4,}(?:$|[^\p{L}\p{N}]))`)

// squeeze writes "j a n e" as "jane".
func squeeze(text string) string {
	return spaced.ReplaceAllStringFunc(text, func(s string) string {
		inner := strings.TrimFunc(s, func(r rune) bool { return !isSpacedRune(r) })
		at := strings.Index(s, inner)
		tight := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" -_*|·•~", r) {
				return -1
			}
			return r
		}, inner)
		return s[:at] + tight + s[at+len(inner):]
	})
}

func isSpacedRune(r rune) bool {
	return r != ' ' && r != '\n' && !strings.ContainsRune("-_*|·•~.,;:!?()", r)
}

// cutMail finds an address of mail that a line end cuts.
var cutMail = regexp.MustCompile(`([^\s@]+@[^\s@]*|[^\s@]+)-?\n {0,8}([^\s@]*@[^\s@]+|[^\s@]*\.[^\s@]+)`)

// joinLines puts together the two halves of what may be an address of mail.
func joinLines(text string) string {
	return cutMail.ReplaceAllStringFunc(text, func(s string) string {
		left, right, _ := strings.Cut(s, "\n")
		if strings.Contains(left, "@") == strings.Contains(right, "@") {
			return s
		}
		return strings.TrimSuffix(left, "-") + strings.TrimLeft(right, " ")
	})
}

var (
	broadMail  = regexp.MustCompile(`[\p{L}\p{N}_."]@\p{L}`)
	broadPhone = regexp.MustCompile(`\+ ?\d(?:[ _*•·|~'()./-]{0,3}\d){8,14}`)
	broadURL   = regexp.MustCompile(`(?i)\bh ?[tx] ?[tx] ?p ?s? ?: ?/ ?/|\bwww ?\. ?[\p{L}\p{N}-]+ ?\. ?\p{L}`)
)

// broadly finds what looks like a kind at all. text is that of a view.
func (p Policy) broadly(text string) (Kind, bool) {
	switch {
	case p.takes(Email) && broadMail.MatchString(text):
		return Email, true
	case p.takes(URL) && broadURL.MatchString(text):
		return URL, true
	case p.takes(Card) && hasOddCard(text):
		return Card, true
	}
	if p.takes(Phone) {
		for _, m := range broadPhone.FindAllStringIndex(text, -1) {
			end := m[1]
			isWhole := end == len(text) || !isDigit(text[end])
			number := digitsOf(text[m[0]:end])
			if isWhole && isInternational(number) && !isAmount(text, chain{start: m[0], end: end}) && !decimals.MatchString(text[m[0]:end]) {
				return Phone, true
			}
		}
	}
	return "", false
}

// decimals is how a list of amounts begins.
var decimals = regexp.MustCompile(`^\+? ?\d{1,4}[.,]\d\d(?:$|[^\d])`)

// hasOddCard finds the number of a card in single digits or fours, whatever stands between them.
func hasOddCard(text string) bool {
	for _, c := range chains(text, " -./*_•·|~:") {
		size := c.groups[0].end - c.groups[0].start
		isEven := size == 1 || size == 4
		for _, g := range c.groups[:len(c.groups)-1] {
			isEven = isEven && g.end-g.start == size
		}
		digits := ""
		if len(c.groups) <= 16 {
			digits = c.digits(text, 0, len(c.groups))
		}
		if isEven && len(digits) >= 14 && len(digits) <= 16 && isCard(digits) && !isGlued(text, c.start, c.end) {
			return true
		}
	}
	return false
}
