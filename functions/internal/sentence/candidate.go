package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// candidate is a place where a sentence may end: end marks followed by white space.
type candidate struct {
	before    string // the sentence up to the marks
	marks     string // ".", "?!", "..." and the like
	closed    bool   // a quote or bracket closes after the marks
	newline   bool   // the white space holds a line feed, or the text ends
	next      string // the word that follows; empty when something else does
	follow    rune   // the character after next
	lineStart bool   // the sentence begins a line
}

// ends decides. Where it is in doubt it does not cut: half a price is worse than a long sentence.
func (c candidate) ends() bool {
	if c.marks != "." {
		return c.endsStrong()
	}
	word, previous := c.lastWords()
	key := strings.ToLower(word)
	if initial, ok := strings.CutSuffix(previous, "."); always[key] || isSmallLetter(word) ||
		ok && isSmallLetter(initial) && isLetter(word) {
		return false // "inkl.", "d. h.", "z. B."
	}
	if c.newline {
		return !c.isListMarker(word)
	}
	if startsLower(c.next) {
		return false
	}
	opens := openers[strings.ToLower(c.next)]
	switch {
	case isInteger(word):
		return c.endsAfterInteger(word, previous, opens)
	case beforeNumber[key]:
		return !startsDigit(c.next)
	case isLetter(word), strings.Contains(word, ".") && isDotted(word), beforeNoun[key]:
		return opens
	}
	return true
}

// endsStrong decides for marks other than one full stop.
func (c candidate) endsStrong() bool {
	if c.newline || !startsLower(c.next) {
		return true
	}
	// "… and then", "“Free?” he asked" go on; "is it free? yes" does not.
	return strings.ContainsAny(c.marks, "!?") && !c.closed
}

// endsAfterInteger tells "it costs 99. The …" from "2. März", "im 2. Jahr", "1. 3. 2026".
func (c candidate) endsAfterInteger(word, previous string, opens bool) bool {
	next := strings.ToLower(c.next)
	switch {
	case c.isListMarker(word):
		return false
	case len(word) > 2:
		return true
	case months[next]:
		return false
	case isInteger(next) && len(next) <= 2 && c.follow == '.':
		return false
	case isInteger(next) && len(next) == 4 && isInteger(strings.TrimSuffix(previous, ".")):
		return false
	case beforeOrdinal[strings.ToLower(previous)]:
		return opens
	}
	return true
}

// isListMarker says whether word is the "1" of a list item "1. Text".
func (c candidate) isListMarker(word string) bool {
	return c.lineStart && word == c.before && isInteger(word) && len(word) <= 2
}

// lastWords returns the word before the marks and the one before it, without opening quotes.
func (c candidate) lastWords() (last, previous string) {
	last, rest := cutLastWord(c.before)
	previous, _ = cutLastWord(rest)
	return last, previous
}

func cutLastWord(s string) (word, rest string) {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	i := strings.LastIndexFunc(s, unicode.IsSpace)
	_, size := utf8.DecodeRuneInString(s[max(i, 0):])
	if i < 0 {
		return strings.TrimLeftFunc(s, isOpener), ""
	}
	return strings.TrimLeftFunc(s[i+size:], isOpener), s[:i]
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func startsLower(s string) bool { return s != "" && unicode.IsLower(firstRune(s)) }

func startsDigit(s string) bool { return s != "" && unicode.IsDigit(firstRune(s)) }

// isLetter reports a single letter.
func isLetter(s string) bool {
	return utf8.RuneCountInString(s) == 1 && unicode.IsLetter(firstRune(s))
}

// isSmallLetter reports one lower-case letter, as in "z. B." or "p. ej.".
func isSmallLetter(s string) bool {
	return utf8.RuneCountInString(s) == 1 && unicode.IsLower(firstRune(s))
}

func isInteger(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isDotted reports letters between full stops: "U.S", "EE.UU".
func isDotted(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if n := utf8.RuneCountInString(part); n < 1 || n > 2 || !unicode.IsLetter(firstRune(part)) {
			return false
		}
	}
	return true
}

// set makes a lookup table from words separated by spaces.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// The tables are lower case, without the last full stop, and read-only.
var (
	// always: abbreviations that something always follows.
	always = set(`e.g i.e z.b d.h v.a u.u i.d.r s.o p.ej ej mr mrs ms dr prof st hr fr sr sra srta dra
		ca bzw ggf inkl exkl zzgl evtl vgl sog gem mtl jährl mind approx incl excl vs aprox mio mrd tsd`)
	// beforeNumber: words that are an abbreviation only when a number follows: "No. 3", "No. We …".
	beforeNumber = set(`no nos nr nrn núm num n.º art abs ziff kap s p pp pág pag fig vol tel ext max máx min mín
		jan feb mar apr jun jul aug sep sept oct nov dec mär okt dez ene abr ago dic lt`)
	// beforeNoun: abbreviations after which a capital letter may be a German noun.
	beforeNoun = set(`std sek usw etc tel str o.ä u.a`)
	// beforeOrdinal: words after which "2." is "second".
	beforeOrdinal = set(`am im vom zum zur beim der die das dem den des ab bis jeder jede jedes seit`)
	months        = set(`january february march april may june july august september october november
		december januar jänner februar märz mai juni juli oktober dezember enero febrero marzo abril mayo
		junio julio agosto septiembre octubre noviembre diciembre`)
	// openers: words that begin a sentence far more often than they follow an abbreviation.
	openers = set(`the this that these those it its we you they he she i our your their in if when for after
		with no yes there all a an and but please then ask call who what how
		der die das dies diese dieser es wir sie ihr er ich unser unsere im bei wenn nach mit nein ja alle ein
		eine und aber bitte dann danach so auch für wer was wie ab
		el la los las un una este esta esto eso en si cuando para por con sí hay y pero usted nosotros su
		nuestro nuestra se lo`)
)
