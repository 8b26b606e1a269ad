package e2e

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"porchlight/tests/gemini"
)

// A server that is told to end takes no new question. What can finish does; what can't is told so, is
// logged as failed and costs nothing.
func TestServe_FinishesOrFailsWhatRunsWhenItEnds(t *testing.T) {
	t.Parallel()
	wait := make(chan struct{})
	provider := gemini.NewServer(t)
	provider.On(primaryModel, likeVectors)
	provider.On(fallbackModel, likeVectors)
	b := newBrand(t, t.TempDir(), "ending-stoves", "{}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
	}).serve(t, options{name: "ending", environment: []string{"GEMINI_API_KEY=" + geminiKey, "GEMINI_BASE_URL=" + provider.URL}})
	b.server.told.add(geminiKey)
	rep := b.server.rep(t, b.slug)
	ask := func() <-chan string {
		body := make(chan string, 1)
		request := rep.request(t.Context(), http.MethodPost, "/v1/ask", encode(t, map[string]string{"question": nookQuestion}), asJSON)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				body <- err.Error()
				return
			}
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(response.Body)
			body <- string(text) + errorText(err)
		}()
		return body
	}
	provider.On(lite, func(gemini.Request) gemini.Response {
		<-wait
		return gemini.Text(nookAnswer)
	})
	first := ask()
	awaitCount(t, provider, 1)
	provider.Queue(lite, gemini.Hang())
	second := ask()
	awaitCount(t, provider, 2)

	if err := b.server.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		response, err := http.Get(b.server.url + "/healthz")
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		if err == nil {
			_ = response.Body.Close()
		}
		if time.Now().After(deadline) {
			t.Fatal("it still takes requests")
		}
	}
	close(wait)
	if body := <-first; !strings.Contains(body, nookAnswer) || !strings.Contains(body, `"type":"done"`) {
		t.Errorf("what could finish: %s", body)
	}
	if body := <-second; !strings.Contains(body, "service_stopping") {
		t.Errorf("what could not: %s", body)
	}
	if err := b.server.stop(); err != nil {
		t.Error(err)
	}
	got := b.server.text(t, `select string_agg(t.status || ' ' || r.state, ', ' order by t.created_at)
		from app.turns t join private.turn_reservations r on r.turn_id = t.id`)
	if got != "answered settled, failed refunded" {
		t.Errorf("the turns: %s", got)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}

// awaitCount waits until the lite model was asked that often.
func awaitCount(t *testing.T, provider *gemini.Server, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); provider.Count(lite) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the model was not asked")
		}
	}
}
