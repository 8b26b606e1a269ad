package ingest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pages is a PDF reader that always finds the same.
type pages struct {
	texts []string
	err   error
}

func (p pages) Text(context.Context, io.Reader) ([]string, error) { return p.texts, p.err }

func TestReindex_ReadsEachPageOfAPDF(t *testing.T) {
	w := newWorld(t, map[string]string{"faq/Opening Hours.PDF": "%PDF"})
	w.PDF = pages{texts: []string{"We open\nat nine.\n\nWe close at\u00a0five.", "", "On Sunday we rest."}}
	if s := w.run(t); s.Status != Ready {
		t.Fatalf("%+v", s.Failures)
	}
	applied := w.store.applied[0]
	var got [][2]string
	for _, c := range applied.Chunks {
		got = append(got, [2]string{c.HeadingPath, c.Content})
	}
	want := [][2]string{{"Page 1", "We open\nat nine.\n\nWe close at\u00a0five."}, {"Page 3", "On Sunday we rest."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if applied.Source.Type != "faq" || applied.Source.Title == "" {
		t.Errorf("%+v", applied.Source)
	}
}

func TestReindex_RefusesAPDFByName(t *testing.T) {
	for name, tt := range map[string]struct {
		pdf  PDF
		want string
	}{
		"nobody reads PDFs":       {nil, "unsupported: PDF files are not read here"},
		"it shows pictures":       {pages{err: &Refusal{Reason: NoTextLayer}}, "no_text_layer"},
		"its pages are all empty": {pages{texts: []string{"", " \n "}}, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.pdf": "%PDF"})
			w.PDF = tt.pdf
			if s := w.run(t); len(s.Failures) != 1 || s.Failures[0].Key != "a.pdf" || s.Failures[0].Why() != tt.want {
				t.Errorf("%+v", s.Failures)
			}
		})
	}
	w := newWorld(t, map[string]string{"a.pdf": "%PDF"})
	away := errors.New("away")
	w.PDF = pages{err: away}
	if _, err := w.Run(t.Context(), Selection{All: true}); !errors.Is(err, away) {
		t.Errorf("an error of ours is not the document's: %v", err)
	}
}
