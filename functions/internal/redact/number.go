package redact

import (
	"regexp"
	"strconv"
	"strings"
)

// chain is digits in a line of text with little between them.
type chain struct {
	start, end int // in the text; begins with the first digit, or with "+" or "(" before it
	groups     []group
}

// group is digits without anything between them.
type group struct{ start, end int }

// maxBetween is the most characters between two groups of a chain, such as ") (".
const maxBetween = 3

// chains finds the digits of a text. What breaks a chain is a line feed and every character that is not
// one of those listed in between.
func chains(text, between string) (all []chain) {
	var c chain
	flush := func() {
		if len(c.groups) > 0 {
			c.start, c.end = c.groups[0].start, c.groups[len(c.groups)-1].end
			for c.start > 0 && (text[c.start-1] == '(' || text[c.start-1] == '+') {
				c.start--
			}
			all = append(all, c)
		}
		c = chain{}
	}
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		g := group{i, i}
		for g.end < len(text) && isDigit(text[g.end]) {
			g.end++
		}
		if n := len(c.groups); n > 0 {
			gap := text[c.groups[n-1].end:g.start]
			if len([]rune(gap)) > maxBetween || strings.Trim(gap, between) != "" {
				flush()
			}
		}
		c.groups = append(c.groups, g)
		i = g.end
	}
	flush()
	return all
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digits returns the digits of the groups from i up to j.
func (c chain) digits(text string, i, j int) string {
	var b strings.Builder
	for _, g := range c.groups[i:j] {
		b.WriteString(text[g.start:g.end])
	}
	return b.String()
}

// cardLabel finds, at the end of a text, that what follows is about a card.
var cardLabel = regexp.MustCompile(`(?i)(?:\b(?:cards?|cc|credit|debit|visa|mastercard|amex|american express|maestro|diners|discover|jcb|unionpay|tarjeta|carte|carta)\b|karten?(?:nr|nummer)?\b)[^\n]{0,40}\n?[^\n]{0,2}$`)

// cards finds numbers of payment cards. Where a label speaks of a card, 12 to 19 digits with the right
// check digit are one. Elsewhere it must also have an issuer's prefix and 14 to 16 digits, written
// together or as cards print them: longer and shorter numbers that only look like one are too common.
func cards(v view) (found [][2]int) {
	for _, c := range append(chains(v.text, " -."), chains(v.text, " -.\n")...) {
		if c.end-c.start < 12 {
			continue
		}
		isLabelled := cardLabel.MatchString(before(v.text, c.start, 48))
		for i := 0; i < len(c.groups); i++ {
			for j, n := i, 0; j < len(c.groups) && n <= 19; j++ {
				n += c.groups[j].end - c.groups[j].start
				from, to := c.groups[i].start, c.groups[j].end
				if n < 12 || n > 19 {
					continue
				}
				if digits := c.digits(v.text, i, j+1); luhn(digits) && isCardAt(v.text, from, to, digits, isLabelled) {
					found = append(found, [2]int{from, to})
					i = j
					break
				}
			}
		}
	}
	return found
}

// isGlued says that a letter or a sign of money stands at either end, or a decimal part.
func isGlued(text string, from, to int) bool {
	return regexpGluedBefore.MatchString(before(text, from, 4)) || regexpGluedAfter.MatchString(text[to:min(len(text), to+4)])
}

var (
	regexpGluedBefore = regexp.MustCompile(`(?:[A-Za-z€$£]|\d[.,])$`)
	regexpGluedAfter  = regexp.MustCompile(`^(?:[A-Za-z€$£]|[.,]\d)`)
)

// isPrintedCard knows the groups of a card: 4-4-4-4, 4-6-5 and 4-6-4, with one sign between them.
func isPrintedCard(s string) bool {
	return regexpPrintedCard.MatchString(s)
}

var regexpPrintedCard = regexp.MustCompile(`^(?:\d{14,16}|\d{4}(?: {1,2}\d{4}){3}|\d{4}(?:-\d{4}){3}|\d{4}(?:\.\d{4}){3}|\d{4} \d{6} \d{4,5}|\d{4}-\d{6}-\d{4,5})$`)

// isCardAt judges digits that pass the check. 89 is telecommunication (ITU-T E.118): a card for a telephone.
// Over a line end a label alone is not enough: lines are lists too.
func isCardAt(text string, from, to int, digits string, isLabelled bool) bool {
	if isGlued(text, from, to) {
		return false
	}
	if isLabelled && !strings.HasPrefix(digits, "89") && !strings.Contains(text[from:to], "\n") {
		return true
	}
	return isCard(digits) && (isLabelled || len(digits) <= 16 && isPrintedCard(text[from:to]))
}

