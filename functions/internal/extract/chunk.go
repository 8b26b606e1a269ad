package extract

import (
	"cmp"
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
	families map[string]bool // first words of the names: "home" of "home flex"
}

type chunk struct {
	corpus.Match
	rank     int
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
	isRow      bool
	isQuestion bool
	isPrice    bool // states one
	isSpan     bool // states how long
	own        map[string]bool
	names      []string // names of rows that it says, in its order; of a row, its own

	lexical float64 // share of the question that the passage and its headings hold
	thing   float64 // the same of what is asked about, without price and time
	point   float64 // the same of what is asked of it, without its name
	share   float64 // the same from its own words
	near    float64 // how near its meaning is, 0 to 1
}

func readChunks(matches []corpus.Match) chunks {
	c := chunks{families: map[string]bool{}}
	for i, m := range matches {
		if guard.Hostile(m) {
			continue
		}
		k := readChunk(m, i)
		c.list = append(c.list, k)
		c.passages = append(c.passages, k.passages...)
	}
	c.readNames()
	return c
}

// readNames collects the names of the table rows, and which passage says which.
func (c *chunks) readNames() {
	for _, p := range c.passages {
		words := guard.Words(p.firstCell())
		if !p.isRow || len(words) == 0 {
			continue
		}
		c.names = append(c.names, strings.Join(words, " "))
		if len(words) > 1 {
			c.families[words[0]] = true
		}
	}
	slices.SortFunc(c.names, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	c.names = slices.Compact(c.names)
	for _, p := range c.passages {
		if p.isRow {
			p.names = []string{strings.Join(guard.Words(p.firstCell()), " ")}
		} else {
			p.names = c.namesIn(p.text)
		}
	}
}

// namesIn returns the names that a text says, in its order. "Home Flex Plus" does not say "Home Flex".
// A text that says no name in full may say the beginning of some, of two words at least.
func (c chunks) namesIn(text string) []string {
	var whole, begun []string
	said := " " + strings.Join(guard.Words(text), " ") + " "
	spoken := said
	longest := 1
	for _, n := range c.names {
		if strings.Contains(said, " "+n+" ") {
			said = strings.ReplaceAll(said, " "+n+" ", " "+strings.Repeat("|", len(n))+" ")
			whole = append(whole, n)
		}
		switch words := saidFirst(n, said); {
		case words > longest:
			longest, begun = words, []string{n}
		case words == longest && words > 1:
			begun = append(begun, n)
		}
	}
	if len(whole) == 0 {
		return begun
	}
	slices.SortStableFunc(whole, func(a, b string) int {
		return strings.Index(spoken, " "+a+" ") - strings.Index(spoken, " "+b+" ")
	})
	return whole
}

// saidFirst counts the first words of a name that a text says together.
func saidFirst(name, said string) int {
	words := strings.Fields(name)
	n := 0
	for n < len(words) && strings.Contains(said, " "+strings.Join(words[:n+1], " ")+" ") {
		n++
	}
	return n
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

var blankLine = regexp.MustCompile(`\n\s*\n`)

// add keeps a sentence that can be said.
func (k *chunk) add(raw string, paragraph int) {
	text := spoken(raw)
	quotable := guard.Markup(text, guard.Input{Evidence: []corpus.Match{k.Match}}).OK && guard.Injection(text, guard.Input{}).OK
	if len(guard.Words(text)) == 0 || strings.HasPrefix(text, "#") || !quotable {
		return
	}
	p := &passage{
		chunk: k, text: text, index: len(k.passages), paragraph: paragraph, isRow: sentence.IsRow(text),
		isQuestion: strings.HasSuffix(strings.TrimRight(text, `"'”“’»)`), "?"), isPrice: guard.StatesPrice(text), own: setOf(terms(text)),
	}
	maps.Copy(k.all, p.own)
	for _, f := range guard.Figures(text) {
		p.isSpan = p.isSpan || f.Dimension == "month" || f.Dimension == "day" || f.Dimension == "hour"
	}
	k.passages = append(k.passages, p)
}

// firstCell returns the value of a row's first cell.
func (p *passage) firstCell() string {
	cell, _, _ := strings.Cut(p.text, "; ")
	_, value, _ := strings.Cut(cell, ": ")
	return value
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
