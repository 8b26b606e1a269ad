package model

import (
	"strings"
	"unicode/utf8"
)

// DenseWeight says how far to trust the cosine of a question against its words, 0.25 to 2:
// clip(0.75·(c − 1), 0.25, 2), where c is the characters in known word pieces of the question divided
// by its word pieces, punctuation left out, an unknown word counting as one piece. English comes in
// long pieces; a language that the model does not know falls apart into single letters. The formula was
// fitted on open question sets in English, German, Spanish, Arabic, Russian and Chinese, where one
// fixed weight spoilt the languages that MiniLM does not know.
func (w *WordPiece) DenseWeight(question string) float64 {
	characters, pieces := 0, 0
	for word := range strings.FieldsFuncSeq(normaliseBERT(question), func(r rune) bool {
		return r == ' ' || isPunctuation(r)
	}) {
		ids := w.appendWord(nil, word)
		pieces += len(ids)
		if ids[0] != w.unknown {
			characters += utf8.RuneCountInString(word)
		}
	}
	if pieces == 0 {
		return 0.25
	}
	return min(max(0.75*(float64(characters)/float64(pieces)-1), 0.25), 2)
}
