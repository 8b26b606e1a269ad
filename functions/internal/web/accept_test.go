package web

import (
	"strings"
	"testing"
)

func TestWantsJSON_OnlyWhenTheClientPrefersIt(t *testing.T) {
	tests := []struct {
		name   string
		accept []string
		want   bool
	}{
		{"no header", nil, false},
		{"anything", []string{"*/*"}, false},
		{"JSON", []string{"application/json"}, true},
		{"JSON in capitals", []string{"Application/JSON; charset=utf-8"}, true},
		{"NDJSON", []string{"application/x-ndjson"}, false},
		{"the list of a common client", []string{"application/json, text/plain, */*"}, true},
		{"both, NDJSON first", []string{"application/x-ndjson, application/json"}, false},
		{"both, JSON first", []string{"application/json, application/x-ndjson"}, true},
		{"both, NDJSON heavier", []string{"application/json;q=0.5, application/x-ndjson;q=0.9"}, false},
		{"both, JSON heavier", []string{"application/x-ndjson; q=0.1", "application/json"}, true},
		{"JSON refused", []string{"application/json;q=0, */*"}, false},
		{"a type wildcard", []string{"application/*"}, false},
		{"another JSON", []string{"application/problem+json"}, false},
		{"a weight that is no number", []string{"application/json;q=much"}, false},
		{"endless", []string{strings.Repeat("a/b,", 10_000) + "application/json"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := get("/")
			r.Header["Accept"] = tt.accept
			if got := WantsJSON(r); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestLanguage_IsThePrimarySubtagThatTheClientPrefers(t *testing.T) {
	for header, want := range map[string]string{
		"":                           "",
		"*":                          "",
		"de":                         "de",
		"es-MX, en;q=0.5":            "es",
		"en;q=0.3, DE-ch;q=0.9":      "de",
		"en;q=0, fr;q=0.1":           "fr",
		"gsw, de;q=0.5":              "de",
		"'; drop table--":            "",
		"d\u00e9, \u0131t, it;q=0.2": "it",
		"en;q=NaN, es;q=2, de;q=0.1": "de",
		strings.Repeat("x,", 99999):  "",
	} {
		r := get("/")
		r.Header.Set("Accept-Language", header)
		if got := language(r); got != want {
			t.Errorf("%.40q: got %q, want %q", header, got, want)
		}
	}
}
