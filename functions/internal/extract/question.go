package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"porchlight/functions/internal/guard"
	"porchlight/functions/internal/sentence"
)

// question is what is asked, as terms with weights.
type question struct {
	text     string
	language string // as far as its small words tell
	terms    []term
	named    []string // names of table rows that it says, see chunks.names
	price    float64  // weight of a stated price; 0 when none is asked for
	span     float64  // weight of a stated time
	isOpen   bool     // begins as a question does, not as what a customer says
	isShort  bool     // a few words typed in a hurry
	isDouble bool     // joins two things with "and"
}

type term struct {
	stem      string
	dimension string // of a number, see guard.Figure
	weight    float64
	isName    bool // part of a row's name
}

func (t term) isNumber() bool { return t.stem[0] == '#' }

// A term weighs its rarity among the chunks, about 0.7 (everywhere) to 2 (nowhere); a number more,
// because "Fibre 250" and "Fibre 500" differ in nothing else.
const (
	numberFactor = 1.5
	priceAsked   = 1.5 // "how much …", "what does … cost"
	rarest       = 0.7 // chunks that a word is taken to be in at least: most words that none has are filler
	priceNamed   = 0.7 // only speaks of a price, as an objection may
	spanAsked    = 1.0
)

func readQuestion(text string) question {
	words := guard.Words(text)
	said := " " + strings.Join(words, " ") + " "
	q := question{
		text: text, language: languageOf(words),
		isOpen: len(words) > 0 && askingWords[words[0]], isShort: len(words) <= 8,
	}
	seen := map[string]bool{}
	add := func(t term) {
		if !seen[t.stem] {
			seen[t.stem] = true
			q.terms = append(q.terms, t)
		}
	}
	for _, w := range words {
		switch {
		case priceWords[w]:
			q.price = priceNamed
		case saysSomething(w):
			add(term{stem: stem(w)})
		}
	}
	if containsAny(said, pricePhrases) || q.price > 0 && (q.isOpen || q.isShort) {
		q.price = priceAsked
	}
	q.isDouble = containsAny(said, []string{"and", "und", "y", "e"})
	if containsAny(said, spanPhrases) {
		q.span = spanAsked
	}
	for _, f := range guard.Figures(text) {
		if !f.Spelled {
			add(term{stem: "#" + f.Amount, dimension: f.Dimension})
		}
	}
	return q
}

func containsAny(s string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(s, " "+p+" ") {
			return true
		}
	}
	return false
}

// isEmpty reports a question that names nothing: "how much?" has no answer without knowing of what.
func (q question) isEmpty() bool { return len(q.terms) == 0 }

// weigh gives each term its inverse document frequency among the chunks. A number that no chunk has
// and that is the asker's own (what they pay, how much they use) weighs nothing.
func (q *question) weigh(c chunks) {
	q.named = c.namesIn(q.text)
	inName := setOf(terms(strings.Join(q.named, " ")))
	n := float64(len(c.list))
	for i, t := range q.terms {
		frequency := 0.0
		for _, chunk := range c.list {
			if best(t.stem, chunk.all) > 0 {
				frequency++
			}
		}
		q.terms[i].isName = inName[t.stem]
		q.terms[i].weight = math.Log(1 + (n+1)/(max(frequency, rarest)+0.5))
		switch {
		case !t.isNumber():
		case frequency == 0 && (t.dimension == "money" || t.dimension == "percent" || t.dimension == "kwh"):
			q.terms[i].weight = 0
		default:
			q.terms[i].weight *= numberFactor
		}
	}
}

// misses says whether the question is about a thing that no chunk knows; what the chunks say of
// others is no answer. Such a thing is a speed, a volume or a power, or a name.
func (c chunks) misses(q question) bool {
	for _, t := range q.terms {
		switch t.dimension {
		case "mbit", "gb", "kw":
			if !c.knows(t.stem) {
				return true
			}
		}
	}
	for _, one := range sentence.Split(q.text) {
		tokens := strings.FieldsFunc(one, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for i, token := range tokens {
			if word := plainWord(token); !priceWords[word] && !c.knows(keyOf(word)) && c.isName(q, tokens, i) {
				return true
			}
		}
	}
	return false
}

// isName says whether token i is used as a name: it follows the first word of names in the tables
// ("Home Turbo" where there are Home Flex and Home Fix), stands before a bare number ("Fibre 900"), or
// has a capital letter inside a question that is not German.
func (c chunks) isName(q question, tokens []string, i int) bool {
	token, word := tokens[i], plainWord(tokens[i])
	hasFamily := i > 0 && c.families[plainWord(tokens[i-1])]
	if isDigits(token) || isNumeral(word) && isCapitalised(token) {
		return hasFamily && !c.isNamed(plainWord(tokens[i-1])+" "+word)
	}
	if isStopword(word) {
		return false
	}
	if i+1 < len(tokens) && isDigits(tokens[i+1]) && (isCapitalised(token) || q.isShort) {
		if i+2 == len(tokens) || !isAmount(tokens[i+1]+" "+tokens[i+2]) {
			return true
		}
	}
	return isCapitalised(token) && (hasFamily || i > 0 && q.isOpen && q.language != "de" && !calendar[word])
}

// isNamed says whether words that stand together occur in a name of the tables.
func (c chunks) isNamed(words string) bool {
	return slices.ContainsFunc(c.names, func(n string) bool { return strings.Contains(" "+n+" ", " "+words+" ") })
}

// isNumeral reports a number in letters.
func isNumeral(word string) bool {
	figures := guard.Figures(word)
	return len(figures) == 1 && figures[0].Spelled
}

// plainWord folds one token; keyOf is what the chunks know it by.
func plainWord(token string) string { return strings.Join(guard.Words(token), "") }

func keyOf(word string) string {
	if isDigits(word) {
		return "#" + strings.TrimLeft(word, "0")
	}
	return stem(word)
}

// isAmount says whether a number and a word are an amount of something: "24 months".
func isAmount(text string) bool {
	for _, f := range guard.Figures(text) {
		return f.Dimension != ""
	}
	return false
}
