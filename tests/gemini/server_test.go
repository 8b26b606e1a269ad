package gemini

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
)

const hello = `{"contents":[{"role":"user","parts":[{"text":"hello there"}]}]}`

// post sends a request as a client of the real service would and returns status and body.
func post(t *testing.T, s *Server, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1beta/models/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-goog-api-key", "test")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, string(got) + " [" + err.Error() + "]"
	}
	return resp.StatusCode, string(got)
}

func TestServer_StreamsEventsAndAnswersWhole(t *testing.T) {
	s := NewServer(t)
	s.Queue("m", Text("The fee ", "is 49 €.").WithUsage(12, 6), Text("The fee ", "is 49 €.").WithUsage(12, 6))
	_, stream := post(t, s, "m:streamGenerateContent?alt=sse", hello)
	var texts, reasons []string
	for line := range strings.SplitSeq(strings.TrimSpace(stream), "\r\n\r\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		var c Chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil || !ok {
			t.Fatalf("event %q: %v", line, err)
		}
		texts = append(texts, c.Candidates[0].Content.Text())
		reasons = append(reasons, c.Candidates[0].FinishReason)
	}
	if got := fmt.Sprint(texts, reasons); got != "[The fee  is 49 €.] [ STOP]" {
		t.Errorf("stream: %s", got)
	}
	code, body := post(t, s, "m:generateContent", hello)
	want := `{"candidates":[{"content":{"parts":[{"text":"The fee "},{"text":"is 49 €."}],"role":"model"},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":6,"totalTokenCount":18},"modelVersion":"m","responseId":"fake-response"}`
	if code != 200 || strings.TrimSpace(body) != want {
		t.Errorf("whole answer %d: %s", code, body)
	}
}

func TestServer_AnswersAQuotaAsTheRealOneDoes(t *testing.T) {
	s := NewServer(t)
	s.Queue("m", Quota(1500*time.Millisecond, PerMinute, PerDay))
	code, body := post(t, s, "m:streamGenerateContent?alt=sse", hello)
	if code != 429 {
		t.Errorf("status %d", code)
	}
	for _, part := range []string{`"code":429`, `"status":"RESOURCE_EXHAUSTED"`, `google.rpc.QuotaFailure"`, `"quotaId":"` + PerDay, `"quotaId":"` + PerMinute, `"retryDelay":"1.5s"`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
}

// failures collects what a test would be told.
type failures struct {
	cleanups []func()
	messages []string
}

func (f *failures) Helper()          {}
func (f *failures) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *failures) Errorf(format string, args ...any) {
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

func TestServer_FailsTheTestOnWhatTheRealServiceRefuses(t *testing.T) {
	const alt = "m:streamGenerateContent?alt=sse"
	turn := func(role, text string) string {
		return fmt.Sprintf(`{"role":%q,"parts":[{"text":%q}]}`, role, text)
	}
	batch := func(n int) string {
		one := `{"model":"models/m","content":{"parts":[{"text":"x"}]}}`
		return `{"requests":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`
	}
	cases := []struct{ name, path, body, says string }{
		{"nobody registered it", "other:generateContent", hello, "nobody registered an answer for /v1beta/models/other:generateContent"},
		{"no such method", "m:countTokens", hello, "no method"},
		{"a stream without sse", "m:streamGenerateContent", hello, "alt=sse"},
		{"the key in the address", alt + "&key=test", hello, "key is in the address"},
		{"no JSON", alt, "{", "invalid JSON"},
		{"a field that it does not know", alt, `{"contents":[],"rules":"x"}`, "rules"},
		{"no turns", alt, `{}`, "contents is not specified"},
		{"an empty turn", alt, `{"contents":[{"role":"user","parts":[]}]}`, "must not be empty"},
		{"an empty text", alt, `{"contents":[` + turn("user", " ") + `]}`, "has no text"},
		{"roles that do not alternate", alt, `{"contents":[` + turn("user", "a") + "," + turn("user", "b") + `]}`, "alternate"},
		{"the model's turn last", alt, `{"contents":[` + turn("user", "a") + "," + turn("model", "b") + `]}`, "last turn"},
		{"budget and level together", alt, `{"contents":[` + turn("user", "a") + `],"generationConfig":{"thinkingConfig":{"thinkingBudget":0,"thinkingLevel":"LOW"}}}`, "only set one"},
		{"a batch of 101", "m:batchEmbedContents", batch(101), "at most 100"},
		{"an empty batch", "m:batchEmbedContents", `{"requests":[]}`, "at most 100"},
		{"a batch for another model", "m:batchEmbedContents", strings.ReplaceAll(batch(1), "models/m", "models/n"), "models/n"},
		{"no text to embed", "m:embedContent", `{"model":"models/m","content":{"parts":[]}}`, "empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var f failures
			s := NewServer(&f)
			s.On("m", func(Request) Response { return Text("never") })
			code, body := post(t, s, c.path, c.body)
			if code != 400 && code != 501 || strings.Contains(body, "never") {
				t.Errorf("answered %d: %s", code, body)
			}
			for _, cleanup := range f.cleanups {
				cleanup()
			}
			if got := strings.Join(f.messages, "\n"); !strings.Contains(got, c.says) {
				t.Errorf("the test was told %q, want %q", got, c.says)
			}
		})
	}
}

