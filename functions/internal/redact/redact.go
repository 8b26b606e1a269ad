package redact

import (
	"slices"
	"strings"
)

// span is a find: a part of a source.
type span struct {
	start, end int
	kind       Kind
}

// finders say how the kinds but literals are found.
var finders = map[Kind]func(view) [][2]int{
	IBAN: ibans, Card: cards, Email: emails, Phone: phones, Personal: personalDetails, Address: addresses,
	Profile: profiles, Handle: names, URL: urls,
}

// find returns everything in the text that the policy takes out, in order and without overlaps. What
// overlaps becomes one span of the kind of its longest part.
func (p Policy) find(text string) []span {
	v := look(text)
	var all []span
	add := func(kind Kind, found [][2]int) {
		for _, f := range found {
			start, end := v.source(f[0], f[1])
			all = append(all, span{start, end, kind})
		}
	}
	if len(p.literals) > 0 {
		letters := skeletonOf(v)
		for _, l := range p.literals {
			add(Literal, l.in(letters))
		}
	}
	for _, kind := range Kinds() {
		if p.takes(kind) {
			add(kind, finders[kind](v))
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return a.start - b.start })
	var merged []span
	longest := 0
	for _, s := range all {
		last := len(merged) - 1
		if last < 0 || s.start >= merged[last].end {
			merged = append(merged, s)
			longest = s.end - s.start
			continue
		}
		merged[last].end = max(merged[last].end, s.end)
		if s.end-s.start > longest {
			merged[last].kind, longest = s.kind, s.end-s.start
		}
	}
	return merged
}

// between joins the parts of a document for finding: a label may stand in a heading and what it
// announces in the text below.
const between = "\n\n"

// maxRounds bounds how often a text is looked through again. Each round leaves less to find; two are
// enough for all but texts made to need more.
const maxRounds = 16

// Survivor is the error of a text in which something was left. It holds nothing of the text.
type Survivor struct {
	Kind Kind
	Part int // the first part in which it is seen alone; -1 when it reaches over several
}

// Error names the kind.
func (s *Survivor) Error() string { return string(s.Kind) + " was left after redaction" }

// Redact returns the parts of a document with a mark such as [email] in place of everything that the
// policy takes out. Parts are read as one text, in order. The error is a *Survivor when the second
// look, at a copy in which spellings that hide something are undone, finds anything. To redact what is
// redacted changes nothing.
func (p Policy) Redact(parts []string) ([]string, error) {
	parts = slices.Clone(parts)
	for range maxRounds {
		found := p.find(strings.Join(parts, between))
		if len(found) == 0 {
			if kind, ok := p.left(strings.Join(parts, between)); ok {
				return nil, &Survivor{kind, p.partWith(kind, parts)}
			}
			return parts, nil
		}
		replace(parts, found)
	}
	return nil, &Survivor{p.find(strings.Join(parts, between))[0].kind, -1}
}

// replace puts a mark in each part that a find reaches into.
func replace(parts []string, found []span) {
	offset := 0
	for i, part := range parts {
		end := offset + len(part)
		for len(found) > 0 && found[0].end <= offset {
			found = found[1:]
		}
		var b strings.Builder
		at := offset
		for _, f := range found {
			if f.start >= end {
				break
			}
			if f.end <= offset {
				continue
			}
			start := max(f.start, offset)
			b.WriteString(part[at-offset : start-offset])
			b.WriteString(f.kind.mark())
			at = min(f.end, end)
		}
		b.WriteString(part[at-offset:])
		parts[i] = b.String()
		offset = end + len(between)
	}
}

// Find returns the kinds and places of what the policy takes out of a text, for measuring.
func (p Policy) Find(text string) []Found {
	var all []Found
	for _, s := range p.find(text) {
		all = append(all, Found{s.kind, s.start, s.end})
	}
	return all
}

// Found is a find: the bytes from Start up to End.
type Found struct {
	Kind       Kind
	Start, End int
}
