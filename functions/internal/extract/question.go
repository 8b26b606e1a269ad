package extract

import (
	"math"
	"slices"
	"strings"

	"porchlight/functions/internal/guard"
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
	asks     bool     // ends with a question mark
	isShort  bool     // a few words typed in a hurry
	isDouble bool     // joins two things with "and"
	said     string   // its words, each between spaces
	act      string   // what "can they …" asks about, as a stem
	asked    []string // stems that say which price: "exit" of "exit fee"
	special  []string // stems that ask for another price than the listed one: "lowest"
}

type term struct {
	stem      string
	dimension string // of a number, see guard.Figure
	weight    float64
	isName    bool // part of a row's name
	isWith    bool // of something that the thing asked for should have
	isDenied  bool // of something that it should not have
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
	withReach    = 4 // words after "with", itself included
)

func readQuestion(text string) question {
	words := guard.Words(text)
	said := " " + strings.Join(words, " ") + " "
	q := question{
		text: text, said: said, language: languageOf(words), asks: strings.HasSuffix(strings.TrimSpace(text), "?"),
		isOpen: len(words) > 0 && askingWords[words[0]], isShort: len(words) <= 8,
		isDouble: containsAny(said, []string{"and", "und", "y", "e"}),
	}
	asksTime := beginsWithAny(said, whenPhrases) || beginsWithAny(said, spanPhrases)
	q.readWords(words, asksTime)
	switch {
	case asksTime:
	case containsAny(said, pricePhrases), q.price > 0 && (q.isOpen || q.isShort), asksPrice(text):
		q.price = priceAsked
	}
	if containsAny(said, spanPhrases) {
		q.span = spanAsked
	}
	if len(words) > 0 && modals[words[0]] && len(q.terms) > 0 {
		q.act = q.terms[0].stem
	}
	for _, f := range guard.Figures(text) {
		if !f.Spelled {
			q.add(term{stem: numberTerm(f), dimension: f.Dimension})
		}
	}
	return q
}

// readWords makes terms of the words. In a question for a time, a price is what it is about.
func (q *question) readWords(words []string, asksTime bool) {
	wanted := 0 // words that "with" or "without" still reaches
	isDenied := false
	for i, w := range words {
		wanted--
		switch {
		case withWords[w], withoutWords[w]:
			wanted, isDenied = withReach, withoutWords[w]
		case priceWords[w] && !asksTime:
			q.price = priceNamed
			if i > 0 && priceNouns[w] && saysSomething(words[i-1]) && !priceWords[words[i-1]] && !periodWords[words[i-1]] {
				q.asked = append(q.asked, stem(words[i-1]))
			}
		case saysSomething(w):
			q.add(term{stem: stem(w), isWith: wanted > 0 && !isDenied, isDenied: wanted > 0 && isDenied})
		}
		besidePrice := i > 0 && priceWords[words[i-1]] || i+1 < len(words) && priceWords[words[i+1]]
		if discounts[w] || exceptions[w] && besidePrice {
			q.special = append(q.special, stem(w))
		}
	}
}

// add keeps a term once.
func (q *question) add(t term) {
	if !slices.ContainsFunc(q.terms, func(other term) bool { return other.stem == t.stem }) {
		q.terms = append(q.terms, t)
	}
}

// asksPrice says whether a part of a text asks for a price: "They have a boat, what is the fee?"
func asksPrice(text string) bool {
	for clause := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",.;:!?¿¡", r) }) {
		words := guard.Words(clause)
		if len(words) > 0 && askingWords[words[0]] && slices.ContainsFunc(words, func(w string) bool { return priceWords[w] }) {
			return true
		}
	}
	return false
}

func containsAny(s string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(s, " "+p+" ") {
			return true
		}
	}
	return false
}

func beginsWithAny(s string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.HasPrefix(s, " "+p+" ") })
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
		case !t.isNumber() && frequency == 0 && q.price == priceAsked && periodStems[t.stem]:
			q.terms[i].weight = 0
		case !t.isNumber():
		case frequency == 0 && (t.dimension == "money" || t.dimension == "percent" || t.dimension == "kwh"):
			q.terms[i].weight = 0
		default:
			q.terms[i].weight *= numberFactor
		}
	}
}

// names reports a row whose name the question says in full, and not as the beginning of a longer name.
func (q question) names(row string) bool {
	return row != "" && slices.Contains(q.named, row) && strings.Contains(q.said, " "+row+" ")
}
