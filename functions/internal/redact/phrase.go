package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrasebook finds phrases and what belongs to them. It looks only where a phrase's first word stands:
// most text has none, and a pattern that is tried at each letter is slow.
type phrasebook struct {
	first   []string // first words, in lower case
	pattern *regexp.Regexp
}

// maxPhrase is the most bytes that a phrase and what belongs to it are searched in.
const maxPhrase = 480

// newPhrasebook takes phrases, separated by "|", and the pattern of what follows them. Capitals count
// in a phrase that has nothing else.
func newPhrasebook(phrases, rest string) phrasebook {
	var b phrasebook
	var patterns []string
	for phrase := range strings.SplitSeq(phrases, "|") {
		first := strings.ToLower(strings.FieldsFunc(phrase, isNoLetter)[0])
		if !slices.Contains(b.first, first) {
			b.first = append(b.first, first)
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(phrase), " ", `\s`)
		if phrase != strings.ToUpper(phrase) {
			pattern = "(?i:" + pattern + ")"
		}
		patterns = append(patterns, pattern)
	}
	slices.SortStableFunc(patterns, func(a, b string) int { return len(b) - len(a) })
	b.pattern = regexp.MustCompile(`^(?:` + strings.Join(patterns, "|") + `)` + rest)
	return b
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// find returns the places of the groups of the pattern, as regexp does, wherever a phrase stands.
func (b phrasebook) find(v view) (all [][]int) {
	for _, word := range b.first {
		for _, at := range v.words[word] {
			window := v.text[at:min(len(v.text), int(at)+maxPhrase)]
			m := b.pattern.FindStringSubmatchIndex(window)
			if m == nil {
				continue
			}
			for i := range m {
				if m[i] >= 0 {
					m[i] += int(at)
				}
			}
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	return all
}

// wordsOf returns where each word of letters begins, by the word in lower case.
func wordsOf(text string) map[string][]int32 {
	words := map[string][]int32{}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if isNoLetter(r) {
			at += size
			continue
		}
		end := at + size
		for end < len(text) {
			if r, size = utf8.DecodeRuneInString(text[end:]); isNoLetter(r) {
				break
			}
			end += size
		}
		word := strings.ToLower(text[at:end])
		words[word] = append(words[word], int32(at))
		at = end
	}
	return words
}
