// Package eval measures the product on labelled data that nobody wrote for it.
package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"porchlight/functions/internal/redact"
)

// The floors of the kinds that are claimed.
const (
	MinRecall    = 0.99
	MinPrecision = 0.95
)

// sentence is a text with the personal data in it, as Presidio's generator of test data writes it.
type sentence struct {
	Text  string `json:"full_text"`
	Spans []struct {
		Type  string `json:"entity_type"`
		Value string `json:"entity_value"`
		Start int    `json:"start_position"` // in characters
		End   int    `json:"end_position"`
	} `json:"spans"`
}

// claim says which labels of the data are of a kind. A label counts for recall where its form is valid:
// the data also holds forms that no label announces.
type claim struct {
	kind    redact.Kind
	labels  []string                        // what has to be found
	also    []string                        // what may be found: the data calls it something else, and it is right
	isValid func(before, value string) bool // nil: all
}

// claims are the kinds that are measured. A handle, a profile and a literal are in no data.
func claims() []claim {
	return []claim{
		{kind: redact.Email, labels: []string{"EMAIL_ADDRESS"}},
		{kind: redact.Phone, labels: []string{"PHONE_NUMBER"}},
		{kind: redact.IBAN, labels: []string{"IBAN_CODE"}},
		{kind: redact.Card, labels: []string{"CREDIT_CARD"}},
		{kind: redact.URL, labels: []string{"DOMAIN_NAME"}},
		{
			kind: redact.Personal, labels: []string{"US_SSN", "US_DRIVER_LICENSE"},
			also: []string{"DATE_TIME", "PERSON", "GPE", "NRP", "AGE"},
		},
		{
			kind: redact.Address, labels: []string{"STREET_ADDRESS", "ADDRESS"},
			also: []string{"PERSON", "GPE", "LOCATION", "ZIP_CODE", "ORGANIZATION"},
			isValid: func(before, value string) bool {
				return labelled.MatchString(before) && strings.ContainsAny(value, "0123456789")
			},
		},
	}
}

// labelled is a label with a colon right before an address.
var labelled = regexp.MustCompile(`(?i)\baddress(?:es)?\b[^\n.:]{0,30}:\s*$`)

// Score is how well a kind was found.
type Score struct {
	Kind      redact.Kind `json:"kind"`
	Labelled  int         `json:"labelled"` // in the data, in a valid form
	Found     int         `json:"found"`    // of them, with every character that is a letter or a digit
	Recall    float64     `json:"recall"`   // 1 where nothing is labelled
	Reported  int         `json:"reported"` // finds of the kind
	Right     int         `json:"right"`    // of them, those that overlap a label of the kind
	Precision float64     `json:"precision"`
	OK        bool        `json:"ok"` // both reach the floor
}

// Half is the scores of a part of the sentences.
type Half struct {
	Name      string  `json:"name"` // "all", "even" or "odd"
	Sentences int     `json:"sentences"`
	Stopped   int     `json:"stopped"` // by the second look
	Scores    []Score `json:"scores"`
}

// ErrNoSentences is the error of a folder in which no file holds labelled sentences.
var ErrNoSentences = errors.New("no file with labelled sentences (full_text and spans)")

// Redaction finds all kinds in every labelled sentence of the JSON files below fsys, and scores all of
// them, those at even and those at odd places of their file.
func Redaction(fsys fs.FS) ([]Half, error) {
	halves := []Half{{Name: "all"}, {Name: "even"}, {Name: "odd"}}
	for i := range halves {
		for _, c := range claims() {
			halves[i].Scores = append(halves[i].Scores, Score{Kind: c.kind})
		}
	}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		var sentences []sentence
		if json.Unmarshal(text, &sentences) != nil {
			return nil // another sort of file
		}
		for i, s := range sentences {
			if s.Text == "" {
				continue
			}
			found := redact.Everything().Find(s.Text)
			_, stopped := redact.Everything().Redact([]string{s.Text})
			for _, h := range []*Half{&halves[0], &halves[1+i%2]} {
				h.add(s, found, stopped != nil)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read labelled sentences: %w", err)
	}
	if halves[0].Sentences == 0 {
		return nil, ErrNoSentences
	}
	for _, h := range halves {
		for i := range h.Scores {
			h.Scores[i].conclude()
		}
	}
	return halves, nil
}

// add scores one sentence.
func (h *Half) add(s sentence, found []redact.Found, isStopped bool) {
	h.Sentences++
	if isStopped {
		h.Stopped++
	}
	for i, c := range claims() {
		h.Scores[i].add(s, c, found)
	}
}

func (score *Score) add(s sentence, c claim, found []redact.Found) {
	var right []bool
	for _, f := range found {
		if f.Kind == c.kind {
			score.Reported++
			right = append(right, false)
		}
	}
	for _, label := range s.Spans {
		isKind := slices.Contains(c.labels, label.Type)
		if !isKind && !slices.Contains(c.also, label.Type) {
			continue
		}
		start, end := byteAt(s.Text, label.Start), byteAt(s.Text, label.End)
		n := 0
		for _, f := range found {
			if f.Kind == c.kind {
				right[n] = right[n] || f.Start < end && f.End > start
				n++
			}
		}
		if isKind && (c.isValid == nil || c.isValid(s.Text[:start], label.Value)) {
			score.Labelled++
			if isHidden(s.Text, start, end, found) {
				score.Found++
			}
		}
	}
	for _, r := range right {
		if r {
			score.Right++
		}
	}
}

// isHidden says that of the text from start to end no letter or digit is outside of what was found.
func isHidden(text string, start, end int, found []redact.Found) bool {
	for at, r := range text[start:end] {
		isInside := func(f redact.Found) bool { return f.Start <= start+at && start+at < f.End }
		if isReadable(r) && !slices.ContainsFunc(found, isInside) {
			return false
		}
	}
	return true
}

func isReadable(r rune) bool {
	return r >= utf8.RuneSelf || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// byteAt returns the byte at which the n-th character of text begins.
func byteAt(text string, n int) int {
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	return len(text)
}

func (score *Score) conclude() {
	score.Recall, score.Precision = 1, 1
	if score.Labelled > 0 {
		score.Recall = float64(score.Found) / float64(score.Labelled)
	}
	if score.Reported > 0 {
		score.Precision = float64(score.Right) / float64(score.Reported)
	}
	score.OK = score.Recall >= MinRecall && score.Precision >= MinPrecision
}
