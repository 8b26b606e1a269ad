package ingest

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/redact"
)

// Redact maps a private document to what may be stored of it: title, headings, text, address and
// metadata have a mark such as [email] where the policy takes something out. Any other document stays
// as it is. Without a reviewed policy, and when the second look finds something that was left, there is
// no document. Every error is a *Refusal that names a kind and a place, never a text.
func Redact(doc Document, p redact.Policy, today time.Time) (redacted Document, err error) {
	key := doc.Source.Key
	defer func() {
		if broken := recover(); broken != nil {
			redacted, err = Document{}, &Refusal{Key: key, Reason: NotRedacted, Detail: "redaction broke down", Err: fmt.Errorf("panic: %T", broken)}
		}
	}()
	switch {
	case doc.Source.Visibility != corpus.Private:
		return doc, nil
	case !p.IsThere():
		return Document{}, &Refusal{Key: key, Reason: PolicyMissing, Detail: "a private document needs a " + redact.PolicyFile + " that somebody has reviewed"}
	case !p.IsReviewed(today):
		return Document{}, &Refusal{Key: key, Reason: PolicyNotReviewed, Detail: redact.PolicyFile + " needs reviewer and reviewed_at, a day that is not to come"}
	}
	if err := checkKey(key, p); err != nil {
		return Document{}, err
	}
	doc = clone(doc)
	fields := fieldsOf(&doc)
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.text
	}
	after, err := p.Redact(texts)
	if err != nil {
		return Document{}, notRedacted(key, err, fields)
	}
	for i, f := range fields {
		switch {
		case after[i] == f.text:
		case f.set == nil:
			return Document{}, &Refusal{Key: key, Reason: NotRedacted, Detail: "personal data in " + f.where}
		default:
			f.set(after[i])
		}
	}
	// an address with a gap leads nowhere
	if address, err := p.Redact([]string{doc.Source.URL}); err != nil || address[0] != doc.Source.URL {
		doc.Source.URL = ""
	}
	return doc, nil
}

// checkKey refuses a file whose name tells something: the key is a document's identity, so it can't be
// changed here. The refusal hides it.
func checkKey(key string, p redact.Policy) error {
	after, err := p.Without(redact.URL).Redact([]string{key})
	if err == nil && after[0] == key {
		return nil
	}
	hidden := path.Join(path.Dir(key), "[redacted]"+path.Ext(key))
	if again, err := p.Redact([]string{hidden}); err != nil || again[0] != hidden {
		hidden = "[redacted]"
	}
	return &Refusal{Key: hidden, hides: key, Reason: NotRedacted, Detail: "personal data in the name of the file: rename it"}
}

func notRedacted(key string, err error, fields []field) *Refusal {
	var left *redact.Survivor
	where, what := "the document", "personal data"
	if errors.As(err, &left) {
		what = strings.ReplaceAll(string(left.Kind), "_", " ")
		if left.Part >= 0 {
			where = fields[left.Part].where
		}
	}
	return &Refusal{Key: key, Reason: NotRedacted, Detail: fmt.Sprintf(
		"%s is left in %s: take it out, or list it in %s", what, where, redact.PolicyFile)}
}

// field is a text of a document.
type field struct {
	where string
	text  string
	set   func(string) // nil: it can't be changed
}

// fieldsOf returns every text of a document but key and address, in reading order, so that a label in a
// heading is read with what it announces.
func fieldsOf(doc *Document) []field {
	fields := []field{{"the title", doc.Source.Title, func(s string) { doc.Source.Title = oneLine(s) }}}
	for i := range doc.Sections {
		section := &doc.Sections[i]
		for j, heading := range section.Headings {
			fields = append(fields, field{
				fmt.Sprintf("a heading of section %d", i+1), heading, func(s string) { section.Headings[j] = oneLine(s) },
			})
		}
		for j, block := range section.Blocks {
			fields = append(fields, field{
				fmt.Sprintf("the text of section %d", i+1), block.Text, func(s string) { section.Blocks[j].Text = corpus.Normalise(s) },
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Source.Metadata)) {
		fields = append(fields, factFields(name, doc.Source.Metadata[name], func(v any) { doc.Source.Metadata[name] = v })...)
	}
	return fields
}

// factFields returns the texts of a fact that became metadata. Its name is read as the label of its
// value.
func factFields(name string, value any, set func(any)) []field {
	const where = "the metadata"
	switch value := value.(type) {
	case map[string]any:
		var fields []field
		for _, inner := range slices.Sorted(maps.Keys(value)) {
			fields = append(fields, factFields(inner, value[inner], func(v any) { value[inner] = v })...)
		}
		return append([]field{{"the name of a fact", name, nil}}, fields...)
	case []any:
		var fields []field
		for i := range value {
			fields = append(fields, factFields(name, value[i], func(v any) { value[i] = v })...)
		}
		return fields
	default:
		return []field{
			{"the name of a fact", name + ":", nil},
			{where, fmt.Sprint(value), func(s string) { set(s) }},
		}
	}
}

// clone returns a document that shares nothing that Redact changes.
func clone(doc Document) Document {
	doc.Source.Metadata, _ = cloneFact(doc.Source.Metadata).(map[string]any)
	doc.Sections = slices.Clone(doc.Sections)
	for i := range doc.Sections {
		doc.Sections[i].Headings = slices.Clone(doc.Sections[i].Headings)
		doc.Sections[i].Blocks = slices.Clone(doc.Sections[i].Blocks)
	}
	return doc
}

func cloneFact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		copied := make(map[string]any, len(value))
		for name, inner := range value {
			copied[name] = cloneFact(inner)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, inner := range value {
			copied[i] = cloneFact(inner)
		}
		return copied
	}
	return value
}

// quiet takes what a policy would take out of the words of a refusal: they may quote a file that turns
// out to be private. It is for documents that can't be read, of which nobody knows.
func quiet(err error, p redact.Policy) error {
	var r *Refusal
	if !errors.As(err, &r) || r.Detail == "" {
		return err
	}
	if !p.IsThere() {
		p = redact.Everything()
	}
	if after, failed := p.Redact([]string{r.Detail}); failed == nil {
		r.Detail = after[0]
	} else {
		r.Detail = ""
	}
	return err
}

// listed returns the keys whose sources may stay: what redaction refused is no longer stored, in
// whatever version.
func listed(keys []string, failures []*Refusal) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(failures, func(r *Refusal) bool { return r.withholds(key) })
	})
}
