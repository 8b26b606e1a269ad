package extract

import (
	"slices"
	"time"
)

// answer picks the sentences.
func (s scorer) answer(limit int) Answer {
	start := s.start(limit)
	if start == nil {
		return Answer{}
	}
	if start.isHeld() {
		return Answer{Held: true, HeldChunk: start.ChunkID}
	}
	picked := s.window(start, limit)
	if second := s.second(picked); second != nil && len(picked) < limit {
		picked = append(picked, second)
	}
	return answerOf(picked)
}

// isHeld says whether a passage states a price that nobody verified in time: it is never said.
func (p *passage) isHeld() bool { return p.IsStale && p.isPrice }

// start returns the passage that the answer begins with, nil when none answers.
func (s scorer) start(limit int) *passage {
	var found *passage
	for _, p := range s.chunks.passages {
		if s.answers(p) && (found == nil || s.isBetter(p, found)) {
			found = p
		}
	}
	if found == nil {
		return nil
	}
	isFact := s.question.price == priceAsked && len(s.question.named) > 0
	if first := found.passages[0]; !isFact && s.isAsked(found.chunk) && first.row == nil && found.index < limit {
		found = first
	}
	if found.isQuestion && found.next() != nil {
		found = found.next()
	}
	return found
}

// isBetter compares passages that may both answer. For a price, one that says itself what it is the price
// of goes before one under a heading that does.
func (s scorer) isBetter(p, than *passage) bool {
	if saysOne, saysOther := p.share > 0, than.share > 0; p.isMoney && than.isMoney && s.question.price == priceAsked && saysOne != saysOther {
		return saysOne
	}
	return s.score(p) > s.score(than)
}

// isReply says whether a section is the reply to its heading, from its first sentence on: so are
// those of an FAQ, and those of a list of objections unless the question asks for a price or for one
// row of a table.
func (s scorer) isReply(k *chunk) bool {
	asksFact := s.question.price == priceAsked || len(s.question.named) > 0
	return k.SourceType == "faq" || k.SourceType == "objection" && !asksFact
}

// isAsked says whether the heading of a section is the question.
func (s scorer) isAsked(k *chunk) bool {
	return s.isReply(k) || s.inHeading(k) >= minHeading || nearness(k.cosine) >= minHeading
}

// inHeading is the share of the question that the heading of a section holds, helped by the headings
// above it.
func (s scorer) inHeading(k *chunk) float64 {
	own := 0.0
	both := s.share(func(t term) float64 {
		inOwn := best(t.stem, k.heading)
		own = max(own, inOwn)
		return max(inOwn, headingShare*best(t.stem, k.context))
	})
	if own == 0 {
		return 0
	}
	return both
}

// window returns start and what follows it as long as it belongs together.
func (s scorer) window(start *passage, limit int) []*passage {
	picked := []*passage{start}
	whole := s.isAsked(start.chunk)
	isIntro := start.text[len(start.text)-1] == ':'
	for p := start.next(); p != nil && len(picked) < limit; p = p.next() {
		if start.row != nil {
			if p.row != nil && !p.isHeld() && s.score(p) >= s.score(start)-tie {
				picked = append(picked, p)
			}
			continue
		}
		follows := whole || isIntro || p.paragraph == start.paragraph && p.share > 0
		if p.row != nil && !isIntro || p.isQuestion || !follows || s.speaksOfOthers(p) || p.isHeld() {
			break
		}
		picked = append(picked, p)
	}
	return picked
}

// A second chunk is asked when that much of the question is open, and closes that much of it.
const minOpen, minClosed = 0.35, 0.6

// second returns a sentence of another chunk for the part of a double question that the picked ones
// leave open, nil when there is no large part or no such sentence.
func (s scorer) second(picked []*passage) *passage {
	if !s.question.isDouble {
		return nil
	}
	open := func(t term) float64 {
		for _, p := range picked {
			if max(best(t.stem, p.own), best(t.stem, p.heading), best(t.stem, p.context)) > 0 {
				return -1
			}
		}
		return 0
	}
	var sum, left float64
	for _, t := range s.question.terms {
		sum += t.weight
		if open(t) == 0 {
			left += t.weight
		}
	}
	if left == 0 || left/sum < minOpen {
		return nil
	}
	var found *passage
	most := 0.0
	for _, p := range s.chunks.passages {
		closed := s.share(func(t term) float64 {
			if open(t) < 0 {
				return -1
			}
			return best(t.stem, p.own)
		})
		mayFollow := p.chunk != picked[0].chunk && !p.isOther && !p.IsStale && (s.answers(p) || !p.isPrice && !p.isQuestion)
		if mayFollow && closed >= minClosed && closed > most {
			found, most = p, closed
		}
	}
	return found
}

func answerOf(picked []*passage) Answer {
	var a Answer
	var oldest *time.Time
	for _, p := range picked {
		a.Sentences = append(a.Sentences, Sentence{Text: p.text, ChunkID: p.ChunkID, Index: p.index})
		if !slices.Contains(a.Used, p.ChunkID) {
			a.Used = append(a.Used, p.ChunkID)
		}
		if p.IsPricing && p.VerifiedAt != nil && (oldest == nil || p.VerifiedAt.Before(*oldest)) {
			oldest = p.VerifiedAt
		}
	}
	a.AsOf = oldest
	return a
}
