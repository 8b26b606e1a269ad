// Package served builds and starts the porchlight command for programs that measure or attack it from
// outside, over HTTP and in its database.
package served

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
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

// Server is a running `porchlight serve` on a database of its own, without a key of a provider.
type Server struct {
	URL       string
	Log       string            // the file of its log
	Passwords map[string]string // by e-mail
	data      string            // folder of its database
	process   *exec.Cmd
}

var (
	accountLine = regexp.MustCompile(`(\S+@\S+)  password: (\S+)`)
	readyLine   = regexp.MustCompile(`serves on (http://[^\s,]+)`)
)

// Start builds the command, from the root of the repository, starts it with the brands in a folder, and
// returns once it answers. Everything lies in dir; ending the context or calling Stop ends the process.
func Start(ctx context.Context, dir, brands string) (*Server, error) {
	command := filepath.Join(dir, "porchlight")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", command, "./functions/local").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the command from the root of the repository: %w\n%s", err, text)
	}
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &Server{Log: log.Name(), Passwords: map[string]string{}, data: filepath.Join(dir, "data")}
	s.process = exec.CommandContext(ctx, command, "serve",
		"--brands", brands, "--data", s.data, "--address", "127.0.0.1:0")
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
		return nil, errors.Join(fmt.Errorf("%w; the end of its log:\n%s", err, text[max(0, len(text)-2000):]), s.Stop())
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
func (s *Server) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if account := accountLine.FindStringSubmatch(lines.Text()); account != nil {
			s.Passwords[account[1]] = account[2]
		}
		if ready := readyLine.FindStringSubmatch(lines.Text()); ready != nil {
			s.URL = ready[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return errors.New("the server ended before it served")
}

// Stop ends the server and waits for it.
func (s *Server) Stop() error {
	_ = s.process.Process.Signal(os.Interrupt)
	if err := s.process.Wait(); err != nil && s.URL != "" {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}

// RuntimeURL returns the address by which the functions reach its database.
func (s *Server) RuntimeURL(ctx context.Context) (string, error) {
	database, err := postgres.Find(ctx, s.data)
	if err != nil {
		return "", err
	}
	return database.RuntimeURL(database.Database()), nil
}

// Connect opens a connection to its database as the superuser.
func (s *Server) Connect(ctx context.Context) (*pgx.Conn, error) {
	database, err := postgres.Find(ctx, s.data)
	if err != nil {
		return nil, err
	}
	return pgx.Connect(ctx, database.AdminURL(database.Database()))
}

// LiftLimits lets everybody ask as often as the tables can say.
func (s *Server) LiftLimits(ctx context.Context) error {
	conn, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err = conn.Exec(ctx, `update app.tenant_limits set turns_per_minute = 1000, turns_per_day = 1000000`); err != nil {
		return fmt.Errorf("lift the limits: %w", err)
	}
	return nil
}

// SignIn returns an access token of somebody whose password the server has printed.
func (s *Server) SignIn(ctx context.Context, email string) (token string, err error) {
	var session struct {
		AccessToken string `json:"access_token"`
	}
	reply, err := s.Send(ctx, http.MethodPost, "/auth/v1/token?grant_type=password", "",
		map[string]string{"email": email, "password": s.Passwords[email]})
	if err == nil {
		err = errors.Join(reply.Refused(), json.Unmarshal(reply.Body, &session))
	}
	if err != nil {
		return "", fmt.Errorf("sign in %s: %w", email, err)
	}
	return session.AccessToken, nil
}

// Reply is a response, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Refused is an error unless the status is 2xx.
func (r Reply) Refused() error {
	if r.Status/100 == 2 {
		return nil
	}
	return fmt.Errorf("%d: %s", r.Status, r.Body)
}

// Send sends a request, with a JSON body unless body is nil. Any status is a reply.
func (s *Server) Send(ctx context.Context, method, path, token string, body any) (Reply, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return Reply{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		return Reply{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/x-ndjson")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	reply := Reply{Status: response.StatusCode, Header: response.Header}
	reply.Body, err = io.ReadAll(response.Body)
	return reply, err
}
