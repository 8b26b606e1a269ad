package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// served is a running `porchlight serve` on a database of its own.
type served struct {
	url       string
	data      string            // folder of its database
	passwords map[string]string // by e-mail
	process   *exec.Cmd
}

var (
	accountLine = regexp.MustCompile(`(\S+@\S+)  password: (\S+)`)
	readyLine   = regexp.MustCompile(`serves on (http://[^\s,]+)`)
)

// serve builds the command, starts it with the brands of the demo, and returns once it answers.
// Everything lies in dir; ending the context or calling stop ends the process.
func serve(ctx context.Context, dir string) (*served, error) {
	command := filepath.Join(dir, "porchlight")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", command, "./functions/local").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the command from the root of the repository: %w\n%s", err, text)
	}
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &served{data: filepath.Join(dir, "data"), passwords: map[string]string{}}
	s.process = exec.CommandContext(ctx, command, "serve",
		"--brands", "tests/corpora", "--data", s.data, "--address", "127.0.0.1:0")
	s.process.Env = keyless(os.Environ())
	s.process.Stderr = log
	s.process.Cancel = func() error { return s.process.Process.Signal(os.Interrupt) }
	s.process.WaitDelay = 30 * time.Second
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	if err := s.read(out); err != nil {
		text, _ := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("%w; the end of its log:\n%s", err, text[max(0, len(text)-2000):]), s.stop())
	}
	return s, nil
}

// keyless leaves out what would make another server of it than the one of the demo.
func keyless(environment []string) (kept []string) {
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		switch {
		case name == "PORCHLIGHT_CACHE":
		case strings.HasPrefix(name, "PORCHLIGHT_"), strings.HasPrefix(name, "SUPABASE_"),
			strings.HasPrefix(name, "GEMINI_"), name == "GOOGLE_API_KEY":
			continue
		}
		kept = append(kept, variable)
	}
	return kept
}

// read takes passwords and address from what the command prints, and lets the rest run on.
func (s *served) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if account := accountLine.FindStringSubmatch(lines.Text()); account != nil {
			s.passwords[account[1]] = account[2]
		}
		if ready := readyLine.FindStringSubmatch(lines.Text()); ready != nil {
			s.url = ready[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return errors.New("the server ended before it served")
}

// stop ends the server and waits for it.
func (s *served) stop() error {
	_ = s.process.Process.Signal(os.Interrupt)
	if err := s.process.Wait(); err != nil && s.url != "" {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}
