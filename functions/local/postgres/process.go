package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// process is a running postmaster.
type process struct {
	pid  int
	done chan struct{} // closed once it is gone
	err  error         // how it went; read after done
}

// startTimeout allows for the recovery of a large cluster after a power cut.
const startTimeout = 60 * time.Second

// run starts the postmaster on a free port and waits until it answers. It tries again for some
// seconds when another program took the port first, or when the sessions of a server that was killed
// have not ended yet.
func (c *cluster) run(ctx context.Context, password string) (*process, url.URL, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		port, err := freePort(ctx)
		if err != nil {
			return nil, url.URL{}, err
		}
		address := clusterAddress(password, strconv.Itoa(port))
		p, err := c.spawn(c.arguments(port))
		if err != nil {
			return nil, url.URL{}, err
		}
		if err = p.waitReady(ctx, address); err == nil {
			return p, address, nil
		}
		_ = p.stop(stopTimeout)
		if tail := c.logTail(); !passing.MatchString(tail) || time.Since(began) > handover {
			return nil, url.URL{}, fmt.Errorf("%w; the end of its log:\n%s", err, tail)
		}
	}
}

// passing matches the log of a server that may start in a moment.
var passing = regexp.MustCompile(`Address already in use|pre-existing shared memory block`)

// clusterAddress is the superuser's address of a cluster made here.
func clusterAddress(password, port string) url.URL {
	return url.URL{
		Scheme: "postgres", User: url.UserPassword(Superuser, password),
		Host: net.JoinHostPort("127.0.0.1", port), RawQuery: "sslmode=disable",
	}
}

// arguments are the server's settings. The log holds no statement, parameter or row: a question or a
// document must not end up there.
func (c *cluster) arguments(port int) []string {
	args := []string{"-D", c.data(), "-p", strconv.Itoa(port)}
	values := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "logging_collector=off",
		"log_min_error_statement=panic", "log_error_verbosity=terse", "log_parameter_max_length_on_error=0",
		"timezone=UTC", "log_timezone=UTC", "jit=off",
	}
	if c.fast {
		values = append(values, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0")
	}
	for _, value := range values {
		args = append(args, "-c", value)
	}
	return args
}

func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// spawn starts the postmaster as a child. Linux sends the child its death signal when the thread that
// forked it ends, so one goroutine keeps that thread for as long as the child lives.
func (c *cluster) spawn(args []string) (*process, error) {
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	cmd := exec.Command(c.binary("postgres"), args...)
	c.dress(cmd)
	cmd.Stdout, cmd.Stderr = log, log
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = log.Close()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// waitReady returns nil once the server accepts a connection.
func (p *process) waitReady(ctx context.Context, address url.URL) error {
	address.Path = "/postgres"
	for {
		err := ping(ctx, address.String())
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("the server ended while it started (%w)", p.err)
		case <-ctx.Done():
			return fmt.Errorf("the server did not answer in time: %w", errors.Join(ctx.Err(), err))
		case <-time.After(15 * time.Millisecond):
		}
	}
}

func ping(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, address)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// stop asks for a fast shutdown, then for an immediate one, then kills. It returns when the process
// is gone, with an error when it had to be killed.
func (p *process) stop(patience time.Duration) error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop postgres (pid %d): %w", p.pid, err)
		}
		select {
		case <-p.done:
			if signal == syscall.SIGINT {
				return nil
			}
			return fmt.Errorf("postgres (pid %d) did not shut down in %s and was ended by %s", p.pid, patience, signal)
		case <-time.After(patience):
		}
	}
	return fmt.Errorf("postgres (pid %d) cannot be ended", p.pid)
}

// logTail returns the last lines of the server's log.
func (c *cluster) logTail() string {
	content, err := os.ReadFile(c.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
