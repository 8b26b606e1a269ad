//go:build cgo

package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sync/errgroup"
)

const (
	// minilmDimensions is the width of the model's hidden state and so of its vectors.
	minilmDimensions = 384
	// maxTexts bounds the texts that run at the same time, each on one thread: two threads in one text
	// wait for each other more than two texts do.
	maxTexts = 4
)

var (
	errNoText = fmt.Errorf("%w: the text has no words", ErrBadVector)
	errClosed = errors.New("the local model is closed")
)

// runtimeMu guards ONNX Runtime's environment: the binding keeps one per process in package
// variables, without a lock. It is made by the first model and lives until the process ends.
var runtimeMu sync.Mutex

// MiniLM embeds text on this machine with all-MiniLM-L6-v2 (int8, ONNX Runtime): 384 dimensions,
// unit length. It is safe for concurrent use; Close it once at the end.
type MiniLM struct {
	words   *WordPiece
	mu      sync.RWMutex // Close must not free the session under a running question
	session *ort.DynamicAdvancedSession
}

// NewMiniLM loads the model (model.onnx), its tokenizer (tokenizer.json) and the ONNX Runtime
// library; the library that a process loads first serves all its models. One run of the model is
// part of loading, so that a wrong file is an error here and not at the first question.
func NewMiniLM(modelPath, tokenizerPath, runtimeLibPath string) (*MiniLM, error) {
	for _, path := range []string{modelPath, tokenizerPath, runtimeLibPath} {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("load local model: %w (scripts/parts.sh fetches it)", err)
		}
	}
	words, err := LoadWordPiece(tokenizerPath)
	if err != nil {
		return nil, fmt.Errorf("load local model: %w", err)
	}
	session, err := openSession(modelPath, runtimeLibPath)
	if err != nil {
		return nil, fmt.Errorf("load local model %s: %w", modelPath, err)
	}
	m := &MiniLM{words: words, session: session}
	if _, err := m.embed("ready"); err != nil {
		return nil, errors.Join(fmt.Errorf("load local model %s: %w", modelPath, err), m.Close())
	}
	return m, nil
}

func openSession(modelPath, runtimeLibPath string) (*ort.DynamicAdvancedSession, error) {
	runtimeMu.Lock()
	defer runtimeMu.Unlock()
	if !ort.IsInitialized() {
		// The published library reports its use to its maker and keeps a device id in the home folder,
		// unless it finds this variable before it starts (its Privacy.md; the API's switch comes too
		// late). Nothing leaves this machine.
		if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
			return nil, fmt.Errorf("switch telemetry off: %w", err)
		}
		ort.SetSharedLibraryPath(runtimeLibPath)
		if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
			return nil, fmt.Errorf("start ONNX Runtime: %w", err)
		}
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("make session options: %w", err)
	}
	defer options.Destroy() //nolint:errcheck // nothing can be done about it
	err = errors.Join(
		options.SetIntraOpNumThreads(1),
		// Idle threads sleep instead of spinning: Postgres needs the cores between two questions.
		options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"))
	if err != nil {
		return nil, fmt.Errorf("set session options: %w", err)
	}
	session, err := ort.NewDynamicAdvancedSession(modelPath,
		[]string{"input_ids", "attention_mask", "token_type_ids"}, []string{"last_hidden_state"}, options)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	return session, nil
}

// Index is the registered index that these vectors belong to.
func (*MiniLM) Index() string { return "local" }

// Model is the model name registered for that index.
func (*MiniLM) Model() string { return "all-MiniLM-L6-v2" }

// DenseWeight says how far to trust a vector of the question; see WordPiece.DenseWeight.
func (m *MiniLM) DenseWeight(question string) float64 { return m.words.DenseWeight(question) }

// EmbedQuery embeds one question. What lies beyond MaxWordPieces is not read. A text without a
// single word piece is ErrBadVector. The model has no query form: it reads questions as documents.
func (m *MiniLM) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed question: %w", err)
	}
	vector, err := m.embed(text)
	if err != nil {
		return nil, fmt.Errorf("embed question: %w", err)
	}
	return vector, nil
}

// EmbedDocuments embeds each text like EmbedQuery, in the same order; it stops when ctx ends or a text
// fails. Texts run side by side, not as a batch: the int8 model scales a whole batch together, so a
// vector would depend on its neighbours.
func (m *MiniLM) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(runtime.NumCPU(), maxTexts))
	for i, text := range texts {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				vectors[i], err = m.embed(text)
			}
			if err != nil {
				return fmt.Errorf("embed text %d of %d: %w", i+1, len(texts), err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return vectors, nil
}

// Close frees the model. Embedding afterwards is an error; closing again is not.
func (m *MiniLM) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return nil
	}
	err := m.session.Destroy()
	m.session = nil
	if err != nil {
		return fmt.Errorf("close local model: %w", err)
	}
	return nil
}

func (m *MiniLM) embed(text string) ([]float32, error) {
	ids := m.words.Encode(text)
	if len(ids) == 2 {
		return nil, errNoText
	}
	states, err := m.run(ids)
	if err != nil {
		return nil, err
	}
	return meanUnit(states, minilmDimensions)
}

// run gives the last hidden state, one row of minilmDimensions per id. ONNX Runtime allows
// concurrent runs of one session.
func (m *MiniLM) run(ids []int64) ([]float32, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.session == nil {
		return nil, errClosed
	}
	n := int64(len(ids))
	mask := make([]int64, n)
	for i := range mask {
		mask[i] = 1
	}
	var inputs []ort.Value
	defer func() {
		for _, input := range inputs {
			input.Destroy() //nolint:errcheck // always nil
		}
	}()
	for _, data := range [][]int64{ids, mask, make([]int64, n)} {
		input, err := ort.NewTensor(ort.NewShape(1, n), data)
		if err != nil {
			return nil, fmt.Errorf("fill tensor: %w", err)
		}
		inputs = append(inputs, input)
	}
	states := make([]float32, n*minilmDimensions)
	output, err := ort.NewTensor(ort.NewShape(1, n, minilmDimensions), states)
	if err != nil {
		return nil, fmt.Errorf("make tensor: %w", err)
	}
	defer output.Destroy() //nolint:errcheck // always nil
	if err := m.session.Run(inputs, []ort.Value{output}); err != nil {
		return nil, fmt.Errorf("run model: %w", err)
	}
	return states, nil
}

// meanUnit averages the rows of states and scales the mean to length 1, as the pooling and
// normalising modules of sentence-transformers do. There is no padding, so every row counts.
func meanUnit(states []float32, width int) ([]float32, error) {
	sums := make([]float64, width)
	for i, value := range states {
		sums[i%width] += float64(value)
	}
	var square float64
	for _, sum := range sums {
		square += sum * sum
	}
	length := math.Sqrt(square) // the mean's divisor cancels out
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, fmt.Errorf("%w: its length is %v", ErrBadVector, length)
	}
	vector := make([]float32, width)
	for i, sum := range sums {
		vector[i] = float32(sum / length)
	}
	return vector, nil
}
