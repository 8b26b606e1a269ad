package extract

import (
	"slices"
	"strings"
)

// How rows of tables are chosen for a price.
const (
	cellShare    = 0.8  // a word of a cell, against one of the name
	purposeShare = 0.95 // the same of a cell that says whom or what the row is for: more than of a heading
	minCover     = 0.6  // share of the question that a row which it names in part must hold, with its headings
	minValue     = 0.5  // the same of a row that it does not name
	coverTie     = 0.08 // rows that near hold the question equally
	maxRows      = 4    // more rows of the same kind are a price list, not an answer
	proseLead    = 0.1  // by which a sentence must hold more of the question than a row that it names in part
	unknownPart  = 0.3  // weight of a word that a text of another language does not have
)

// found is a row that may be the answer.
type found struct {
	*passage
	level int     // see row.named
	cover float64 // share of the question
}

// listed answers a question for a price from the rows of tables: with the row that it names, else with
// all rows that it fits equally. It reports false where the rows do not decide, and an empty answer where
// they do, but fit too many things.
func (s scorer) listed() (Answer, bool) {
	rows := s.fitting()
	if len(rows) == 0 {
		return s.told()
	}
	best := rows[0]
	for _, p := range s.chunks.passages {
		isBetter := best.level < 3 && p.thing > best.cover+proseLead || best.IsStale && s.speaksOfAsked(p)
		if p.row == nil && !p.isOther && p.isMoney && !p.IsStale && isBetter && s.answers(p) {
			return Answer{}, false
		}
	}
	var picked []*passage
	seen := map[string]bool{}
	for _, f := range rows {
		if f.level == best.level && f.cover >= best.cover-coverTie && f.IsStale == best.IsStale && !seen[f.text] {
			picked = append(picked, f.passage)
			seen[f.text] = true
		}
	}
	if len(picked) > 1 && best.level == 0 && s.isByPart(best.passage) {
		return Answer{}, false
	}
	switch {
	case best.IsStale:
		return Answer{Held: true, HeldChunk: best.ChunkID}, true
	case len(picked) > maxRows:
		return Answer{}, true
	}
	slices.SortStableFunc(picked, func(a, b *passage) int {
		if a.chunk == b.chunk {
			return a.index - b.index
		}
		return a.rank - b.rank
	})
	if second := s.second(picked); second != nil {
		picked = append(picked, second)
	}
	return answerOf(picked), true
}

// told answers with the sentence of a chunk below the threshold that prices the thing that the question
// names.
func (s scorer) told() (Answer, bool) {
	var best *passage
	for _, p := range s.chunks.passages {
		if p.row == nil && !p.isOther && s.answers(p) {
			return Answer{}, false
		}
		isPrice := p.isOther && p.row == nil && p.isMoney && s.speaksOfAsked(p) && s.answers(p)
		if isPrice && (best == nil || s.score(p) > s.score(best)) {
			best = p
		}
	}
	switch {
	case best == nil:
		return Answer{}, false
	case best.IsStale:
		return Answer{Held: true, HeldChunk: best.ChunkID}, true
	}
	return answerOf([]*passage{best}), true
}

// fitting returns the rows with a price that may be asked for, the best first.
func (s scorer) fitting() []found {
	var out []found
	for _, p := range s.chunks.passages {
		if p.row == nil || !p.isMoney || s.refuses(p) {
			continue
		}
		f := found{p, p.row.named(s.question), s.cover(p)}
		if p.isOther && f.level < 2 {
			continue
		}
		isEnough := f.level > 0 && f.cover >= minCover || f.level == 0 && f.cover >= minValue && s.hasSubject(p) || len(s.question.named) > 0 && p.point >= minPoint
		if isEnough || f.level == 2 && f.IsStale {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b found) int {
		switch {
		case a.level != b.level:
			return b.level - a.level
		case a.cover > b.cover+coverTie:
			return -1
		case b.cover > a.cover+coverTie:
			return 1
		case a.IsStale != b.IsStale:
			if a.IsStale {
				return 1
			}
			return -1
		}
		return 0
	})
	return out
}

// refuses says whether a row is no answer, however many words of the question it holds.
func (s scorer) refuses(p *passage) bool {
	r, q := p.row, s.question
	if r.isAccessory(q) || s.isOther(p) || !s.isWhichPrice(p) || !s.beginsAsAsked(p) || s.isCompound(p) {
		return true
	}
	isNamed := len(q.named) > 0
	wants, has := false, false
	for _, t := range q.terms {
		if t.weight == 0 {
			continue
		}
		switch {
		case t.isNumber():
			if (t.isName || !isNamed || t.dimension == "mbit" || t.dimension == "kw" || t.dimension == "gb") && r.has(t) == 0 {
				return true
			}
			continue
		case r.denies(t):
			return true
		}
		wants = wants || t.isWith
		has = has || t.isWith && r.has(t) > 0
	}
	return wants && !has
}

