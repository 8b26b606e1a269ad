package model

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxWordPieces is the longest text that MiniLM reads, [CLS] and [SEP] included: the
// max_seq_length of sentence-transformers/all-MiniLM-L6-v2. What is longer is cut.
const MaxWordPieces = 256

// WordPiece turns text into the token ids of an uncased BERT vocabulary. It is read-only after
// loading and safe for concurrent use.
type WordPiece struct {
	heads    map[string]int64 // pieces that begin a word
	tails    map[string]int64 // pieces that continue one, without their prefix
	markers  map[string]int64 // [CLS], [SEP], …: recognised in raw text, before any cleaning
	marker   *regexp.Regexp
	maxRunes int // longer words are unknown as a whole
	cls, sep int64
	unknown  int64
}

// tokenizerFile is the part of a Hugging Face tokenizer.json that matters here.
type tokenizerFile struct {
	AddedTokens []struct {
		ID      int64  `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type         string `json:"type"`
		CleanText    bool   `json:"clean_text"`
		ChineseChars bool   `json:"handle_chinese_chars"`
		StripAccents *bool  `json:"strip_accents"` // null: as lowercase
		Lowercase    bool   `json:"lowercase"`
	} `json:"normalizer"`
	Model struct {
		Type     string           `json:"type"`
		Unknown  string           `json:"unk_token"`
		Prefix   string           `json:"continuing_subword_prefix"`
		MaxRunes int              `json:"max_input_chars_per_word"`
		Vocab    map[string]int64 `json:"vocab"`
	} `json:"model"`
}

// LoadWordPiece reads a tokenizer.json. The file's own truncation and padding are ignored. It is an
// error when the file describes another kind of tokenizer than uncased BERT.
func LoadWordPiece(path string) (*WordPiece, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	var file tokenizerFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	words, err := newWordPiece(file)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	return words, nil
}

func newWordPiece(file tokenizerFile) (*WordPiece, error) {
	n := file.Normalizer
	if file.Model.Type != "WordPiece" || file.Model.Prefix == "" || n.Type != "BertNormalizer" ||
		!n.CleanText || !n.ChineseChars || !n.Lowercase ||
		(n.StripAccents != nil && !*n.StripAccents) {
		return nil, fmt.Errorf("not an uncased BERT WordPiece tokenizer")
	}
	w := &WordPiece{
		heads:    make(map[string]int64, len(file.Model.Vocab)),
		tails:    make(map[string]int64, len(file.Model.Vocab)),
		markers:  make(map[string]int64, len(file.AddedTokens)),
		maxRunes: file.Model.MaxRunes,
	}
	for piece, id := range file.Model.Vocab {
		if tail, ok := strings.CutPrefix(piece, file.Model.Prefix); ok {
			w.tails[tail] = id
		} else {
			w.heads[piece] = id
		}
	}
	literals := make([]string, 0, len(file.AddedTokens))
	for _, token := range file.AddedTokens {
		w.markers[token.Content] = token.ID
		literals = append(literals, regexp.QuoteMeta(token.Content))
	}
	w.marker = regexp.MustCompile(strings.Join(literals, "|"))
	for name, id := range map[string]*int64{"[CLS]": &w.cls, "[SEP]": &w.sep, file.Model.Unknown: &w.unknown} {
		var ok bool
		if *id, ok = w.markers[name]; !ok {
			return nil, fmt.Errorf("the token %q is missing", name)
		}
	}
	return w, nil
}

// Encode gives [CLS], the pieces of the text and [SEP]: at least 2 ids, at most MaxWordPieces, no
// padding. The ids equal those of Hugging Face's tokenizers for the same file, except around accents
// and punctuation newer than Unicode 8, which that library's tables do not know.
func (w *WordPiece) Encode(text string) []int64 {
	pieces := w.pieces(text)
	pieces = pieces[:min(len(pieces), MaxWordPieces-2)]
	ids := make([]int64, 0, len(pieces)+2)
	ids = append(ids, w.cls)
	ids = append(ids, pieces...)
	return append(ids, w.sep)
}

// Count is the length that Encode would give if it did not cut: a text of which the model reads
// every word has Count(text) <= MaxWordPieces.
func (w *WordPiece) Count(text string) int { return len(w.pieces(text)) + 2 }

func (w *WordPiece) pieces(text string) []int64 {
	var ids []int64
	at := 0
	for _, span := range w.marker.FindAllStringIndex(text, -1) {
		ids = w.appendText(ids, text[at:span[0]])
		ids = append(ids, w.markers[text[span[0]:span[1]]])
		at = span[1]
	}
	return w.appendText(ids, text[at:])
}

// appendText splits at spaces and makes each punctuation mark a word of its own.
func (w *WordPiece) appendText(ids []int64, text string) []int64 {
	text = normaliseBERT(text)
	start := 0
	for i, r := range text {
		if r != ' ' && !isPunctuation(r) {
			continue
		}
		ids = w.appendWord(ids, text[start:i])
		start = i + utf8.RuneLen(r)
		if r != ' ' {
			ids = w.appendWord(ids, text[i:start])
		}
	}
	return w.appendWord(ids, text[start:])
}

// appendWord cuts a word greedily into its longest known pieces; a word with one unknown stretch is
// unknown as a whole.
func (w *WordPiece) appendWord(ids []int64, word string) []int64 {
	if word == "" {
		return ids
	}
	if utf8.RuneCountInString(word) > w.maxRunes {
		return append(ids, w.unknown)
	}
	whole, vocabulary := len(ids), w.heads
	for word != "" {
		end := len(word)
		id, ok := vocabulary[word]
		for !ok && end > 0 {
			_, size := utf8.DecodeLastRuneInString(word[:end])
			end -= size
			id, ok = vocabulary[word[:end]]
		}
		if end == 0 {
			return append(ids[:whole], w.unknown)
		}
		ids, word, vocabulary = append(ids, id), word[end:], w.tails
	}
	return ids
}

// normaliseBERT drops controls, makes every white space a space, sets Chinese characters apart,
// strips accents and lowers the case, in BERT's order.
func normaliseBERT(text string) string {
	var clean strings.Builder
	clean.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t', r == '\n', r == '\r':
			clean.WriteByte(' ')
		case r == utf8.RuneError, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			// U+FFFD is what Go reads for broken UTF-8, too.
		case unicode.IsSpace(r):
			clean.WriteByte(' ')
		case isChinese(r):
			clean.WriteByte(' ')
			clean.WriteRune(r)
			clean.WriteByte(' ')
		default:
			clean.WriteRune(r)
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(clean.String()))
}

// isPunctuation: BERT counts every ASCII symbol as punctuation, elsewhere only Unicode's P classes.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	}
	return unicode.IsPunct(r)
}

// isChinese holds the blocks that BERT splits into single characters; 2B820–2B91F is missing in
// the reference, so it is missing here.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
