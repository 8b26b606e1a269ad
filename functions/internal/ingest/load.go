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

// Load reads the file key from r and returns what it is and says. Its extension says how. Every error is
// a *Refusal. A PDF is not read here: see PDF.
func Load(key string, r io.Reader, d Defaults) (doc Document, err error) {
	defer func() {
		// The parsers are not ours: one document may break one, never the run. // O05
		if p := recover(); p != nil {
			err = &Refusal{Key: key, Reason: Malformed, Detail: "its parser broke down", Err: fmt.Errorf("panic: %T", p)}
		}
	}()

	load, err := loaderOf(key)
	if err != nil {
		return Document{}, named(key, err)
	}
	raw, err := read(r)
	if err != nil {
		return Document{}, named(key, err)
	}
	page, err := load(raw)
	if err != nil {
		return Document{}, named(key, err)
	}
	return page.document(key, d)
}

// document is what the page makes of the file key.
func (page page) document(key string, d Defaults) (Document, error) {
	source, err := describe(key, page, d)
	if err != nil {
		return Document{}, named(key, err)
	}
	if page.isGuessed && !isWestern(source.Language) {
		return Document{}, named(key, undecodable("Windows-1252, which it would be, does not write its language"))
	}
	doc := Document{Source: source, Sections: page.sections}
	if doc.isEmpty() {
		return Document{}, &Refusal{Key: key, Reason: Empty}
	}
	if doc.isStandIn() {
		return Document{}, &Refusal{Key: key, Reason: NoContent, Detail: "it holds only a word for nothing"}
	}
	if doc.holds(utf8.RuneError) {
		return Document{}, named(key, undecodable("U+FFFD stands where a character was lost"))
	}
	return doc, nil
}

// page is what a loader finds in a file.
type page struct {
	facts    map[string]fact // what the file says about itself
	title    string          // its first top-level heading, if it has one
	sections []Section

	isGuessed bool // its bytes were read as Windows-1252, which nothing says
}

// A loader makes a page of the bytes of a file. It refuses what it can't read as a whole.
type loader func(raw []byte) (page, error)

// loaders returns the loader of each extension. One more format is one more line.
func loaders() map[string]loader {
	return map[string]loader{
		".md":  fromText(markdown),
		".mdx": fromText(mdxPage),
		".txt": fromText(plainText),
		".csv": fromText(csvTable),
		".tsv": fromText(tsvTable),

		".html": htmlPage,
		".htm":  htmlPage,
		".xlsx": xlsxPage,
		".json": fromText(jsonPage),
	}
}

// fromText makes a loader of one that reads decoded text.
func fromText(load func(text string) (page, error)) loader {
	return func(raw []byte) (page, error) {
		text, err := decode(raw, "")
		if err != nil {
			return page{}, err
		}
		p, err := load(text)
		p.isGuessed = isGuessed(raw)
		return p, err
	}
}

func loaderOf(key string) (loader, error) {
	extension := strings.ToLower(path.Ext(key))
	if load, ok := loaders()[extension]; ok {
		return load, nil
	}
	if extension == "" {
		return nil, &Refusal{Reason: Unsupported, Detail: "the file has no extension"}
	}
	return nil, &Refusal{Reason: Unsupported, Detail: clip(extension) + " files are not read"}
}

func read(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	switch {
	case err != nil:
		return nil, &Refusal{Reason: Unreadable, Err: err}
	case len(b) > MaxBytes:
		return nil, &Refusal{Reason: TooLarge, Detail: fmt.Sprintf("more than %d MB", MaxBytes>>20)}
	}
	return b, nil
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
