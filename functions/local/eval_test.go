package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// printed runs a command and returns what it printed and its exit code.
func printed(t *testing.T, args ...string) (string, int) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	code := run(t.Context(), args)
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), code
}

func TestEvalRedaction_PrintsScoresAndEndsWithThreeBelowTheFloor(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		path := filepath.Join(dir, "security", "pii", "sentences.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const label = `"spans": [{"entity_type": "EMAIL_ADDRESS", "start_position": 3, "end_position": 20}]}`
	write(`[{"full_text": "To jane@mail.example", ` + label + `]`)
	text, code := printed(t, "eval", "redaction", "--json", "--data", dir)
	var got struct {
		OK   bool
		Sets []struct {
			Name   string
			Scores []struct {
				Kind              string
				Recall, Precision float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != 0 || !got.OK || len(got.Sets) != 3 || got.Sets[1].Scores[0].Kind != "email" {
		t.Errorf("code %d, %s, %v", code, text, err)
	}
	write(`[{"full_text": "To jane-at-a-mail-host", ` + label + `]`)
	text, code = printed(t, "eval", "redaction", "--data", dir)
	if code != exitNothing || !strings.Contains(text, "below the floor") || strings.Contains(text, "jane") {
		t.Errorf("code %d, %s", code, text)
	}
}
