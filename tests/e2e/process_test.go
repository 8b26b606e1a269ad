package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"porchlight/functions/local/postgres"
)

// server is a running `porchlight serve`.
type server struct {
	name      string
	url       string
	database  string            // the superuser's address of its database
	runtime   string            // that by which the functions reach it
	data      string            // its --data
	library   string            // its --brands; may be empty
	people    sync.Mutex        // guards passwords
	passwords map[string]string // by address
	log       *output           // its standard error
	told      secrets           // what it must not write down

	environment []string
	command     *exec.Cmd
	ended       chan struct{} // closed once it is gone
	err         error         // how it went; read after ended
}

type options struct {
	name        string           // of the server and its database
	brands      string           // folder of brands
	environment []string         // "NAME=value", beside what every child gets
	link        *link            // to go by to Postgres and to the pooler; nil: straight
	cluster     *postgres.Server // instead of the shared one
	embedded    bool             // let it start a Postgres of its own
}

// start starts a server and returns when it says that it is ready.
func start(ctx context.Context, o options) (*server, error) {
	s := &server{
		name: o.name, data: filepath.Join(root, "data-"+o.name), library: o.brands,
		passwords: map[string]string{}, log: &output{}, ended: make(chan struct{}),
		environment: childEnvironment(o.environment...),
	}
	if !o.embedded {
		if err := s.createDatabase(ctx, o); err != nil {
			return nil, err
		}
	}
	arguments := []string{"serve", "--json", "--address=127.0.0.1:0", "--data=" + s.data}
	if o.brands != "" {
		arguments = append(arguments, "--brands="+o.brands)
	}
	s.command = exec.Command(binary, arguments...)
	s.command.Env, s.command.Stderr, s.command.SysProcAttr = s.environment, s.log, childAttributes()
	ready, err := s.launch()
	if err == nil {
		err = s.awaitReady(ready)
	}
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w\n%s", o.name, err, s.log)
	}
	return s, nil
}

// createDatabase makes the server's database, and tells it the way to it.
func (s *server) createDatabase(ctx context.Context, o options) error {
	where, pooler := cluster, poolerAddress()
	if o.cluster != nil {
		where, pooler = o.cluster, ""
	}
	name := "e2e_" + strings.ReplaceAll(o.name, "-", "_") + "_" + fmt.Sprint(os.Getpid())
	if err := where.CreateDatabase(ctx, name); err != nil {
		return err
	}
	s.database, s.runtime = where.AdminURL(name), where.RuntimeURL(name)
	address := s.database
	if o.link != nil {
		address, pooler = through(address, o.link.postgres.address), o.link.pooler.address
	}
	// clipped: tests that run at once append to it, each for itself
	s.environment = slices.Clip(append(s.environment, "PORCHLIGHT_POSTGRES_URL="+address, "PORCHLIGHT_POOLER="+pooler))
	return nil
}

// launch starts the process. Linux sends a child its death signal when the thread that forked it ends,
// so one goroutine keeps that thread.
func (s *server) launch() (<-chan []byte, error) {
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started, ready := make(chan error), make(chan []byte, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.command.Start()
		started <- err
		if err != nil {
			return
		}
		line, _ := bufio.NewReader(stdout).ReadBytes('\n')
		ready <- line
		s.err = s.command.Wait()
		close(s.ended)
	}()
	return ready, <-started
}

func (s *server) awaitReady(ready <-chan []byte) error {
	var line []byte
	select {
	case line = <-ready:
	case <-time.After(patience):
		return errors.Join(errors.New("it is not ready in time"), s.stop())
	}
	var r struct {
		URL    string `json:"url"`
		Brands []struct {
			Members []struct{ Email, Password string } `json:"members"`
		} `json:"brands"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return errors.Join(fmt.Errorf("it said %q", line), s.stop())
	}
	s.url = r.URL
	for _, b := range r.Brands {
		for _, m := range b.Members {
			s.passwords[m.Email] = m.Password
		}
	}
	return nil
}

// stop asks the server to end and waits until it has. It has to end well and soon.
func (s *server) stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		_ = s.command.Process.Kill()
		return fmt.Errorf("serve %s did not end", s.name)
	}
	if s.err != nil {
		return fmt.Errorf("serve %s ended badly: %w\n%s", s.name, s.err, s.log)
	}
	return nil
}

// end stops the server, after what it has stored is recorded, and looks at what it wrote down and at what
// it leaves on the connections.
func (s *server) end(ctx context.Context) error {
	return errors.Join(s.recordRows(ctx, records), s.checkConnections(ctx), s.stop(), s.checkLog())
}

// open starts a server of a test's own and stops it at the end of the test.
func open(t *testing.T, o options) *server {
	t.Helper()
	s, err := start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

// childEnvironment is what a child gets to know: nothing of the person's own settings.
func childEnvironment(more ...string) []string {
	environment := []string{"TMPDIR=" + root}
	for _, name := range []string{"PATH", "HOME", "XDG_CACHE_HOME", "PORCHLIGHT_CACHE"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	return append(environment, more...)
}

// ran is what a command said and how it ended.
type ran struct {
	stdout, stderr string
	code           int
}

// run runs the command with arguments to its end, on the database of the server.
func (s *server) run(t *testing.T, arguments ...string) ran {
	t.Helper()
	return runIn(t, append(s.environment, "PORCHLIGHT_DATA="+s.data), arguments...)
}

func runIn(t *testing.T, environment []string, arguments ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, binary, arguments...)
	command.Env, command.Stdout, command.Stderr = environment, &stdout, &stderr
	var ended *exec.ExitError
	if err := command.Run(); err != nil && (!errors.As(err, &ended) || ctx.Err() != nil) {
		t.Fatalf("porchlight %s: %v\n%s", strings.Join(arguments, " "), err, stderr.String())
	}
	records.add(ofProcess, screenOf(environment, arguments), "porchlight "+strings.Join(arguments, " "), stdout.String()+stderr.String())
	return ran{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// screenOf says who sees what a command prints: the person whom it signs in, else the operator.
func screenOf(environment, arguments []string) string {
	brand := everyBrand
	for _, text := range append(slices.Clone(environment), arguments...) {
		for _, name := range []string{"PORCHLIGHT_EMAIL=", "--email="} {
			if email, ok := strings.CutPrefix(text, name); ok {
				brand = records.brandOf(email)
			}
		}
	}
	return brand
}

// mustRun is run for commands that have to end well.
func (s *server) mustRun(t *testing.T, arguments ...string) ran {
	t.Helper()
	r := s.run(t, arguments...)
	if r.code != 0 {
		t.Fatalf("porchlight %s ended with %d: %s%s", strings.Join(arguments, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

// output collects what a process writes while others read it.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

// noneLeft fails when a process of this run is still there. Without /proc it sees none.
func noneLeft() error {
	var left []error
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		for _, name := range []string{link, filepath.Join(filepath.Dir(link), "cwd")} {
			if target, err := os.Readlink(name); err == nil && strings.HasPrefix(target, root+"/") {
				left = append(left, fmt.Errorf("still running after the tests: %s, %s", filepath.Dir(link), target))
			}
		}
	}
	return errors.Join(left...)
}
