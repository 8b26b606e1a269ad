package ingest

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"porchlight/functions/internal/corpus"
)

// Defaults says what a document is that does not say it itself.
type Defaults struct {
	Language   string            // ISO 639-1; English when empty
	Visibility corpus.Visibility // corpus.Tenant when empty
	Today      time.Time         // no document was verified after it; zero: not checked
	Types      map[string]string // first folder of the key → source type, the usual ones when nil
}

// fact is one thing that a file says about itself, spelled as in the file.
type fact struct {
	value string
	line  int // of the file, from 1
}

// The most characters that are stored of a title and an address.
const (
	maxTitle = 500
	maxURL   = 2000
)

// The names of the facts that a source is made of. Others become its metadata.
const (
	factTitle      = "title"
	factType       = "type"
	factLanguage   = "language"
	factVisibility = "visibility"
	factURL        = "url"
	factVerifiedAt = "verified_at"
	factValidFrom  = "valid_from"
	factValidTo    = "valid_to"
)

func knownFacts() []string {
	return []string{
		factTitle, factType, factLanguage, factVisibility, factURL, factVerifiedAt, factValidFrom,
		factValidTo,
	}
}

func sourceTypes() []string {
	return []string{"price", "objection", "script", "policy", "faq", "article"}
}

func visibilities() []corpus.Visibility {
	return []corpus.Visibility{corpus.Public, corpus.Tenant, corpus.Private}
}

// usualFolders returns the source type of the folders that every brand may have.
func usualFolders() map[string]string {
	return map[string]string{
		"prices": "price", "objections": "objection", "scripts": "script", "policies": "policy",
		"faq": "faq", "articles": "article",
	}
}

// describe makes the source of a page from its facts, its place in the library and the defaults. A
// fact without a value counts as not given.
func describe(key string, p page, d Defaults) (corpus.Source, error) {
	f := given(p.facts)
	if d.Types == nil {
		d.Types = usualFolders()
	}
	folder, _, _ := strings.Cut(path.Dir(key), "/")
	s := corpus.Source{
		Key:        key,
		Type:       cmp.Or(f[factType].value, d.Types[folder], "article"),
		Title:      cmp.Or(f[factTitle].value, p.title, titleOf(key)),
		URL:        f[factURL].value,
		Language:   cmp.Or(f[factLanguage].value, d.Language, "en"),
		Visibility: cmp.Or(corpus.Visibility(f[factVisibility].value), d.Visibility, corpus.Tenant),
		Metadata:   others(f),
	}
	switch {
	case !slices.Contains(sourceTypes(), s.Type):
		return s, malformed(f[factType].line, "unknown type %q", clip(s.Type))
	case !slices.Contains(visibilities(), s.Visibility):
		return s, malformed(f[factVisibility].line, "unknown visibility %q", clip(string(s.Visibility)))
	case !isLanguage(s.Language):
		return s, malformed(f[factLanguage].line, "unknown language %q", clip(s.Language))
	case s.URL != "" && !isWebAddress(s.URL):
		return s, malformed(f[factURL].line, "url is not an http or https address")
	case utf8.RuneCountInString(s.Title) > maxTitle:
		return s, malformed(f[factTitle].line, "title has more than %d characters", maxTitle)
	case utf8.RuneCountInString(s.URL) > maxURL:
		return s, malformed(f[factURL].line, "url has more than %d characters", maxURL)
	}
	if err := checkNames(f); err != nil {
		return s, err
	}
	return s, setDates(&s, f, d.Today)
}

// checkNames refuses a name that is almost one of our facts: a verified_at that is spelled wrong would
// be forgotten in silence.
func checkNames(f map[string]fact) error {
	for name, it := range f {
		for _, known := range knownFacts() {
			if d := distance(name, known); d > 0 && d <= 2 && len(known) > 4 {
				return malformed(it.line, "unknown fact %q: is it %s?", clip(name), known)
			}
		}
	}
	return nil
}

// distance is the number of letters to insert, delete or replace to get from a to b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// isFactOfData says whether a name in data that was not written for us, such as a web page or JSON, is
// one of our facts. A date or a visibility counts even when it is wrong or nearly spelled so, and is
// then refused; a type, language or address counts only when it is one.
func isFactOfData(name, value string) bool {
	switch name {
	case factTitle:
		return true
	case factType:
		return slices.Contains(sourceTypes(), value)
	case factLanguage:
		return isLanguage(value)
	case factURL:
		return isWebAddress(value)
	}
	for _, known := range []string{factVisibility, factVerifiedAt, factValidFrom, factValidTo} {
		if distance(name, known) <= 2 {
			return true
		}
	}
	return false
}

// given returns the facts that have a value, each on one line and normalised.
func given(facts map[string]fact) map[string]fact {
	f := map[string]fact{}
	for name, it := range facts {
		if value := oneLine(it.value); value != "" {
			f[oneLine(name)] = fact{value, it.line}
		}
	}
	return f
}

// others returns the facts that are no part of a source, or nil.
func others(f map[string]fact) map[string]any {
	var metadata map[string]any
	for name, it := range f {
		if slices.Contains(knownFacts(), name) {
			continue
		}
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata[name] = it.value
	}
	return metadata
}

func setDates(s *corpus.Source, f map[string]fact, today time.Time) error {
	for _, date := range []struct {
		name string
		at   **time.Time
	}{
		{factVerifiedAt, &s.VerifiedAt}, {factValidFrom, &s.ValidFrom}, {factValidTo, &s.ValidTo},
	} {
		it, ok := f[date.name]
		if !ok {
			continue
		}
		day, err := time.Parse(time.DateOnly, it.value)
		if err != nil {
			return malformed(it.line, "%s is not a date like 2026-11-20", date.name)
		}
		*date.at = &day
	}
	// somewhere on earth it is tomorrow already
	if !today.IsZero() && s.VerifiedAt != nil && s.VerifiedAt.After(today.Add(24*time.Hour)) {
		return malformed(f[factVerifiedAt].line, "verified_at lies in the future")
	}
	if s.ValidFrom != nil && s.ValidTo != nil && !s.ValidTo.After(*s.ValidFrom) {
		return malformed(f[factValidTo].line, "valid_to is not after valid_from")
	}
	return nil
}

// isLanguage says that code is an ISO 639-1 code in lower case.
func isLanguage(code string) bool {
	base, err := language.ParseBase(code)
	return err == nil && len(code) == 2 && base.String() == code
}

// isWebAddress says that a person may follow u: a page never links to "javascript:" or to a path.
func isWebAddress(u string) bool {
	parsed, err := url.Parse(u)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != ""
}

// titleOf makes a title of a file's name: "prices/home-tariffs.csv" is "Home tariffs".
func titleOf(key string) string {
	name := strings.TrimSuffix(path.Base(key), path.Ext(key))
	name = oneLine(strings.NewReplacer("-", " ", "_", " ").Replace(name))
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return key
	}
	return string(unicode.ToUpper(first)) + name[size:]
}
