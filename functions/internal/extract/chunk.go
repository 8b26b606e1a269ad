package extract

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/guard"
	"porchlight/functions/internal/sentence"
)

// chunks are the matches that may be quoted, best first.
type chunks struct {
	list     []*chunk
	passages []*passage
	names    []string        // plain names of table rows (their first cells), longest first
	families map[string]bool // first words of the names and their stems: "home" of "home flex"
}

type chunk struct {
	corpus.Match
	rank     int
	isOther  bool // below the threshold of the search
	passages []*passage
	heading  map[string]bool // terms of the last heading, or of the title when there is none
	context  map[string]bool // terms of the title and the headings above
	all      map[string]bool
	title    string // last heading, for people

	lexical float64 // share of the question that the chunk holds
	reply   float64 // the same with the price and the time asked for
	cosine  float64 // of the heading, when it was compared
	near    float64 // how near its meaning is, 0 to 1
}

// passage is a sentence, a list item or a table row.
type passage struct {
	*chunk
	text       string
	index      int
	paragraph  int
	isQuestion bool
	isPrice    bool // states one
	isSpan     bool // states how long
	saysPrice  bool // speaks of one
	isMoney    bool // states a price that is no percentage
	saysNo     bool // it or its heading says that something is not there
	isCase     bool // speaks of a special case
	own        map[string]bool
	names      []string // names of rows that it says, in its order; of a row, its own
	row        *row     // nil when it is none

	lexical float64 // share of the question that the passage and its headings hold
	thing   float64 // the same of what is asked about, without price and time
	point   float64 // the same of what is asked of it, without its name
	share   float64 // the same from its own words
	near    float64 // how near its meaning is, 0 to 1
}

func readChunks(matches, others []corpus.Match) chunks {
	c := chunks{families: map[string]bool{}}
	for i, m := range slices.Concat(matches, others) {
		if guard.Hostile(m) {
			continue
		}
		k := readChunk(m, i)
		k.isOther = i >= len(matches)
		c.list = append(c.list, k)
		c.passages = append(c.passages, k.passages...)
	}
	c.readNames()
	return c
}

func readChunk(m corpus.Match, rank int) *chunk {
	above, last := "", m.HeadingPath
	if at := strings.LastIndex(last, " › "); at >= 0 {
		above, last = last[:at], last[at+len(" › "):]
	}
	if last == "" {
		last = m.SourceTitle
	}
	k := &chunk{Match: m, rank: rank, title: last, heading: setOf(terms(last)), context: setOf(terms(m.SourceTitle + " " + above))}
	k.all = maps.Clone(k.heading)
	maps.Copy(k.all, k.context)
	for i, paragraph := range blankLine.Split(m.Content, -1) {
		for _, s := range sentence.Split(paragraph) {
			for _, part := range faqParts(s) {
				k.add(part, i)
			}
		}
	}
	return k
}

// specialCase is how a sentence says that it holds now and then only.
var specialCase = regexp.MustCompile(`(?i)\b(?:cannot|can't|impossible|only (?:when|if)|unless|except|nur (?:wenn|falls)|außer|es sei denn|` +
	`unmöglich|solo (?:si|cuando)|salvo|excepto|a menos que|imposible)(?:[^\p{L}]|$)|^(?:si|wenn|falls|if|when)\b[^,]*\b(?:no|not|nicht|kein\w*)\b`)

var percentage = regexp.MustCompile(`(?i)\d[\d.,]*\s?(?:%|per ?cent\b|prozent\b|por ciento\b)`)

var blankLine = regexp.MustCompile(`\n\s*\n`)

// add keeps a sentence that can be said.
func (k *chunk) add(raw string, paragraph int) {
	text := spoken(raw)
	quotable := guard.Markup(text, guard.Input{Evidence: []corpus.Match{k.Match}}).OK && guard.Injection(text, guard.Input{}).OK
	if len(guard.Words(text)) == 0 || strings.HasPrefix(text, "#") || !quotable {
		return
	}
	p := &passage{
		chunk: k, text: text, index: len(k.passages), paragraph: paragraph,
		isQuestion: strings.HasSuffix(strings.TrimRight(text, `"'”“’»)`), "?"), isPrice: guard.StatesPrice(text), own: setOf(terms(text)),
	}
	p.saysNo = slices.ContainsFunc(guard.Words(k.title+" "+text), func(w string) bool { return negations[w] })
	p.isCase = specialCase.MatchString(text)
	p.isMoney = p.isPrice && guard.StatesPrice(percentage.ReplaceAllString(text, "some"))
	for _, w := range guard.Words(text) {
		p.saysPrice = p.saysPrice || priceWords[w] && !ambiguous[w]
	}
	if sentence.IsRow(text) {
		p.row = readRow(text)
	}
	maps.Copy(k.all, p.own)
	for _, f := range guard.Figures(text) {
		p.isSpan = p.isSpan || f.Dimension == "month" || f.Dimension == "day" || f.Dimension == "hour"
	}
	k.passages = append(k.passages, p)
}

// faqParts takes a row "Question: Is it free?; Answer: Yes. For a year." apart; other sentences stay.
func faqParts(s string) []string {
	question, answer, found := strings.Cut(s, "?; ")
	if !found || !sentence.IsRow(s) || strings.Contains(question, "; ") {
		return []string{s}
	}
	_, asked, _ := strings.Cut(question, ": ")
	_, said, _ := strings.Cut(answer, ": ")
	return append([]string{asked + "?"}, sentence.Split(said)...)
}

var (
	listMark = regexp.MustCompile(`^\s*(?:>\s*)*(?:[-*+•–]\s+(?:\[[ xX]\]\s+)?)?`)
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis = regexp.MustCompile("(\\*\\*|__|\\*|`)(\\S(?:.*?\\S)?)(\\*\\*|__|\\*|`)")
)

// spoken returns a sentence of Markdown as its reader sees it, on one line.
func spoken(raw string) string {
	s := listMark.ReplaceAllString(raw, "")
	s = strings.ReplaceAll(s, "\n> ", " ")
	s = linkText.ReplaceAllString(s, "$1")
	s = emphasis.ReplaceAllString(s, "$2")
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " ")
}

// next returns the passage after p in its chunk, or nil.
func (p *passage) next() *passage {
	if p.index+1 < len(p.passages) {
		return p.passages[p.index+1]
	}
	return nil
}

func (c chunks) knows(stem string) bool {
	for _, k := range c.list {
		if best(stem, k.all) > 0 {
			return true
		}
	}
	return false
}
