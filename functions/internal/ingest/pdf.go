package ingest

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"porchlight/functions/internal/corpus"
)

// PDF reads the text layer of a PDF, page by page; a page without text is "". Its errors are *Refusal,
// without a key. It stands apart from the loaders since a PDF needs a process of its own.
type PDF interface {
	Text(ctx context.Context, file io.Reader) (pages []string, err error)
}

func isPDF(key string) bool { return strings.EqualFold(path.Ext(key), ".pdf") }

// loadPDF makes a section of each page that has text. A line break inside a paragraph is only a wrap.
func (r *Reindexer) loadPDF(ctx context.Context, key string, file io.Reader) (Document, error) {
	if r.PDF == nil {
		return Document{}, &Refusal{Key: key, Reason: Unsupported, Detail: "PDF files are not read here"}
	}
	pages, err := r.PDF.Text(ctx, file)
	if err != nil {
		return Document{}, named(key, err)
	}
	var p page
	for i, text := range pages {
		if blocks := paragraphs(corpus.Normalise(text)); blocks != nil {
			p.sections = append(p.sections, Section{Headings: []string{fmt.Sprintf("Page %d", i+1)}, Blocks: blocks})
		}
	}
	return p.document(key, r.Defaults)
}

func (r *Reindexer) load(ctx context.Context, key string, file io.Reader) (Document, error) {
	if isPDF(key) {
		return r.loadPDF(ctx, key, file)
	}
	return Load(key, file, r.Defaults)
}
