package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// cluster is a folder with everything one private Postgres needs: data, password, log and the lock
// that keeps two of us apart.
type cluster struct {
	dir       string
	binaries  string
	temporary bool
	fast      bool
	user      *syscall.Credential // as whom Postgres runs; nil: as ourselves
	lock      *os.File
}

// nobody is the uid and gid that Postgres runs as under root when its folder names nobody else.
const nobody = 65534

// openCluster makes the folder if needed, locks it, and decides as whom Postgres runs.
func openCluster(options Options) (_ *cluster, err error) {
	c := &cluster{dir: options.Dir, binaries: options.Binaries, fast: options.Fast, temporary: options.Dir == ""}
	if _, err := os.Stat(c.binary("postgres")); err != nil {
		return nil, fmt.Errorf("the database binaries are missing (scripts/parts.sh fetches them): %w", err)
	}
	if c.temporary {
		sweep(os.TempDir())
		if c.dir, err = os.MkdirTemp("", temporaryPrefix); err == nil {
			err = letThrough(c.dir)
		}
	} else {
		c.dir, err = makeDir(options.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("make the database folder: %w", err)
	}
	if c.lock, err = lockDir(c.dir); err != nil {
		return nil, err
	}
	if err = c.chooseUser(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// makeDir makes dir, absolute, for nobody but us when it is new.
func makeDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return dir, nil
		}
		return "", err
	}
	return dir, letThrough(dir)
}

// letThrough lets the user that Postgres runs as under root pass a folder of ours to the data, which
// it owns, without letting it read or change what else is there.
func letThrough(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chmod(dir, 0o711)
}

// chooseUser picks the unprivileged user under root, and checks that it can reach what it needs.
func (c *cluster) chooseUser() error {
	if os.Geteuid() != 0 {
		return nil
	}
	c.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	info, err := os.Stat(c.dir)
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 {
		c.user = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	for _, path := range []string{c.dir, c.binary("postgres")} {
		if err := reachable(path, c.user.Uid); err != nil {
			return err
		}
	}
	return nil
}

// reachable says which folder on the way to path the user may not enter.
func reachable(path string, uid uint32) error {
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t).Uid
		if info.Mode()&0o001 == 0 && owner != uid {
			return fmt.Errorf("postgres does not run as root, and uid %d cannot enter %s: choose a folder that everyone may enter, or chmod o+x it", uid, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (c *cluster) binary(name string) string { return filepath.Join(c.binaries, "bin", name) }
func (c *cluster) data() string              { return filepath.Join(c.dir, "data") }
func (c *cluster) log() string               { return filepath.Join(c.dir, "postgres.log") }

func (c *cluster) exists() bool {
	_, err := os.Stat(filepath.Join(c.data(), "PG_VERSION"))
	return err == nil
}

// create runs initdb beside the data folder and renames the result, so that an interrupted one is
// never taken for a cluster.
func (c *cluster) create(ctx context.Context) error {
	partial := c.data() + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(partial, 0o700), c.give(partial)); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(passwordFile(c.dir), []byte(rand.Text()), 0o600), c.give(passwordFile(c.dir))); err != nil {
		return fmt.Errorf("write the cluster's password: %w", err)
	}
	args := []string{
		"--pgdata=" + partial, "--username=" + Superuser, "--auth=scram-sha-256",
		"--pwfile=" + passwordFile(c.dir), "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
	}
	if runtime.GOOS == "darwin" { // older ones have no C.UTF-8
		args = append(args, "--locale=en_US.UTF-8", "--lc-collate=C")
	}
	if c.fast {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, c.binary("initdb"), args...)
	c.dress(cmd)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(output))
	}
	return os.Rename(partial, c.data())
}

// dress gives a command of the cluster its user, folder and environment: none of ours, so that PG*
// variables of the person's shell mean nothing here.
func (c *cluster) dress(cmd *exec.Cmd) {
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_MESSAGES=C", "TZ=UTC"}
	cmd.SysProcAttr = childAttributes(c.user)
}

// give makes the user that Postgres runs as the owner of path.
func (c *cluster) give(path string) error {
	if c.user == nil {
		return nil
	}
	return os.Chown(path, int(c.user.Uid), int(c.user.Gid))
}

func passwordFile(dir string) string { return filepath.Join(dir, "password") }

func (c *cluster) password() (string, error) {
	content, err := os.ReadFile(passwordFile(c.dir))
	if err != nil {
		return "", fmt.Errorf("read the cluster's password: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// close gives the folder up, and removes it when it was temporary. Twice is once.
func (c *cluster) close() error {
	var err error
	if c.temporary {
		err = os.RemoveAll(c.dir)
	}
	if closing := c.lock.Close(); !errors.Is(closing, os.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return err
}
