package ingest

import (
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"porchlight/functions/internal/corpus"
)

// MaxBytes is the largest file that Load reads: 5 MB.
const MaxBytes = 5 << 20

// Load reads the file key from r and returns what it is and says. Its extension says how: Markdown
// (.md), plain text (.txt) or a table (.csv). Every error is a *Refusal.
func Load(key string, r io.Reader, d Defaults) (doc Document, err error) {
	defer func() {
		// The parsers are not ours: one document may break one, never the run.
		if p := recover(); p != nil {
			err = &Refusal{Key: key, Reason: Malformed, Detail: "its parser broke down", Err: fmt.Errorf("panic: %T", p)}
		}
	}()

	load, err := loaderOf(key)
	if err != nil {
		return Document{}, named(key, err)
	}
	text, err := read(r)
	if err != nil {
		return Document{}, named(key, err)
	}
	page, err := load(text)
	if err != nil {
		return Document{}, named(key, err)
	}
	source, err := describe(key, page, d)
	if err != nil {
		return Document{}, named(key, err)
	}
	doc = Document{Source: source, Sections: page.sections}
	if doc.isEmpty() {
		return Document{}, &Refusal{Key: key, Reason: Empty}
	}
	return doc, nil
}

// page is what a loader finds in the text of a file.
type page struct {
	facts    map[string]fact // what the file says about itself
	title    string          // its first top-level heading, if it has one
	sections []Section
}

func loaderOf(key string) (func(text string) (page, error), error) {
	switch extension := strings.ToLower(path.Ext(key)); extension {
	case ".md":
		return markdown, nil
	case ".txt":
		return plainText, nil
	case ".csv":
		return csvTable, nil
	case "":
		return nil, &Refusal{Reason: Unsupported, Detail: "the file has no extension"}
	default:
		return nil, &Refusal{Reason: Unsupported, Detail: clip(extension) + " files are not read"}
	}
}

// read returns the text of r without a byte order mark. // O12
func read(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	switch {
	case err != nil:
		return "", &Refusal{Reason: Unreadable, Err: err}
	case len(b) > MaxBytes:
		return "", &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("more than %d MB", MaxBytes>>20)}
	case !utf8.Valid(b):
		return "", &Refusal{Reason: NotUTF8}
	}
	return strings.TrimPrefix(string(b), "\uFEFF"), nil
}

func plainText(text string) (page, error) {
	blocks := paragraphs(corpus.Normalise(text))
	if blocks == nil {
		return page{}, nil
	}
	return page{sections: []Section{{Blocks: blocks}}}, nil
}

// paragraphs cuts normalised text at its blank lines.
func paragraphs(text string) []Block {
	var blocks []Block
	for _, p := range strings.Split(text, "\n\n") {
		if p = strings.Trim(p, "\n"); p != "" {
			blocks = append(blocks, Block{Kind: Paragraph, Text: p})
		}
	}
	return blocks
}

// named gives a loader's refusal the key of its document.
func named(key string, err error) error {
	if r, ok := err.(*Refusal); ok {
		r.Key = key
	}
	return err
}

// oneLine returns normalised text on one line. White space other than line breaks stays as it is.
func oneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(corpus.Normalise(s), "\n", " "))
}

// clip shortens a name that goes into a message.
func clip(s string) string {
	const most = 40
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
