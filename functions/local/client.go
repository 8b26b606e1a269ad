package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// client speaks to a running server over HTTP, as an app with a Supabase client would.
type client struct {
	base  string // "http://127.0.0.1:8787"
	token string
	http  *http.Client
}

func newClient(base string) *client {
	return &client{base: strings.TrimSuffix(base, "/"), http: &http.Client{Timeout: 2 * time.Minute}}
}

// refusal is an error that the server gave as {"error": {code, message}} or as Supabase Auth does.
type refusal struct {
	status        int
	code, message string
}

func (e *refusal) Error() string { return fmt.Sprintf("%s (%s)", e.message, e.code) }

// signIn opens a session with e-mail and password and keeps its access token.
func (c *client) signIn(ctx context.Context, email, password string) error {
	var session struct {
		AccessToken string `json:"access_token"`
	}
	body := map[string]string{"email": email, "password": password}
	if err := c.call(ctx, http.MethodPost, "/auth/v1/token?grant_type=password", body, &session); err != nil {
		return fmt.Errorf("sign in %s: %w", email, err)
	}
	c.token = session.AccessToken
	return nil
}

// call sends body as JSON and reads the answer into out; either may be nil.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	response, err := c.send(ctx, method, path, body, "application/json")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return nil
}

// stream sends body and hands every event of the NDJSON answer to read.
func (c *client) stream(ctx context.Context, path string, body any, read func(event string, line []byte) error) error {
	response, err := c.send(ctx, http.MethodPost, path, body, "application/x-ndjson")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return readEvents(response.Body, read)
}

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

var (
	errCut      = errors.New("the answer was cut off: what was said may not be all of it, ask again")
	errNoEvents = errors.New("the server answered with something else than events")
)

// readEvents hands each event to read, with its line. Only an answer that ends with "done" is whole: a
// proxy may end a stream that was cut behind it as if all were well.
func readEvents(answer io.Reader, read func(event string, line []byte) error) error {
	lines := bufio.NewScanner(answer)
	lines.Buffer(nil, maxLine)
	isDone := false
	for lines.Scan() {
		var e struct{ Type, Code, Message string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || isDone {
			return errNoEvents // the text of err may quote the answer
		}
		if e.Type == "error" {
			return &refusal{http.StatusOK, e.Code, e.Message}
		}
		if err := read(e.Type, lines.Bytes()); err != nil {
			return err
		}
		isDone = e.Type == "done"
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w (%w)", errCut, err)
	}
	if !isDone {
		return errCut
	}
	return nil
}

// send returns a response of a 2xx status, or a *refusal.
func (c *client) send(ctx context.Context, method, path string, body any, accept string) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s can't be reached: is `porchlight serve` running? (%w)", c.base, err)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	var failure struct {
		Error struct{ Code, Message string }
		Code  any    `json:"error_code"`
		Msg   string `json:"msg"`
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	_ = json.Unmarshal(text, &failure)
	if failure.Error.Code == "" {
		failure.Error.Code, failure.Error.Message = fmt.Sprint(failure.Code), failure.Msg
	}
	return nil, &refusal{response.StatusCode, failure.Error.Code, failure.Error.Message}
}

// reply is the answer to one question, as the events told it.
type reply struct {
	TurnID    string    `json:"turn_id"`
	Outcome   string    `json:"outcome"`
	Sentences []string  `json:"sentences"`
	AsOf      *string   `json:"as_of"`
	Model     string    `json:"model"`
	Index     string    `json:"index"`
	Sources   []cited   `json:"sources"`
	Actions   []offered `json:"actions"`
	MS        millis    `json:"ms"`
}

type cited struct {
	SourceID   string  `json:"source_id"`
	Title      string  `json:"title"`
	Type       string  `json:"type"`
	Heading    string  `json:"heading"`
	VerifiedAt *string `json:"verified_at"`
	IsStale    bool    `json:"is_stale"`
}

type offered struct {
	Type     string `json:"type"`
	SourceID string `json:"source_id"`
	Label    string `json:"label"`
}

type millis struct {
	Embed  int64 `json:"embed"`
	Match  int64 `json:"match"`
	Answer int64 `json:"answer"`
	Store  int64 `json:"store"`
	Total  int64 `json:"total"`
}

// ask asks one question and collects its answer.
func (c *client) ask(ctx context.Context, question string) (reply, error) {
	var r reply
	err := c.stream(ctx, "/v1/ask", map[string]string{"question": question}, r.add)
	return r, err
}

// add takes from each event what is its to tell. What a model said before a reset is forgotten.
func (r *reply) add(event string, line []byte) error {
	var e struct {
		Text string `json:"text"`
		reply
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return errNoEvents
	}
	switch event {
	case "turn":
		r.TurnID = e.TurnID
	case "sentence":
		r.Sentences = append(r.Sentences, e.Text)
	case "reset":
		r.Sentences = nil
	case "sources":
		r.Sources = e.Sources
	case "actions":
		r.Actions = e.Actions
	case "done":
		r.Outcome, r.AsOf, r.Model, r.Index, r.MS = e.Outcome, e.AsOf, e.Model, e.Index, e.MS
	}
	return nil
}
