package extract

import (
	"slices"
	"sort"
)

// How the parts of a score weigh. They were set by eye on small corpora in three languages; the
// tests hold the behaviour, not the figures.
const (
	headingShare = 0.8 // a word of the last heading, against one of the sentence itself
	contextShare = 0.6 // a word of the title or of a heading above
	priceSpoken  = 0.4 // a sentence that speaks of a price without stating it
	minThing     = 0.5 // share of the thing asked about that a sentence with a price must name
	minPoint     = 0.3 // share of what is asked of a named thing that a sentence must hold
	floor        = 0.3
	minHeading   = 0.6  // share of the question in a heading from which the section is the answer
	meaningShare = 0.5 // of the meaning in the score
	chunkShare   = 0.4  // of the whole chunk in the score of its sentence
	maxEmbedded  = 16   // passages whose meaning is compared
	rankStep     = 0.02
	nameBonus    = 0.1
	freshBonus   = 0.05
	ownLanguage  = 0.03
	tie          = 0.02 // rows that near are equally asked for
	nearPoint    = 0.6  // nearness from which the words need not agree
	replyShare   = 0.9  // of what a whole section holds, against one sentence that holds it
	spokenBonus  = 0.06 // of an objection, when the question is what a customer says
)

// nearness maps a cosine of MiniLM between a question and a sentence to 0 (unrelated) to 1.
func nearness(cosine float64) float64 { return min(max((cosine-0.2)/0.55, 0), 1) }

type scorer struct {
	question   question
	chunks     chunks
	language   string
	hasMeaning bool
}

// compareWords fills in the lexical shares of every chunk and passage.
func (s scorer) compareWords() {
	for _, k := range s.chunks.list {
		k.lexical = s.share(func(t term) float64 { return best(t.stem, k.all) })
	}
	for _, k := range s.chunks.list {
		k.reply = s.share(func(t term) float64 { return best(t.stem, k.all) }, k.passages[:min(len(k.passages), maxSentences)]...)
	}
	for _, p := range s.chunks.passages {
		anywhere := func(t term) float64 {
			return max(best(t.stem, p.own), headingShare*best(t.stem, p.heading), contextShare*best(t.stem, p.context))
		}
		p.thing = s.share(anywhere)
		p.share = s.share(func(t term) float64 { return best(t.stem, p.own) })
		p.lexical = s.share(anywhere, p)
		p.point = s.share(func(t term) float64 {
			if t.isName {
				return -1
			}
			return anywhere(t)
		}, p)
	}
}

// share is the part of the question's weight that found reports; a term with -1 is left out. With
// passages, the price and the time that are asked for count too.
func (s scorer) share(found func(term) float64, in ...*passage) float64 {
	var sum, part, price, span float64
	for _, t := range s.question.terms {
		if f := found(t); f >= 0 {
			sum += t.weight
			part += t.weight * f
		}
	}
	for _, p := range in {
		price, span = max(price, s.priceCredit(p)), max(span, spanCredit(p))
	}
	if len(in) > 0 {
		sum += s.question.price + s.question.span
		part += s.question.price*price + s.question.span*span
	}
	if sum == 0 {
		return 1
	}
	return part / sum
}

func (s scorer) priceCredit(p *passage) float64 {
	if p.isPrice {
		return 1
	}
	for w := range priceWords {
		if p.own[stem(w)] {
			return priceSpoken
		}
	}
	return 0
}

func spanCredit(p *passage) float64 {
	if p.isSpan {
		return 1
	}
	return 0
}

// candidates returns the n passages with the highest lexical share.
func (s scorer) candidates(n int) []*passage {
	out := slices.Clone(s.chunks.passages)
	value := func(p *passage) float64 { return p.lexical + p.chunk.lexical - rankStep*float64(p.rank) }
	sort.SliceStable(out, func(i, j int) bool { return value(out[i]) > value(out[j]) })
	return out[:min(n, len(out))]
}

// score is how well a passage answers, about 0 to 1.
func (s scorer) score(p *passage) float64 {
	score := (1-chunkShare)*p.lexical + chunkShare*p.chunk.lexical
	near := (1-chunkShare)*p.near + chunkShare*p.chunk.near
	if s.isReply(p.chunk) {
		score, near = max(score, replyShare*p.chunk.reply), max(near, replyShare*p.chunk.near)
	}
	if s.hasMeaning {
		score = (1-meaningShare)*score + meaningShare*near
	}
	if p.SourceType == "objection" && !s.question.isOpen && s.question.price < priceAsked {
		score += spokenBonus
	}
	score -= rankStep * float64(p.rank)
	if p.Language == s.language {
		score += ownLanguage
	}
	if !p.IsStale {
		score += freshBonus
	}
	if p.isRow && s.speaksOfAsked(p) {
		score += nameBonus
	}
	return score
}

// answers says whether a passage may be the answer at all.
func (s scorer) answers(p *passage) bool {
	switch {
	case p.isQuestion && (p.next() == nil || p.next().isQuestion):
		return false
	case s.speaksOfOthers(p):
		return false
	case s.question.price == priceAsked && s.priceCredit(p) == 0:
		return false
	case s.question.price > 0 && (p.isPrice || s.question.price == priceAsked) && p.thing < minThing && !s.speaksOfAsked(p):
		return false // the price of something else
	case len(s.question.named) > 0 && p.point < minPoint && p.near < nearPoint:
		return false // the right thing, but not what is asked of it
	}
	return s.score(p) >= floor
}

// speaksOfAsked says whether a passage names a row of the tables that is asked for.
func (s scorer) speaksOfAsked(p *passage) bool {
	return slices.ContainsFunc(p.names, func(n string) bool { return slices.Contains(s.question.named, n) })
}

// speaksOfOthers says whether it names rows, and none of those asked for.
func (s scorer) speaksOfOthers(p *passage) bool {
	return len(s.question.named) > 0 && len(p.names) > 0 && !s.speaksOfAsked(p)
}
