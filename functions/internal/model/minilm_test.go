//go:build cgo

package model

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const question = "How much is the Home Flex plan a month?"

func runtimeLibrary(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "darwin" {
		return part(t, "onnxruntime-1.32.0/libonnxruntime.dylib")
	}
	return part(t, "onnxruntime-1.32.0/libonnxruntime.so")
}

func newMiniLM(t testing.TB) *MiniLM {
	t.Helper()
	m, err := NewMiniLM(part(t, "minilm-int8-1.0.0/model.onnx"),
		part(t, "minilm-int8-1.0.0/tokenizer.json"), runtimeLibrary(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestMiniLM_AgreesWithTheFloat32Model(t *testing.T) {
	rows := references(t, sharedReferences)
	m := newMiniLM(t)
	compared := 0
	for i, row := range rows {
		if row.Vector == nil || len(row.IDs) == 2 {
			continue // the two empty texts: refused, see below
		}
		compared++
		got, err := m.EmbedQuery(t.Context(), row.Text)
		if err != nil {
			t.Fatalf("row %d: %v", i+1, err)
		}
		if length := math.Sqrt(dot(got, got)); len(got) != 384 || math.Abs(length-1) > 1e-6 {
			t.Errorf("row %d: %d dimensions of length %f, want 384 of length 1", i+1, len(got), length)
		}
		cosine := dot(got, row.Vector) / math.Sqrt(dot(row.Vector, row.Vector))
		if cosine < 0.995 {
			t.Errorf("row %d: cosine %.4f, want at least 0.995", i+1, cosine)
		}
	}
	if compared != 48 {
		t.Errorf("compared %d vectors, want 48", compared)
	}
}

func TestMiniLM_NamesItsIndexAndModel(t *testing.T) {
	m := newMiniLM(t)
	if m.Index() != "local" || m.Model() != "all-MiniLM-L6-v2" {
		t.Errorf("index %q, model %q", m.Index(), m.Model())
	}
}

// O56: a question without a word must not become a vector that ranks at random.
func TestMiniLM_RefusesTextWithoutWords(t *testing.T) {
	m := newMiniLM(t)
	for _, text := range []string{"", " \t\n", "\u200b", "\x00\x1b", "\xff"} {
		if _, err := m.EmbedQuery(t.Context(), text); !errors.Is(err, ErrBadVector) {
			t.Errorf("%q: error %v, want ErrBadVector", text, err)
		}
		_, err := m.EmbedDocuments(t.Context(), []string{question, text})
		if !errors.Is(err, ErrBadVector) || !strings.Contains(err.Error(), "text 2 of 2") {
			t.Errorf("%q: error %v, want ErrBadVector for text 2 of 2", text, err)
		}
	}
}

func TestMiniLM_VectorDoesNotDependOnItsNeighbours(t *testing.T) {
	m := newMiniLM(t)
	texts := []string{question, strings.Repeat("A long passage about fibre. ", 60), "Hola", question}
	together, err := m.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		alone, err := m.EmbedQuery(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(together[i], alone) {
			t.Errorf("text %d has another vector among others than alone", i+1)
		}
	}
	if none, err := m.EmbedDocuments(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("no texts gave %d vectors, error %v", len(none), err)
	}
}

func TestMiniLM_StopsWhenTheContextEnds(t *testing.T) {
	m := newMiniLM(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.EmbedQuery(ctx, question); !errors.Is(err, context.Canceled) {
		t.Errorf("EmbedQuery: error %v, want context.Canceled", err)
	}
	if _, err := m.EmbedDocuments(ctx, []string{question}); !errors.Is(err, context.Canceled) {
		t.Errorf("EmbedDocuments: error %v, want context.Canceled", err)
	}
}

func TestMiniLM_AnswersManyQuestionsAtOnceWhileItCloses(t *testing.T) {
	m := newMiniLM(t)
	want, err := m.EmbedQuery(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				got, err := m.EmbedQuery(t.Context(), question)
				if errors.Is(err, errClosed) {
					return
				}
				if err != nil || dot(got, want) < 0.9999 {
					t.Errorf("cosine %f to the first vector, error %v", dot(got, want), err)
					return
				}
			}
		})
	}
	for range 20 {
		if _, err := m.EmbedQuery(t.Context(), question); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
}

func TestNewMiniLM_RefusesWrongFiles(t *testing.T) {
	model, tokenizer := part(t, "minilm-int8-1.0.0/model.onnx"), part(t, "minilm-int8-1.0.0/tokenizer.json")
	library := runtimeLibrary(t)
	absent := filepath.Join(t.TempDir(), "absent")
	for _, paths := range [][3]string{
		{absent, tokenizer, library},
		{model, absent, library},
		{model, tokenizer, absent},
	} {
		_, err := NewMiniLM(paths[0], paths[1], paths[2])
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "scripts/parts.sh") {
			t.Errorf("error %v, want fs.ErrNotExist and what to run", err)
		}
	}
	if _, err := NewMiniLM(tokenizer, tokenizer, library); err == nil || !strings.Contains(err.Error(), "open model") {
		t.Errorf("a file that is no model: error %v", err)
	}
}

// The published library would keep a device id in the home folder and report to its maker.
func TestNewMiniLM_LeavesNoTelemetryBehind(t *testing.T) {
	if os.Getenv("MINILM_TELEMETRY_CHILD") != "" {
		newMiniLM(t)
		return
	}
	cache, err := filepath.Abs(filepath.Join(filepath.Dir(part(t, "minilm-int8-1.0.0/model.onnx")), ".."))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNewMiniLM_LeavesNoTelemetryBehind$")
	child.Env = []string{"MINILM_TELEMETRY_CHILD=1", "HOME=" + home, "TMPDIR=" + home, "PORCHLIGHT_CACHE=" + cache}
	if output, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	left, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("loading the model left %s in the home folder", entry.Name())
	}
}

func TestMeanUnit(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		name   string
		states []float32
		want   []float32
	}{
		{"averages the rows and scales to length 1", []float32{6, 0, 0, 8}, []float32{0.6, 0.8}},
		{"refuses a zero vector", []float32{1, 1, -1, -1}, nil},
		{"refuses what is not a number", []float32{nan, 1}, nil},
		{"refuses what is infinite", []float32{float32(math.Inf(1)), 1}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := meanUnit(test.states, 2)
			if !slices.Equal(got, test.want) || errors.Is(err, ErrBadVector) != (test.want == nil) {
				t.Errorf("got %v, error %v, want %v", got, err, test.want)
			}
		})
	}
}

func BenchmarkMiniLM_Load(b *testing.B) {
	for b.Loop() {
		newMiniLM(b)
	}
}

func BenchmarkMiniLM_Question(b *testing.B) {
	m := newMiniLM(b)
	for b.Loop() {
		if _, err := m.EmbedQuery(b.Context(), question); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMiniLM_ChunkOf900Characters(b *testing.B) {
	m := newMiniLM(b)
	sentence := "Home Flex costs 12.50 a month, runs for 24 months and may be cancelled four weeks before it ends. "
	chunk := strings.Repeat(sentence, 10)[:900]
	b.ReportMetric(float64(m.words.Count(chunk)), "pieces")
	for b.Loop() {
		if _, err := m.EmbedQuery(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
}
