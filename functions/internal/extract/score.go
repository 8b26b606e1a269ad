package extract

import (
	"cmp"
	"slices"
)

// How the parts of a score weigh. They were set by eye on small corpora in three languages; the
// tests hold the behaviour, not the figures.
const (
	headingShare = 0.8  // a word of the last heading, against one of the sentence itself
	contextShare = 0.6  // a word of the title or of a heading above
	foreignShare = 0.5  // a word in a text of another language
	priceSpoken  = 0.4  // a sentence that speaks of a price without stating it
	minThing     = 0.4  // share of the thing asked about that a sentence with a price must name
	minPoint     = 0.25 // share of what is asked of a named thing that a sentence must hold
	floor        = 0.3  // score under which nothing is an answer: about a third of the question's words, or their meaning
	minHeading   = 0.6  // share of the question in a heading from which the section is the answer
	meaningShare = 0.5  // of the meaning in the score
	chunkShare   = 0.4  // of the whole chunk in the score of its sentence
	maxEmbedded  = 12   // passages whose meaning is compared
	rankStep     = 0.02
	nameBonus    = 0.15
	freshBonus   = 0.05
	ownLanguage  = 0.03
	tie          = 0.02 // rows that near are equally asked for
	nearPoint    = 0.5  // nearness from which the words need not agree
	replyShare   = 0.9  // of what a whole section holds, against one sentence that holds it
	spokenBonus  = 0.06 // of an objection, when the question is what a customer says
)

// nearness maps a cosine of MiniLM between a question and a sentence to 0 (unrelated) to 1.
func nearness(cosine float64) float64 { return min(max((cosine-0.2)/0.55, 0), 1) }

type scorer struct {
	question   question
	chunks     chunks
	language   string // of the question, or of the asker
	hasMeaning bool
}

// compareWords fills in the lexical shares of every chunk and passage.
func (s scorer) compareWords() {
	for _, k := range s.chunks.list {
		anywhere := func(t term) float64 { return best(t.stem, k.all) * s.trust(t, k) }
		k.lexical = s.share(anywhere)
		k.reply = s.share(anywhere, k.passages[:min(len(k.passages), maxSentences)]...)
	}
	for _, p := range s.chunks.passages {
		anywhere := func(t term) float64 {
			found := max(best(t.stem, p.own), headingShare*best(t.stem, p.heading), contextShare*best(t.stem, p.context))
			return found * s.trust(t, p.chunk)
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

// trust is less than 1 for a word of another language, which may be the same by chance only; names
// and numbers are not.
func (s scorer) trust(t term, k *chunk) float64 {
	if s.question.language == "" || s.question.language == k.Language || t.isName || t.isNumber() {
		return 1
	}
	return foreignShare
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
	slices.SortStableFunc(out, func(a, b *passage) int { return cmp.Compare(value(b), value(a)) })
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

// speaksOfAsked says whether a passage is about a row of the tables that is asked for: of several
// names the first is its subject.
func (s scorer) speaksOfAsked(p *passage) bool {
	return len(p.names) > 0 && slices.Contains(s.question.named, p.names[0])
}

// speaksOfOthers says whether it is about a row that is not asked for.
func (s scorer) speaksOfOthers(p *passage) bool {
	return len(s.question.named) > 0 && len(p.names) > 0 && !s.speaksOfAsked(p)
}