// isCard says that digits are of an issuer that gives out numbers of that length, and pass the check of
// ISO/IEC 7812.
func isCard(digits string) bool {
	for _, i := range issuers {
		if len(digits) < i.least || len(digits) > i.most {
			continue
		}
		if prefix := digits[:len(i.first)]; prefix >= i.first && prefix <= i.last {
			return luhn(digits)
		}
	}
	return false
}

// issuers are prefixes (from first to last) with the lengths that are in use.
var issuers = []struct {
	first, last string
	least, most int
}{
	{"4", "4", 13, 13}, {"4", "4", 16, 16}, {"4", "4", 19, 19}, // Visa
	{"51", "55", 16, 16}, {"2221", "2720", 16, 16}, // Mastercard
	{"34", "34", 15, 15}, {"37", "37", 15, 15}, // American Express
	{"300", "305", 14, 16}, {"3095", "3095", 14, 16}, {"36", "36", 14, 19}, {"38", "39", 14, 16}, // Diners Club
	{"6011", "6011", 16, 19}, {"644", "649", 16, 19}, {"65", "65", 16, 19}, // Discover
	{"3528", "3589", 16, 19}, {"1800", "1800", 15, 15}, {"2131", "2131", 15, 15}, // JCB
	{"62", "62", 16, 19}, {"81", "81", 16, 19}, // UnionPay, RuPay
	{"2200", "2205", 16, 19},                                                                                     // Mir
	{"50", "50", 12, 19}, {"56", "58", 12, 19}, {"60", "60", 12, 19}, {"63", "63", 12, 19}, {"67", "67", 12, 19}, // Maestro and local schemes
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// ibans finds account numbers of ISO 13616 in any grouping: a country that has them, its length and its
// pattern of letters and digits, the check digits.
func ibans(v view) (found [][2]int) {
	for _, m := range ibanStart.FindAllStringSubmatchIndex(v.text, -1) {
		start := m[2]
		layout, ok := ibanLayouts[strings.ToUpper(compact(v.text[m[2]:m[3]]))]
		if !ok {
			continue
		}
		end, number := take(v.text, start, 4+len(layout))
		if end > 0 && fits(number[4:], layout) && isIBAN(number) {
			found = append(found, [2]int{start, end})
		}
	}
	return found
}

// ibanStart finds a word of two letters and two digits, with little between them.
var ibanStart = regexp.MustCompile(`(?:^|[^A-Za-z0-9])([A-Za-z][ \n.-]?[A-Za-z])[ \n.-]{0,2}\d[ \n.-]?\d`)

// take collects n letters and digits from start on with at most three other characters between two of
// them, and says where the last one ends; 0 when there are fewer or a word goes on after them.
func take(text string, start, n int) (end int, number string) {
	var b strings.Builder
	for i, gap := start, 0; i < len(text) && gap <= maxBetween; i++ {
		switch c := text[i]; {
		case isDigit(c) || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			b.WriteByte(c)
			gap = 0
		case strings.IndexByte(" \n.-/:*_|", c) < 0:
			return 0, ""
		default:
			gap++
		}
		if b.Len() == n {
			if i+1 < len(text) && regexpWord.MatchString(text[i+1:i+2]) {
				return 0, ""
			}
			return i + 1, strings.ToUpper(b.String())
		}
	}
	return 0, ""
}

var regexpWord = regexp.MustCompile(`^[A-Za-z0-9]`)

func compact(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n.-", r) {
			return -1
		}
		return r
	}, s)
}

func fits(account, layout string) bool {
	for i := range len(layout) {
		if layout[i] == 'n' && !isDigit(account[i]) || layout[i] == 'a' && isDigit(account[i]) {
			return false
		}
	}
	return true
}

// isIBAN is the check of ISO 7064, mod 97-10.
func isIBAN(number string) bool {
	rest := 0
	for _, c := range number[4:] + number[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// before returns at most n bytes of the text that stand before at, cut between characters.
func before(text string, at, n int) string {
	return strings.ToValidUTF8(text[max(0, at-n):at], "")
}

// layout writes "4a14n" out: a letter (a), a digit (n) or either (c) for each character.
func layout(short string) string {
	var b strings.Builder
	for _, part := range regexpLayout.FindAllStringSubmatch(short, -1) {
		n, _ := strconv.Atoi(part[1])
		b.WriteString(strings.Repeat(part[2], n))
	}
	return b.String()
}

var regexpLayout = regexp.MustCompile(`(\d+)([anc])`)
