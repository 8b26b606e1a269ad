package corpus

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// O31: the SQL tests read the same rows, so that Go and Postgres agree byte for byte on backslashes,
// quotes, tabs, emoji, markup characters and separators. The digests were made by a third
// implementation; there is no -update, because a digest that changed is a bug.
func TestHash_EqualsTheGoldenDigestsSharedWithSQL(t *testing.T) {
	golden, err := os.ReadFile("../../../tests/sql/testdata/hashes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(golden)), "\n")
	if len(rows) < 20 {
		t.Fatalf("%d rows, want at least 20", len(rows))
	}
	for i, line := range rows {
		var row struct {
			HeadingPath string `json:"heading_path"`
			Content     string `json:"content"`
			SHA256      string `json:"sha256"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("row %d: %v", i+1, err)
		}
		hash := Chunk{HeadingPath: row.HeadingPath, Content: row.Content}.Hash()
		if got := hex.EncodeToString(hash[:]); got != row.SHA256 {
			t.Errorf("row %d (%s): digest %s, want %s", i+1, row.HeadingPath, got, row.SHA256)
		}
		if row.Content != Normalise(row.Content) || row.HeadingPath != Normalise(row.HeadingPath) {
			t.Errorf("row %d (%s) is not normalised", i+1, row.HeadingPath)
		}
	}
}
