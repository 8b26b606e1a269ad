package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdaurl"

	"porchlight/functions/internal/turn"
)

// invoke sends what a Function URL sends: the JSON of a payload of version 2.0.
func invoke(t *testing.T, h http.Handler, event string) *events.LambdaFunctionURLStreamingResponse {
	t.Helper()
	var request events.LambdaFunctionURLRequest
	if err := json.Unmarshal([]byte(event), &request); err != nil {
		t.Fatal(err)
	}
	resp, err := lambdaurl.Wrap(h)(t.Context(), &request)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// askEvent is a question to /v1/ask with alice's token in the named header.
func askEvent(header, body string, isBase64 bool) string {
	event, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": "/v1/ask", "rawQueryString": "",
		"headers": map[string]string{header: "Bearer alice", "content-type": "application/json"},
		"requestContext": map[string]any{
			"domainName": "porch.example",
			"http":       map[string]string{"method": "POST", "path": "/v1/ask", "sourceIp": "192.0.2.1"},
		},
		"body": body, "isBase64Encoded": isBase64,
	})
	if err != nil {
		panic(err)
	}
	return string(event)
}

// O112
func TestLambda_HeaderCaseAndBase64MakeNoDifference(t *testing.T) {
	const body = `{"question":"€"}`
	for _, header := range []string{"Authorization", "authorization", "AUTHORIZATION"} {
		for _, isBase64 := range []bool{false, true} {
			sent := body
			if isBase64 {
				sent = base64.StdEncoding.EncodeToString([]byte(body))
			}
			o, _ := options()
			a := asker(func(ctx context.Context, q turn.Question, emit func(turn.Event) error) error {
				if q.Text != "€" {
					t.Errorf("question %q", q.Text)
				}
				return tells(nil, wholeTurn()...)(ctx, q, emit)
			})
			resp := invoke(t, NewAsk(o, knows(t, "alice"), a), askEvent(header, sent, isBase64))
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 || resp.Headers["Content-Type"] != typeNDJSON {
				t.Errorf("%s, base64 %v: %d %v %v", header, isBase64, resp.StatusCode, resp.Headers, err)
			}
			golden(t, "ask.ndjson", got)
		}
	}
}

// O112: the limit counts what the question is, not how it travelled.
func TestLambda_LimitIsOnTheDecodedBody(t *testing.T) {
	const frame = `{"question":""}`
	encode := func(size int) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"question":"` + strings.Repeat("x", size-len(frame)) + `"}`))
	}
	tests := []struct {
		name, body string
		status     int
	}{
		{"32 KB", encode(maxBody), 200},
		{"32 KB and a byte", encode(maxBody + 1), 413},
		{"6 MB", encode(6 << 20), 413},
		{"broken base64", "!!!", 400},
		{"cut base64", encode(100)[:50], 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			resp := invoke(t, NewAsk(o, knows(t, "alice"), tells(nil, emptyTurn()...)), askEvent("authorization", tt.body, true))
			if _, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != tt.status {
				t.Errorf("status %d, %v", resp.StatusCode, err)
			}
		})
	}
}

// O97, O111: the first line arrives while the turn still runs, and the response ends only after it.
func TestLambda_StreamsWhileTheTurnRunsAndEndsAfterIt(t *testing.T) {
	o, _ := options()
	proceed, stored := make(chan struct{}), false
	a := asker(func(_ context.Context, _ turn.Question, emit func(turn.Event) error) error {
		if err := emit(turn.Began(turnID)); err != nil {
			return err
		}
		<-proceed
		if err := emit(turn.Ended(turn.Done{Outcome: "answered"})); err != nil {
			return err
		}
		stored = true
		return nil
	})
	resp := invoke(t, NewAsk(o, knows(t, "alice"), a), askEvent("authorization", `{"question":"q"}`, false))
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, turnID) {
		t.Fatalf("first line %q, %v", line, err)
	}
	close(proceed)
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.Contains(string(rest), `"type":"done"`) || !stored {
		t.Errorf("rest %q, stored %v, %v", rest, stored, err)
	}
}

// P7: lambdaurl recovers nothing and can't flush.
func TestLambda_PanicEndsTheResponseNotTheProcess(t *testing.T) {
	tests := []struct {
		name   string
		asker  asker
		status int
		golden string
	}{
		{"before the first line", func(context.Context, turn.Question, func(turn.Event) error) error { panic(canary) }, 500, "internal.json"},
		{"after it", func(_ context.Context, _ turn.Question, emit func(turn.Event) error) error {
			if err := emit(turn.Began(turnID)); err != nil {
				return err
			}
			panic(canary)
		}, 200, "ask_no_done.ndjson"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, log := options()
			resp := invoke(t, NewAsk(o, knows(t, "alice"), tt.asker), askEvent("authorization", `{"question":"q"}`, false))
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status {
				t.Errorf("status %d, %v", resp.StatusCode, err)
			}
			golden(t, tt.golden, got)
			if strings.Contains(log.String(), canary) {
				t.Errorf("content in the log: %s", log)
			}
		})
	}
}

// P7
func TestLambda_HandlerThatInsistsOnAFlusherFailsAlone(t *testing.T) {
	o, _ := options()
	h := Wrap(o)(func(w http.ResponseWriter, _ *http.Request) error {
		w.(http.Flusher).Flush()
		return nil
	})
	resp := invoke(t, h, askEvent("authorization", "", false))
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 500 {
		t.Errorf("status %d, %v", resp.StatusCode, err)
	}
	golden(t, "internal.json", got)
}

// P10: the reader going away is all that a Function URL tells us.
func TestLambda_ReaderThatLeavesStopsTheTurn(t *testing.T) {
	o, log := options()
	ended := make(chan error, 1)
	a := asker(func(_ context.Context, _ turn.Question, emit func(turn.Event) error) error {
		for {
			if err := emit(turn.Sentence("More.")); err != nil {
				ended <- err
				return err
			}
		}
	})
	h, done := NewAsk(o, knows(t, "alice"), a), make(chan struct{})
	resp := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		h.ServeHTTP(w, r)
	}), askEvent("authorization", `{"question":"q"}`, false))
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the turn went on")
	}
	<-done
	if e := entry(t, log); e["status"] != 499.0 {
		t.Errorf("log %s", log)
	}
}
