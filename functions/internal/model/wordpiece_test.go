package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// part is the path of a fetched part in the cache folder, which scripts/cache.sh knows.
func part(t testing.TB, name string) string {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "../../../scripts/cache.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(strings.TrimSpace(string(cache)), name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run scripts/parts.sh: %v", err)
	}
	return path
}

// reference is a text with the ids that Hugging Face's tokenizers give and, for some, the vector of
// the float32 model.
type reference struct {
	Text   string    `json:"text"`
	IDs    []int64   `json:"ids"`
	Vector []float32 `json:"vector"`
}

const (
	// ownReferences were made with tokenizers 0.23.3, not with this package.
	ownReferences    = "testdata/wordpiece.jsonl"
	sharedReferences = "../../../../shared/data/minilm/golden.jsonl"
)

func references(t testing.TB, path string) []reference {
	t.Helper()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && path == sharedReferences {
		t.Skip("the shared reference texts are absent: ", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []reference
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row reference
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func loadWordPiece(t testing.TB) *WordPiece {
	t.Helper()
	words, err := LoadWordPiece(part(t, "minilm-int8-1.0.0/tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func TestWordPiece_GivesTheIdsOfTheReference(t *testing.T) {
	words := loadWordPiece(t)
	for path, want := range map[string]int{ownReferences: 25, sharedReferences: 100} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			rows := references(t, path)
			if len(rows) != want {
				t.Fatalf("%d rows, want %d", len(rows), want)
			}
			for i, row := range rows {
				if got := words.Encode(row.Text); !slices.Equal(got, row.IDs) {
					t.Errorf("row %d, %q:\n got %v\nwant %v", i+1, row.Text, got, row.IDs)
				}
			}
		})
	}
}

// O46: whoever cuts chunks must be able to see that the model would not read the end.
func TestWordPiece_CountsWhatEncodeCuts(t *testing.T) {
	words := loadWordPiece(t)
	tests := []struct {
		name, text     string
		count, encoded int
	}{
		{"only the two markers for nothing", "", 2, 2},
		{"fits exactly", strings.Repeat("price ", 254), 256, 256},
		{"one piece too long", strings.Repeat("price ", 255), 257, 256},
		{"far too long", strings.Repeat("price ", 3000), 3002, 256},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := words.Count(test.text); got != test.count {
				t.Errorf("Count = %d, want %d", got, test.count)
			}
			if got := len(words.Encode(test.text)); got != test.encoded {
				t.Errorf("Encode gave %d ids, want %d", got, test.encoded)
			}
		})
	}
}

func TestWordPiece_ReadsBrokenUTF8AsIfItWereAbsent(t *testing.T) {
	words := loadWordPiece(t)
	if got, want := words.Encode("pri\xffce \xc3"), words.Encode("price"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLoadWordPiece_RefusesOtherTokenizers(t *testing.T) {
	const bert = `"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true},`
	const model = `"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","vocab":{}}`
	tests := []struct{ name, file, want string }{
		{"no JSON", `vocabulary`, "invalid character"},
		{"another model", `{` + bert + `"model":{"type":"BPE"}}`, "not an uncased BERT"},
		{"a cased vocabulary", `{` + strings.Replace(bert, `"lowercase":true`, `"lowercase":false`, 1) + model + `}`, "not an uncased BERT"},
		{"accents kept", `{` + strings.Replace(bert, `}`, `,"strip_accents":false}`, 1) + model + `}`, "not an uncased BERT"},
		{"no markers", `{` + bert + model + `}`, "is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokenizer.json")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := LoadWordPiece(path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if _, err := LoadWordPiece(filepath.Join(t.TempDir(), "absent.json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want fs.ErrNotExist", err)
		}
	})
}

func FuzzWordPiece(f *testing.F) {
	words := loadWordPiece(f)
	for _, row := range references(f, ownReferences) {
		f.Add(row.Text)
	}
	f.Add("\xff\xfe[CLS\xc3]")
	f.Fuzz(func(t *testing.T, text string) {
		ids := words.Encode(text)
		if len(ids) != min(words.Count(text), MaxWordPieces) {
			t.Errorf("%d ids for a count of %d", len(ids), words.Count(text))
		}
		if ids[0] != words.cls || ids[len(ids)-1] != words.sep {
			t.Errorf("the ids %v are not between [CLS] and [SEP]", ids)
		}
	})
}
