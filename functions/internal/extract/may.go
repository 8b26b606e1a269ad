package extract

import (
	"slices"
	"strings"

	"porchlight/functions/internal/guard"
)

// answers says whether a passage may be the answer at all.
func (s scorer) answers(p *passage) bool {
	q := s.question
	isNear := p.near >= nearPoint
	switch {
	case p.isQuestion && (p.next() == nil || p.next().isQuestion):
		return false
	case p.row != nil && p.row.isAccessory(q):
		return false
	case s.speaksOfOthers(p):
		return false
	case q.price == priceAsked && !s.mayPrice(p):
		return false
	case q.price > 0 && p.isPrice && !s.isWhichPrice(p):
		return false
	case q.price > 0 && (p.isPrice || q.price == priceAsked) && p.thing < minThing && !s.speaksOfAsked(p):
		return false // the price of something else
	case q.span > 0 && p.isSpan && p.thing < minThing && !isNear:
		return false // the time of something else
	case len(q.named) > 0 && p.point < minPoint && (!isNear || p.isPrice || s.speaksOfAsked(p)):
		return false // the right thing, but not what is asked of it
	case len(q.named) > 0 && !s.saysOfAsked(p):
		return false
	case s.isAnotherReply(p):
		return false
	case q.act != "" && s.chunks.knows(q.act) && p.thing < 1 && !s.acts(p):
		return false // says something of the same things
	case q.language != "" && q.language != modelLanguage && p.chunk.lexical < s.leastShared():
		return false
	}
	return s.score(p) >= floor
}

// isAnotherReply says whether a passage is from the reply to a question of an FAQ that is not the one asked,
// where meaning does not tell.
func (s scorer) isAnotherReply(p *passage) bool {
	isForeign := s.question.language != "" && s.question.language != modelLanguage
	return isForeign && p.SourceType == "faq" && p.HeadingPath != "" && p.lexical < minSaid && s.inHeading(p.chunk) == 0
}

// acts says whether a passage or a heading above it speaks of the act that the question asks about.
func (s scorer) acts(p *passage) bool {
	if s.question.language != "" && s.question.language != p.Language {
		return true
	}
	return max(best(s.question.act, p.own), best(s.question.act, p.heading), best(s.question.act, p.context)) > 0
}

// saysOfAsked says whether a passage or a heading above it says a part of the name that is asked for.
func (s scorer) saysOfAsked(p *passage) bool {
	return slices.ContainsFunc(s.question.terms, func(t term) bool {
		return t.isName && (p.own[t.stem] || p.heading[t.stem] || p.context[t.stem])
	})
}

// leastShared is the share of a question that a chunk must hold where meaning tells little. What a
// customer says, in a whole sentence, shares a word with many texts.
func (s scorer) leastShared() float64 {
	if s.question.isOpen || s.question.asks {
		return minShared
	}
	return minSaid
}

// isPricesSubject says whether the price in a sentence is that of the named thing that is asked for: its name
// comes before the amount. Of a whole family, one member is not the answer.
func (s scorer) isPricesSubject(p *passage) bool {
	switch {
	case len(s.question.named) == 0 && s.chunks.saysFamily(s.question.said):
		return s.isBeside(p)
	case len(s.question.named) == 0 || len(p.names) == 0:
		return true
	}
	words := strings.Fields(p.text)
	for i := range words {
		if before := strings.Join(words[:i+1], " "); guard.StatesPrice(before) {
			said := " " + strings.Join(guard.Words(before), " ") + " "
			return slices.ContainsFunc(s.question.named, func(n string) bool { return strings.Contains(said, " "+n+" ") })
		}
	}
	return true
}

// isBeside says whether a sentence prices what a question asks about a whole family of products, as its move
// or its exit, and not the family.
func (s scorer) isBeside(p *passage) bool {
	isAsked := false
	share := s.share(func(t term) float64 {
		if s.chunks.families[t.stem] || periodStems[t.stem] {
			return -1
		}
		isAsked = true
		return best(t.stem, p.own)
	})
	return isAsked && share >= minSpoken
}

// mayPrice says whether a passage may answer a question for a price: it states one, or speaks of one for
// just that. Rows have had their turn, see listed; old ones may still hold the answer back.
func (s scorer) mayPrice(p *passage) bool {
	switch {
	case p.row != nil:
		return p.isHeld() && !s.refuses(p)
	case p.isQuestion:
		return p.next().isMoney
	case s.isReply(p.chunk) && s.inHeading(p.chunk) >= minHeading:
		return slices.ContainsFunc(p.passages[:min(len(p.passages), maxSentences)], func(p *passage) bool {
			return s.priceCredit(p) > 0
		})
	}
	isSpoken := p.saysPrice && p.thing >= minSpoken && len(s.question.named) == 0
	return (p.isMoney || isSpoken) && s.isPricesSubject(p)
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
