package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRunning says that a folder's Postgres runs already, kept by another process.
var ErrRunning = errors.New("postgres already runs on this folder")

// ErrNotRunning says that Find found no server. It is an fs.ErrNotExist too.
var ErrNotRunning = fmt.Errorf("no postgres runs on this folder: %w", fs.ErrNotExist)

// Attach connects to a server that already runs and may be changed at will: Prepare gives its roles
// passwords. adminURL is a superuser's address; the database that it names, or else "postgres", is the
// one of Prepare. The superuser must not be called "postgres", because on Supabase, and so in the
// migrations, that role is none. Servers of hosted projects are refused:
// nobody gets a superuser there; Migrate serves them.
func Attach(ctx context.Context, adminURL string) (*Server, error) {
	address, err := parseAddress(adminURL)
	if err != nil {
		return nil, err
	}
	if address.User.Username() == "postgres" {
		return nil, errors.New(`the superuser must not be called "postgres": that role owns the migrations and is no superuser (initdb --username=` + Superuser + `)`)
	}
	server := &Server{
		address: *address, database: strings.TrimPrefix(address.Path, "/"), lasting: context.WithoutCancel(ctx),
	}
	server.use(Options{})
	conn, err := connect(ctx, server.AdminURL(server.Database()))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var superuser bool
	if err := conn.QueryRow(ctx, "select rolsuper from pg_roles where rolname = current_user").Scan(&superuser); err != nil {
		return nil, fmt.Errorf("ask for the role: %w", err)
	}
	if !superuser {
		return nil, fmt.Errorf("the role %q is no superuser", address.User.Username())
	}
	return server, nil
}

// Find returns the server that another process runs on dir, for verbs that only need its address.
// Stop on it stops nothing. Without one the error is ErrNotRunning.
func Find(ctx context.Context, dir string) (*Server, error) {
	c := &cluster{dir: dir}
	owner, err := readPIDFile(c.data())
	if err != nil || !owner.runs(c.data()) {
		return nil, fmt.Errorf("%w: %s", ErrNotRunning, dir)
	}
	password, err := c.password()
	if err != nil {
		return nil, err
	}
	server := &Server{address: clusterAddress(password, owner.port), lasting: context.WithoutCancel(ctx)}
	server.use(Options{})
	return server, nil
}

// pidFile is what a postmaster writes into postmaster.pid: its pid in line 1, its port in line 4.
type pidFile struct {
	pid  int
	port string
}

func readPIDFile(data string) (pidFile, error) {
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) < 4 {
		return pidFile{}, errors.New("postmaster.pid is incomplete")
	}
	pid, err := strconv.Atoi(lines[0])
	return pidFile{pid: pid, port: lines[3]}, err
}

// alive says whether any process that could be ours has the pid: Postgres runs as us, or we are root.
func (f pidFile) alive() bool { return f.pid > 0 && syscall.Kill(f.pid, 0) == nil }

// runs says whether the process is the server of that data folder. A pid is used again after a
// restart of the machine or the container, so on Linux its working folder decides; a dead process
// that nobody has waited for has none.
func (f pidFile) runs(data string) bool {
	if !f.alive() || runtime.GOOS != "linux" {
		return f.alive()
	}
	working, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", f.pid))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(data)
	return err == nil && working == real
}

// handover is how long a start waits for a server whose owner has just died.
const handover = 10 * time.Second

// checkNotRunning makes sure that no server uses the data folder. We hold the lock, so a server found
// here has lost its owner: on Linux it is about to end, elsewhere a person has to end it.
func (c *cluster) checkNotRunning(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	for {
		owner, err := readPIDFile(c.data())
		if err != nil {
			return nil // none, or one that Postgres itself judges
		}
		if !owner.runs(c.data()) {
			if owner.alive() { // Postgres would take the stranger for a server of this folder
				return os.Remove(filepath.Join(c.data(), "postmaster.pid"))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (kill -INT %d ends it)", alreadyRunning(c.dir), owner.pid)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// alreadyRunning says which process keeps the folder, and where.
func alreadyRunning(dir string) error {
	owner, err := readPIDFile((&cluster{dir: dir}).data())
	if err != nil {
		return fmt.Errorf("%w: %s is being set up by another process", ErrRunning, dir)
	}
	return fmt.Errorf("%w: %s has pid %d at 127.0.0.1:%s; end the process that started it, or use another folder", ErrRunning, dir, owner.pid, owner.port)
}
