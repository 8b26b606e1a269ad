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
	rankStep     = 0.02
	nameBonus    = 0.15
	freshBonus   = 0.05
	narrowMalus  = 0.05 // of a sentence about a product, when none is asked about
	caseMalus    = 0.05 // of a sentence that speaks of a special case
	ownLanguage  = 0.03
	tie          = 0.02 // rows that near are equally asked for
	nearPoint    = 0.5  // nearness from which the words need not agree
	replyShare   = 0.9  // of what a whole section holds, against one sentence that holds it
	minSpoken    = 0.6  // share of the thing asked about that a sentence that only speaks of a price must name
	minSaid      = 0.5  // the same of what a customer says
	minShared    = 0.15 // share of a question that a chunk must hold where the model knows its language badly
	spokenBonus  = 0.06 // of an objection, when the question is what a customer says
)

// modelLanguage is the one that the small model of meaning was made for. In others it finds texts near
// because they are of the same language.
const modelLanguage = "en"

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
			if t.isDenied && !p.saysNo {
				return 0
			}
			found := max(best(t.stem, p.own), headingShare*best(t.stem, p.heading), contextShare*best(t.stem, p.context))
			return found * s.trust(t, p.chunk)
		}
		p.thing = s.share(func(t term) float64 {
			if found := anywhere(t); found > 0 || !t.isDenied {
				return found
			}
			return -1 // "without a reason": what is not there need not be said
		})
		p.share = s.share(func(t term) float64 { return best(t.stem, p.own) })
		p.lexical = s.share(anywhere, p)
		p.point = s.share(func(t term) float64 {
			if t.isName || periodStems[t.stem] {
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
	if p.isMoney {
		return 1
	}
	if p.saysPrice {
		return priceSpoken
	}
	return 0
}

func spanCredit(p *passage) float64 {
	if p.isSpan {
		return 1
	}
	return 0
}

// candidates returns the passages, those with the highest lexical share first.
func (s scorer) candidates() []*passage {
	out := slices.Clone(s.chunks.passages)
	value := func(p *passage) float64 { return p.lexical + p.chunk.lexical - rankStep*float64(p.rank) }
	slices.SortStableFunc(out, func(a, b *passage) int { return cmp.Compare(value(b), value(a)) })
	return out
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
	if len(p.names) > 0 && p.row == nil && len(s.question.named) == 0 {
		score -= narrowMalus
	}
	if p.isCase && s.question.isOpen {
		score -= caseMalus
	}
	if !p.IsStale {
		score += freshBonus
	}
	if p.row != nil && s.speaksOfAsked(p) {
		score += nameBonus
	}
	return score
}
