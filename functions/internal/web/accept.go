package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxPreferences bounds how many entries of an Accept header are read.
const maxPreferences = 32

// preference is an entry of Accept or Accept-Language: its value in lower case and its weight, 0 to 1
// (RFC 9110, section 12.4.2).
type preference struct {
	value  string
	weight float64
}

// preferences reads the entries of a header, the most wanted first and else in their order. An entry
// with a weight that can't be read, or of 0, is left out.
func preferences(header []string) []preference {
	var list []preference
	for i, entry := range strings.Split(strings.Join(header, ","), ",") {
		if i == maxPreferences {
			break
		}
		value, params, _ := strings.Cut(strings.ToLower(entry), ";")
		p := preference{strings.TrimSpace(value), 1}
		for param := range strings.SplitSeq(params, ";") {
			if q, ok := strings.CutPrefix(strings.TrimSpace(param), "q="); ok {
				p.weight, _ = strconv.ParseFloat(q, 64)
			}
		}
		if p.value != "" && p.weight > 0 && p.weight <= 1 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b preference) int { return cmp.Compare(b.weight, a.weight) })
	return list
}

// WantsJSON says whether the client would rather have one JSON body than NDJSON lines: of the two
// types it gives application/json more weight, or names it first. Wildcards mean NDJSON.
func WantsJSON(r *http.Request) bool {
	for _, p := range preferences(r.Header.Values("Accept")) {
		switch p.value {
		case "application/json":
			return true
		case "application/x-ndjson":
			return false
		}
	}
	return false
}

// language is the primary subtag that the client would rather read, as ISO 639-1 ("de" of "de-CH"),
// or nothing.
func language(r *http.Request) string {
	for _, p := range preferences(r.Header.Values("Accept-Language")) {
		primary, _, _ := strings.Cut(p.value, "-")
		if len(primary) == 2 && strings.Trim(primary, "abcdefghijklmnopqrstuvwxyz") == "" {
			return primary
		}
	}
	return ""
}
