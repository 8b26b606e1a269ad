package eval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"porchlight/functions/internal/redact"
)

// S8: the finders were written with the sentences at even places in view; those at odd places check them.
func TestRedaction_FindsTheClaimedKindsInSharedData(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "security", "pii")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Fatal("../shared/data is absent: the sentences with labelled personal data are not here")
	}
	halves, err := Redaction(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if halves[0].Sentences < 1500 || halves[1].Sentences+halves[2].Sentences != halves[0].Sentences {
		t.Errorf("%d sentences, %d and %d in the halves", halves[0].Sentences, halves[1].Sentences, halves[2].Sentences)
	}
	for _, h := range halves {
		if h.Stopped > 0 { // nothing in the set hides what it holds
			t.Errorf("%s: the second look stopped %d sentences", h.Name, h.Stopped)
		}
		for _, s := range h.Scores {
			t.Logf("%-4s %-16s recall %.3f (%d of %d), precision %.3f (%d of %d)",
				h.Name, s.Kind, s.Recall, s.Found, s.Labelled, s.Precision, s.Right, s.Reported)
			if !s.OK || s.Labelled == 0 {
				t.Errorf("%s, %s: recall %.3f of %d, precision %.3f", h.Name, s.Kind, s.Recall, s.Labelled, s.Precision)
			}
		}
	}
}

const two = `[
	{"full_text": "Grüße an jane@mail.example", "spans": [
		{"entity_type": "EMAIL_ADDRESS", "entity_value": "jane@mail.example", "start_position": 9, "end_position": 26}]},
	{"full_text": "jane-at-home, but bob@mail.example", "spans": [
		{"entity_type": "EMAIL_ADDRESS", "entity_value": "jane-at-home", "start_position": 0, "end_position": 12}]},
	{"full_text": "j a n e @ m a i l . e x a m p l e", "spans": []}]`

func TestRedaction_CountsWhatIsMissedAndWhatIsWrong(t *testing.T) {
	halves, err := Redaction(fstest.MapFS{
		"a/sentences.json": {Data: []byte(two)}, "b.json": {Data: []byte(`{"no": "list"}`)}, "c.txt": {Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 1, 0} {
		if halves[i].Stopped != want {
			t.Errorf("%s: %d stopped, want %d", halves[i].Name, halves[i].Stopped, want)
		}
	}
	want := []Score{
		{Kind: redact.Email, Labelled: 2, Found: 1, Recall: 0.5, Reported: 2, Right: 1, Precision: 0.5},
		{Kind: redact.Email, Labelled: 1, Found: 1, Recall: 1, Reported: 1, Right: 1, Precision: 1, OK: true},
		{Kind: redact.Email, Labelled: 1, Found: 0, Recall: 0, Reported: 1, Right: 0, Precision: 0},
	}
	for i, h := range halves {
		if h.Scores[0] != want[i] {
			t.Errorf("%s: %+v, want %+v", h.Name, h.Scores[0], want[i])
		}
	}
}

func TestRedaction_WantsSentences(t *testing.T) {
	if _, err := Redaction(fstest.MapFS{"b.json": {Data: []byte("[]")}}); !errors.Is(err, ErrNoSentences) {
		t.Errorf("error %v", err)
	}
}
