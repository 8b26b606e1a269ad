package redact

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func readPolicy(t *testing.T, text string) (Policy, error) {
	t.Helper()
	return ReadPolicy(fstest.MapFS{PolicyFile: {Data: []byte(text)}})
}

func TestReadPolicy_IsReviewedByANameAndADate(t *testing.T) {
	today := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name, text string
		want       bool
	}{
		{"name and date", "reviewer: Wren\nreviewed_at: 2026-11-20\n", true},
		{"the day that has begun in the east", "reviewer: Wren\nreviewed_at: 2026-11-21\n", true},
		{"a date to come", "reviewer: Wren\nreviewed_at: 2026-11-22\n", false},
		{"no date", "reviewer: Wren\n", false},
		{"no name", "reviewed_at: 2026-11-20\n", false},
		{"a blank name", "reviewer: ' '\nreviewed_at: 2026-11-20\n", false},
		{"an empty file", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := readPolicy(t, tt.text)
			if err != nil || !p.IsThere() || p.IsReviewed(today) != tt.want {
				t.Errorf("there %t, reviewed %t, %v; want %t", p.IsThere(), p.IsReviewed(today), err, tt.want)
			}
		})
	}
	p, err := ReadPolicy(fstest.MapFS{})
	if err != nil || p.IsThere() || p.IsReviewed(today) {
		t.Errorf("without a file: %+v, %v", p, err)
	}
	if Everything().IsReviewed(today) {
		t.Error("a policy that no file holds is reviewed")
	}
}

// An error says where and what, and never what the file lists.
func TestReadPolicy_RefusesWhatItDoesNotKnow(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"an unknown field", "reviewer: W\nHalloway: x\n", "redaction.yaml: line 2: unknown field; known are reviewer, reviewed_at, kinds and literals"},
		{"a field twice", "reviewer: W\nreviewer: Halloway\n", "redaction.yaml: line 2: not readable as YAML, or a field that is given twice"},
		{"a list that is none", "literals: Halloway\n", "redaction.yaml: line 1: wrong type; reviewer and reviewed_at are text, kinds and literals are lists of text"},
		{"a map in a list", "literals:\n  - Halloway: x\n", "redaction.yaml: line 2: wrong type; reviewer and reviewed_at are text, kinds and literals are lists of text"},
		{"no YAML", "literals: [\"Halloway\n", "redaction.yaml: line 1: not readable as YAML, or a field that is given twice"},
		{"no date", "reviewed_at: Halloway\n", "redaction.yaml: reviewed_at: not a date like 2026-11-20"},
		{"an unknown kind", "kinds: [email, Halloway]\n", "redaction.yaml: kinds[1]: unknown kind"},
		{"the kind that is always there", "kinds: [literal]\n", "redaction.yaml: kinds[0]: unknown kind"},
		{"a kind twice", "kinds: [email, email]\n", "redaction.yaml: kinds[1]: listed twice"},
		{"no kind", "kinds: []\n", "redaction.yaml: kinds: name at least one, or leave the field out for all"},
		{"a literal that is everywhere", "literals: [Halloway, '.a!']\n", "redaction.yaml: literals[1]: want two letters or digits at least, four digits without a letter"},
		{"a short number", "literals: [123]\n", "redaction.yaml: literals[0]: want two letters or digits at least, four digits without a letter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readPolicy(t, tt.text)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got %v\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "Halloway") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}
