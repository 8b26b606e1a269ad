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
			out = append(out, "#"+f.Amount)
		}
	}
	return out
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

// fields makes a lookup table of plain words.
func fields(words string) map[string]bool { return setOf(strings.Fields(words)) }

// The tables are plain words (no accents) and read-only.
var (
	stopwords = map[string]map[string]bool{
		"en": fields(`a an the this that these those it its i me my mine we us our you your they them their he she his her is are
		was were be been am do does did done doing have has had having can could will would shall should may might
		must what which who whom whose when where why how much many there here of to in on at by for from with without
		about as into over under up down out off and or but if then than so not no yes any some all each every just
		only also too very really get got want need please tell say says said give okay ok hello hi thanks thank per
		hows whats wants already still again ask asks asking long customer customers client let lets one two three
		four five six seven eight nine ten bit thing things way since while during after before being come comes go
		goes told him whether`),
		"de": fields(`der die das den dem des ein eine einen einem einer eines ich mich mir mein meine meinen wir uns unser unsere
		unseren sie ihnen ihr ihre ihren du dich dir dein deine er es man ist sind war waren sein bin bist habe hast
		hat haben hatte wird werden wurde kann konnen konnte muss mussen soll sollen darf durfen will wollen mochte
		was welche welcher welches welchen wer wen wem wann wo warum wieso wie viel viele da dort hier von zu zum zur
		im in am an auf aus bei beim mit ohne nach fur uber unter vor um und oder aber wenn dann als so nicht kein
		keine keinen ja nein auch nur noch schon sehr denn doch mal bitte sagen sagt gibt geben`),
		"es": fields(`el la los las lo un una unos unas yo mi mis me nos nuestro nuestra su sus tu tus te usted ustedes se le les es
		son era ser soy esta estan estar este esto ese eso hay ha han he tiene tengo tienen tener puedo puede pueden
		poder debo debe quiero que cual cuales quien cuando donde como cuanto cuantos cuanta cuantas cliente clientes
		dos tres cuatro dice pregunta otra otro vez ahora por para con sin de del al en y o pero si no tambien solo
		muy mas ya a favor decir dar`),
	}
	// priceWords speak of a price; pricePhrases ask for one.
	priceWords = fields(`cost costs price prices pricing priced fee fees charge charges charged pay pays paid paying rate rates
		rent rental kostet kosten kost preis preise gebuhr gebuhren teuer wieviel zahlt zahle zahlen bezahlen bezahlt
		cuesta cuestan costar precio precios tarifa tarifas cuota vale paga pago pagan pagar`)
	pricePhrases = []string{
		"how much", "much is", "wie viel kostet", "wie viel kosten", "wie teuer", "cuanto cuesta", "cuanto cuestan",
		"cuanto vale", "cuanto pago", "cuanto es", "cuanto se paga",
	}
	spanPhrases = []string{
		"how long", "how many months", "how many days", "wie lange", "wie viele tage", "wie viele monate",
		"cuanto tiempo", "cuanto dura", "cuantos dias", "cuantos meses",
	}
	// calendar words have a capital letter and name nothing that is sold.
	calendar = fields(`january february march april may june july august september october november december
		monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
		saturdays sundays christmas easter internet mr mrs ms`)
	// askingWords begin a question that asks for a fact.
	askingWords = fields(`what which who when where how is are do does did can could may has have will would should must
		was welche welcher welches wer wann wo wie ist sind kann konnen darf durfen gibt hat haben muss mussen bekommt
		que cual cuales quien cuando donde como cuanto cuanta cuantos cuantas es son puedo puede pueden hay tiene tienen`)
)
