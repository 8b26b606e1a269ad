package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"porchlight/functions/internal/turn"
)

func TestStream_SendsOneLineAValueAndFlushesEach(t *testing.T) {
	w := httptest.NewRecorder()
	s := NewStream(&response{ResponseWriter: w})
	if w.Header().Get("Content-Type") != "" {
		t.Error("headers before the first line")
	}
	for _, v := range []any{turn.Sentence("a <b> & \u2028 \"c\"\nd"), turn.Reset()} {
		if err := s.Send(v); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"type":"sentence","text":"a <b> & \u2028 \"c\"\nd"}` + "\n" + `{"type":"reset"}` + "\n"
	if w.Body.String() != want || !w.Flushed {
		t.Errorf("flushed %v, body %s", w.Flushed, w.Body)
	}
	for name, want := range map[string]string{"Content-Type": typeNDJSON, "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestStream_WritesNothingOfAValueThatCannotBeEncoded(t *testing.T) {
	w := httptest.NewRecorder()
	if err := NewStream(w).Send(map[string]any{"a": 1, "z": math.NaN()}); err == nil || w.Body.Len() != 0 {
		t.Errorf("%v, body %q", err, w.Body)
	}
}

// plainWriter can't flush and counts its writes.
type plainWriter struct {
	header http.Header
	writes []string
}

func (w *plainWriter) Header() http.Header { return w.header }
func (w *plainWriter) WriteHeader(int)     {}
func (w *plainWriter) Write(b []byte) (int, error) {
	w.writes = append(w.writes, string(b))
	return len(b), nil
}

func TestStream_WorksWithoutAFlusherAndNeverCutsALine(t *testing.T) {
	w := &plainWriter{header: http.Header{}}
	s := NewStream(w)
	for _, text := range []string{"one", strings.Repeat("long ", 10_000)} {
		if err := s.Send(turn.Sentence(text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.writes) != 2 || !strings.HasSuffix(w.writes[1], "\"}\n") {
		t.Errorf("%d writes", len(w.writes))
	}
}

// O98: whatever the network does to the bytes, a reader of lines finds the same text.
func TestStream_TextIsTheSameForEverySplit(t *testing.T) {
	const text = "Mañana 49 €"
	w := httptest.NewRecorder()
	s := NewStream(w)
	for range 2 {
		if err := s.Send(turn.Sentence(text)); err != nil {
			t.Fatal(err)
		}
	}
	sent := w.Body.Bytes()
	read := func(r io.Reader) (texts []string) {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			var e turn.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, e.Text)
		}
		return texts
	}
	readers := []io.Reader{iotest.OneByteReader(bytes.NewReader(sent)), iotest.DataErrReader(bytes.NewReader(sent))}
	for i := range sent {
		readers = append(readers, io.MultiReader(bytes.NewReader(sent[:i]), bytes.NewReader(sent[i:])))
	}
	for _, r := range readers {
		if got := read(r); len(got) != 2 || got[0] != text || got[1] != text {
			t.Fatalf("%q", got)
		}
	}
}

// P7
func TestStream_PanicAfterTheFirstLineBecomesTheLastLine(t *testing.T) {
	o, log := options()
	h := Wrap(o)(func(w http.ResponseWriter, _ *http.Request) error {
		if err := NewStream(w).Send(turn.Sentence("First.")); err != nil {
			return err
		}
		panic(canary)
	})
	srv := httptest.NewServer(h)
	defer srv.Close()
	for range 2 { // the process lives
		log.Reset()
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		want := "{\"type\":\"sentence\",\"text\":\"First.\"}\n" +
			"{\"type\":\"error\",\"code\":\"internal\",\"message\":\"Something went wrong on our side.\"}\n"
		if string(body) != want {
			t.Errorf("body %s", body)
		}
	}
}

func TestWrap_ErrorAfterAWholeBodyAddsNothingToIt(t *testing.T) {
	o, log := options()
	h := Wrap(o)(func(w http.ResponseWriter, _ *http.Request) error {
		if err := writeJSON(w, http.StatusOK, 1); err != nil {
			return err
		}
		return errors.New("too late")
	})
	w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != 200 || w.Body.String() != "1\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	if e := entry(t, log); e["status"] != 200.0 || e["code"] != "internal" || e["level"] != "ERROR" {
		t.Errorf("log %s", log)
	}
}
