package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

// stream sends body and hands every line of the NDJSON answer to read.
func (c *client) stream(ctx context.Context, path string, body any, read func(line []byte) error) error {
	response, err := c.send(ctx, http.MethodPost, path, body, "application/x-ndjson")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := read(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
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

// ask asks one question and collects the events; each is also handed to tell, which may be nil.
func (c *client) ask(ctx context.Context, question string, tell func(sentence string)) (reply, error) {
	var r reply
	err := c.stream(ctx, "/v1/ask", map[string]string{"question": question}, func(line []byte) error {
		var e struct {
			Type, Text, Code, Message string
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		switch e.Type {
		case "sentence":
			r.Sentences = append(r.Sentences, e.Text)
			if tell != nil {
				tell(e.Text)
			}
		case "reset":
			r.Sentences = nil
		case "error":
			return &refusal{http.StatusOK, e.Code, e.Message}
		}
		return json.Unmarshal(line, &r)
	})
	return r, err
}
