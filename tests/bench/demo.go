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
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"porchlight/functions/local/postgres"
)

// timing is how long one question took: as the server says, in whole milliseconds, and as the client
// saw it, from the question to the last byte.
type timing struct {
	MS struct{ Embed, Match, Answer, Store int64 } `json:"ms"`

	seen time.Duration
}

// measureDemo asks the labelled questions of the demo's brands that have an answer, over HTTP, one
// after the other, without a key: embedded by the local model, answered in the documents' own words.
func measureDemo(ctx context.Context, s sizes, p *progress, results *table) (err error) {
	dir, err := os.MkdirTemp("", "porchlight-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // whom Postgres runs as under root passes through
		return err
	}
	p.begin("Building the command and indexing the brands of the demo with it")
	server, err := serve(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.liftLimits(ctx); err != nil {
		return fmt.Errorf("lift the limits of the brands: %w", err)
	}
	p.begin("Asking the questions of the demo")
	var timings []timing
	files, err := filepath.Glob("tests/corpora/*/questions.yaml")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find tests/corpora/*/questions.yaml from the root of the repository: %w", err)
	}
	for _, file := range files {
		more, err := server.askAll(ctx, file, s.repeats)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		timings = append(timings, more...)
	}
	report(timings, results)
	return nil
}

// liftLimits lets a rep ask more than ten questions a minute.
func (s *served) liftLimits(ctx context.Context) error {
	database, err := postgres.Find(ctx, s.data)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, database.AdminURL(database.Database()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `update app.tenant_limits set turns_per_minute = 1000, turns_per_day = 1000000`)
	return err
}

// askAll asks the questions of a brand that have an answer, some times over.
func (s *served) askAll(ctx context.Context, file string, repeats int) (timings []timing, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var questions []struct {
		Question string   `yaml:"question"`
		Kind     string   `yaml:"kind"`
		Sources  []string `yaml:"sources"`
	}
	if err := yaml.Unmarshal(text, &questions); err != nil {
		return nil, err
	}
	token, err := s.signIn(ctx, "rep@"+filepath.Base(filepath.Dir(file))+".example")
	if err != nil {
		return nil, err
	}
	for round := range repeats + 1 { // the first one warms up
		for _, q := range questions {
			if len(q.Sources) == 0 || q.Kind == "stale" {
				continue
			}
			t, err := s.ask(ctx, token, q.Question)
			if err != nil {
				return nil, fmt.Errorf("ask %q: %w", q.Question, err)
			}
			if round > 0 {
				timings = append(timings, t)
			}
		}
	}
	return timings, nil
}

func (s *served) signIn(ctx context.Context, email string) (token string, err error) {
	var session struct {
		AccessToken string `json:"access_token"`
	}
	response, err := s.post(ctx, "/auth/v1/token?grant_type=password", "",
		map[string]string{"email": email, "password": s.passwords[email]})
	if err != nil {
		return "", fmt.Errorf("sign in %s: %w", email, err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&session); err != nil {
		return "", fmt.Errorf("sign in %s: %w", email, err)
	}
	return session.AccessToken, nil
}

// ask asks one question and reads the answer to its last byte.
func (s *served) ask(ctx context.Context, token, question string) (t timing, err error) {
	begun := time.Now()
	response, err := s.post(ctx, "/v1/ask", token, map[string]string{"question": question})
	if err != nil {
		return t, err
	}
	defer response.Body.Close()
	var last []byte
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		last = append(last[:0], lines.Bytes()...)
	}
	if err := lines.Err(); err != nil {
		return t, err
	}
	t.seen = time.Since(begun)
	if !bytes.Contains(last, []byte(`"type":"done"`)) {
		return t, fmt.Errorf("the answer ended with %s", last)
	}
	return t, json.Unmarshal(last, &t)
}

// post sends a JSON body; a status that is not 2xx is an error.
func (s *served) post(ctx context.Context, path, token string, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/x-ndjson")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err == nil && response.StatusCode/100 != 2 {
		defer response.Body.Close()
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		err = fmt.Errorf("%s: %s", response.Status, reason)
	}
	return response, err
}

func report(timings []timing, results *table) {
	for _, step := range []struct {
		name string
		of   func(timing) time.Duration
	}{
		{fmt.Sprintf("question to last byte, no key, %d questions", len(timings)), func(t timing) time.Duration { return t.seen }},
		{"  of it embed, in whole ms", func(t timing) time.Duration { return whole(t.MS.Embed) }},
		{"  match", func(t timing) time.Duration { return whole(t.MS.Match) }},
		{"  answer", func(t timing) time.Duration { return whole(t.MS.Answer) }},
		{"  store", func(t timing) time.Duration { return whole(t.MS.Store) }},
	} {
		times := make([]time.Duration, len(timings))
		for i, t := range timings {
			times[i] = step.of(t)
		}
		results.note(step.name, fmt.Sprintf("%s, p95 %s", millis(quantile(times, 0.5)), millis(quantile(times, 0.95))))
	}
}

func whole(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
