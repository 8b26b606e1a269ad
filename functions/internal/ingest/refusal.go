package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"porchlight/functions/internal/problem"
)

// The reasons of a Refusal. They are stable: people and programs read them in a run's report.
const (
	Empty           = "empty"               // no text in it
	TooLarge        = "too_large"           // more bytes, entries or cells than a document may have
	Undecodable     = "undecodable"         // its bytes are text in no encoding that can be told
	Unsupported     = "unsupported"         // no loader reads this kind of file
	Malformed       = "malformed"           // its table, front matter or facts can't be read
	Damaged         = "damaged"             // the file is broken: a part of it is missing or wrong
	Encrypted       = "encrypted"           // it opens only with a password
	NoTextLayer     = "no_text_layer"       // it shows pictures of text
	NoContent       = "no_readable_content" // there is text in it, but nothing that a person came for
	TimedOut        = "timed_out"           // reading it took longer than a document may take
	Missing         = "missing"             // the library has no document of that key
	Unreadable      = "unreadable"          // the library could not deliver it
	EmbeddingFailed = "embedding_failed"    // no vectors, so nothing of it was stored
	StoreFailed     = "store_failed"        // the database did not take it

	PolicyMissing     = "redaction_policy_missing"      // private, and the brand has no redaction.yaml
	PolicyNotReviewed = "redaction_policy_not_reviewed" // private, and nobody has put a name under it
	NotRedacted       = "not_redacted"                  // private, and personal data is left in it
)

// Refusal says why one document was not indexed. What was indexed of it before stays, unless redaction
// refused it: then a run over the whole library removes it. Apart from Err it holds nothing of the
// document but names: of a column, a field, an unknown type.
type Refusal struct {
	Key    string // the document's key in the library
	Reason string // one of the constants above
	Line   int    // line of the file, from 1; 0 where no line is to blame
	Detail string // one short clause for the person who has to repair it; may be empty
	Err    error  // the cause, for the log; may be nil

	hides string // the key in the library, where Key must not tell it
}

// withholds says that redaction refused the document of that key.
func (r *Refusal) withholds(key string) bool {
	return cmp.Or(r.hides, r.Key) == key && slices.Contains([]string{PolicyMissing, PolicyNotReviewed, NotRedacted}, r.Reason)
}

// Error names the document, the reason and the cause.
func (r *Refusal) Error() string {
	s := r.Key + ": " + r.Why()
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Why returns reason, line and detail, such as "malformed: line 7: 3 cells, the header has 4". It is
// what a run's report shows.
func (r *Refusal) Why() string {
	parts := []string{r.Reason}
	if r.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", r.Line))
	}
	if r.Detail != "" {
		parts = append(parts, r.Detail)
	}
	return strings.Join(parts, ": ")
}

// malformed returns a refusal without a key, which Load fills in.
func malformed(line int, format string, args ...any) *Refusal {
	return &Refusal{Reason: Malformed, Line: line, Detail: fmt.Sprintf(format, args...)}
}

// refuse makes a Refusal of err, whose text may hold content: only its code is shown, if it has one.
func refuse(key, reason, detail string, err error) *Refusal {
	var p *problem.Error
	if errors.As(err, &p) {
		detail = strings.TrimPrefix(detail+": "+string(p.Code), ": ")
	}
	return &Refusal{Key: key, Reason: reason, Detail: detail, Err: err}
}