func TestServer_FailsWithoutAKey(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	post(t, s, "m:generateContent", hello, "x-goog-api-key", "")
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "x-goog-api-key") {
		t.Errorf("got %v", err)
	}
}

func TestServer_AnswersOfAQueueAreGivenOnce(t *testing.T) {
	s := NewServer(nil)
	defer s.Close()
	s.Queue("m", Text("one"))
	if _, body := post(t, s, "m:generateContent", hello); !strings.Contains(body, "one") {
		t.Errorf("got %s", body)
	}
	if code, _ := post(t, s, "m:generateContent", hello); code != 501 || s.Err() == nil {
		t.Errorf("got %d, %v", code, s.Err())
	}
	if n := s.Count("m"); n != 2 {
		t.Errorf("counted %d", n)
	}
}

func TestServer_CutsAndHangs(t *testing.T) {
	s := NewServer(t)
	s.Queue("m", Text("half").ThenCut(), Text("half").ThenHang(), Text("half").ThenEnd(), Text("half").ThenFail(Unavailable()))
	if _, body := post(t, s, "m:streamGenerateContent?alt=sse", hello); !strings.Contains(body, "half") || !strings.Contains(body, "EOF]") {
		t.Errorf("cut: %s", body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1beta/models/m:streamGenerateContent?alt=sse", strings.NewReader(hello))
	req.Header.Set("x-goog-api-key", "test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.Contains(line, "half") {
		t.Errorf("hang: %q, %v", line, err)
	}
	_ = resp.Body.Close()
	if got := <-s.Left(); got != "m" {
		t.Errorf("left %q", got)
	}
	for _, want := range []string{"half", `{"error":{"code":503`} {
		_, body := post(t, s, "m:streamGenerateContent?alt=sse", hello)
		if !strings.Contains(body, want) || strings.Contains(body, "STOP") {
			t.Errorf("got %s", body)
		}
	}
}

func TestServer_EmbedsOneAndMany(t *testing.T) {
	s := NewServer(t)
	s.On("m", WordVectors)
	one := `{"model":"models/m","content":{"parts":[{"text":"home flex price"}]},"taskType":"RETRIEVAL_QUERY","outputDimensionality":8}`
	var single struct{ Embedding struct{ Values []float32 } }
	var many struct{ Embeddings []struct{ Values []float32 } }
	_, body := post(t, s, "m:embedContent", one)
	if err := json.Unmarshal([]byte(body), &single); err != nil || len(single.Embedding.Values) != 8 {
		t.Errorf("got %s, %v", body, err)
	}
	_, body = post(t, s, "m:batchEmbedContents", `{"requests":[`+one+`,`+one+`]}`)
	if err := json.Unmarshal([]byte(body), &many); err != nil || len(many.Embeddings) != 2 {
		t.Errorf("got %s, %v", body, err)
	}
	if r := s.Requests()[1]; r.Embeds[1] != (Embed{"home flex price", "RETRIEVAL_QUERY", 8}) || string(r.Raw) == "" {
		t.Errorf("recorded %+v", r.Embeds)
	}
}

func TestWordVector_PutsTextsThatShareWordsNear(t *testing.T) {
	cosine := func(a, b []float32) float64 {
		var ab, aa, bb float64
		for i := range a {
			ab, aa, bb = ab+float64(a[i]*b[i]), aa+float64(a[i]*a[i]), bb+float64(b[i]*b[i])
		}
		if aa == 1 || bb == 1 {
			t.Error("a vector has length 1")
		}
		return ab / math.Sqrt(aa*bb)
	}
	query := WordVector("task: search result | query: price of home flex", "RETRIEVAL_QUERY", 768)
	near := cosine(query, WordVector("The price of Home Flex is 49 €", "RETRIEVAL_DOCUMENT", 768))
	far := cosine(query, WordVector("Router returns within 14 days", "RETRIEVAL_DOCUMENT", 768))
	if near < 0.5 || far > 0.2 {
		t.Errorf("near %v, far %v", near, far)
	}
	for _, x := range WordVector(" 👍 ", "RETRIEVAL_QUERY", 768) {
		if x != 0 {
			t.Fatal("a text without words has a direction")
		}
	}
}