// isOther says whether a row names a more specific thing: the question says the beginning of its name,
// of two words at least, and the name goes on with a proper word.
func (s scorer) isOther(p *passage) bool {
	words := saidFirst(p.row.name, s.question.said)
	if words < 2 || p.Language == "de" || s.question.names(p.row.name) {
		return false
	}
	rest := p.row.proper[min(words, len(p.row.proper)):]
	return slices.Contains(rest, true) && words < p.row.shortLength
}

// beginsAsAsked says whether the name of a row is a name that the question says, or begins with one:
// "Kestrel with lamp" may be the Kestrel that is asked for.
func (s scorer) beginsAsAsked(p *passage) bool {
	return len(s.question.named) == 0 || slices.ContainsFunc(s.question.named, func(n string) bool {
		return strings.HasPrefix(p.row.name+" ", n+" ")
	})
}

// isCompound says whether the question joins the name to something that the row does not have: a "Kestrel
// repair" or the "repair of a Kestrel" is no Kestrel.
func (s scorer) isCompound(p *passage) bool {
	if s.question.language != p.Language || p.IsStale {
		return false
	}
	name := strings.Fields(p.row.name)
	name = name[:saidFirst(p.row.name, s.question.said)]
	words := strings.Fields(s.question.said)
	at := indexOf(words, name)
	if len(name) == 0 || at < 0 {
		return false
	}
	isForeign := func(w string) bool {
		isOfTrade := priceWords[w] || periodWords[w] || calendar[w] || !saysSomething(w)
		return !isOfTrade && p.row.has(term{stem: stem(w)}) == 0 && max(best(stem(w), p.heading), best(stem(w), p.context)) == 0
	}
	if after := at + len(name); after < len(words) && isForeign(words[after]) {
		return true
	}
	for at > 0 && articles[words[at-1]] {
		at--
	}
	return at > 1 && owners[words[at-1]] && isForeign(words[at-2])
}

// indexOf returns where some words begin among others, -1 when they do not stand there together.
func indexOf(words, part []string) int {
	for i := range len(words) - len(part) + 1 {
		if slices.Equal(words[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// isWhichPrice says whether a passage has the kind of price that is asked for: an exit fee is not the
// monthly fee, and the lowest price not the listed one.
func (s scorer) isWhichPrice(p *passage) bool {
	has := func(stem string) bool {
		return max(best(stem, p.own), best(stem, p.heading), best(stem, p.context)) > 0
	}
	for _, w := range s.question.special {
		if !has(w) {
			return false
		}
	}
	if s.question.language != "" && s.question.language != p.Language {
		return true
	}
	for _, w := range s.question.asked {
		if !has(w) && s.chunks.knows(w) {
			return false
		}
	}
	return true
}

// isByPart says whether a row has what is asked for only as a part or a condition of it, in a column that
// does not say whom or what the row is for. Several such rows share the part; its price is none of theirs.
func (s scorer) isByPart(p *passage) bool {
	isPart := false
	for _, t := range s.question.terms {
		if best(t.stem, p.heading) > 0 || best(t.stem, p.context) > 0 {
			return false
		}
		for _, c := range p.row.cells {
			if best(t.stem, c.key) > 0 || c.isFor && best(t.stem, c.value) > 0 || c.number == t.stem {
				return false
			}
			isPart = isPart || best(t.stem, c.value) > 0
		}
	}
	return isPart
}

// cover is the share of the question that a row and its headings hold.
func (s scorer) cover(p *passage) float64 {
	var sum, part float64
	isForeign := s.question.language != "" && s.question.language != p.Language
	for _, t := range s.question.terms {
		if t.isDenied {
			continue
		}
		has := max(p.row.has(t), headingShare*best(t.stem, p.heading), contextShare*best(t.stem, p.context))
		weight := t.weight
		if has == 0 && isForeign && !t.isName && !t.isNumber() {
			weight *= unknownPart
		}
		sum += weight
		part += weight * has
	}
	if sum == 0 {
		return 0
	}
	return part / sum
}

// hasSubject says whether a row that the question does not name is what it asks about: a value or a
// heading says so, or the question asks for nothing but columns.
func (s scorer) hasSubject(p *passage) bool {
	areColumns := true
	for _, t := range s.question.terms {
		inKey := false
		for _, c := range p.row.cells {
			if best(t.stem, c.value) > 0 || c.number == t.stem {
				return true
			}
			inKey = inKey || best(t.stem, c.key) > 0
		}
		if best(t.stem, p.heading) > 0 || best(t.stem, p.context) > 0 {
			return true
		}
		areColumns = areColumns && inKey
	}
	return areColumns
}
