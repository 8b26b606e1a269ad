package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"porchlight/tests/served"
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
	server, err := served.Start(ctx, dir, "tests/corpora")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := server.LiftLimits(ctx); err != nil {
		return err
	}
	p.begin("Asking the questions of the demo")
	var timings []timing
	files, err := filepath.Glob("tests/corpora/*/questions.yaml")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("find tests/corpora/*/questions.yaml from the root of the repository: %w", err)
	}
	for _, file := range files {
		more, err := askAll(ctx, server, file, s.repeats)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		timings = append(timings, more...)
	}
	report(timings, results)
	return nil
}

// askAll asks the questions of a brand that have an answer, some times over.
func askAll(ctx context.Context, s *served.Server, file string, repeats int) (timings []timing, err error) {
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
	token, err := s.SignIn(ctx, "rep@"+filepath.Base(filepath.Dir(file))+".example")
	if err != nil {
		return nil, err
	}
	for round := range repeats + 1 { // the first one warms up
		for _, q := range questions {
			if len(q.Sources) == 0 || q.Kind == "stale" {
				continue
			}
			t, err := ask(ctx, s, token, q.Question)
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

// ask asks one question and reads the answer to its last byte.
func ask(ctx context.Context, s *served.Server, token, question string) (t timing, err error) {
	begun := time.Now()
	reply, err := s.Send(ctx, http.MethodPost, "/v1/ask", token, map[string]string{"question": question})
	if err == nil {
		err = reply.Refused()
	}
	if err != nil {
		return t, err
	}
	t.seen = time.Since(begun)
	lines := bytes.Split(bytes.TrimSpace(reply.Body), []byte("\n"))
	last := lines[len(lines)-1]
	if !bytes.Contains(last, []byte(`"type":"done"`)) {
		return t, fmt.Errorf("the answer ended with %s", last)
	}
	return t, json.Unmarshal(last, &t)
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
