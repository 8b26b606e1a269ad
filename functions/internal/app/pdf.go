package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/pdf"
)

// pdfReader reads PDF files for ingest.
type pdfReader struct{ *pdf.Reader }

// newPDF returns a reader whose child is this program: its main must call pdf.Child first. PDFium is
// compiled into the user's cache; on Lambda, which has none, into the folder for temporary files.
func newPDF() ingest.PDF {
	executable, err := os.Executable()
	if err != nil {
		return nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return pdfReader{&pdf.Reader{Executable: executable, Cache: filepath.Join(cache, "porchlight", "pdfium")}}
}

// refusalReasons are those of pdf that ingest calls otherwise.
var refusalReasons = map[string]string{
	pdf.NoText: ingest.NoTextLayer, pdf.Unavailable: ingest.Unreadable, pdf.Cancelled: ingest.Unreadable,
}

// Text returns the text of each page.
func (r pdfReader) Text(ctx context.Context, file io.Reader) ([]string, error) {
	pages, err := r.Reader.Text(ctx, file)
	var refusal *pdf.Refusal
	if errors.As(err, &refusal) {
		return nil, &ingest.Refusal{
			Reason: cmp.Or(refusalReasons[refusal.Reason], refusal.Reason), Detail: refusal.Detail, Err: refusal.Err,
		}
	}
	return pages, err
}
