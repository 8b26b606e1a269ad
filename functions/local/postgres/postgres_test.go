package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStart_AnswersAndStopLeavesNothing(t *testing.T) {
	server := start(t, Options{})
	if got := ask(t, server.AdminURL("postgres"), "select current_user"); got != Superuser {
		t.Errorf("current_user = %q, want %q", got, Superuser)
	}
	pid, dir := server.process.pid, server.cluster.dir
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
}

func TestStart_IsPrivate(t *testing.T) {
	for setting, want := range map[string]string{
		"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "password_encryption": "scram-sha-256",
		"server_encoding": "UTF8", "log_min_error_statement": "panic",
	} {
		if got := ask(t, shared.AdminURL("postgres"), "show "+setting); got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
	if got := ask(t, shared.AdminURL("postgres"), "select string_agg(distinct auth_method, ',') from pg_hba_file_rules"); got != "scram-sha-256" {
		t.Errorf("authentication = %q", got)
	}
	if mode := fileMode(t, shared.cluster.dir); mode&0o066 != 0 {
		t.Errorf("others can list or change the folder: %o", mode)
	}
	for path, want := range map[string]fs.FileMode{shared.cluster.data(): 0o700, passwordFile(shared.cluster.dir): 0o600} {
		if mode := fileMode(t, path); mode != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(path), mode, want)
		}
	}
	password, _ := shared.address.User.Password()
	if err := ping(t.Context(), strings.Replace(shared.AdminURL("postgres"), password, "", 1)); err == nil {
		t.Error("a connection without a password was accepted")
	}
}

func fileMode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestStart_IsNotRoot(t *testing.T) {
	info, err := os.Stat(filepath.Join(shared.cluster.data(), "postmaster.pid")) // written by the server
	if err != nil {
		t.Fatal(err)
	}
	if info.Sys().(*syscall.Stat_t).Uid == 0 {
		t.Error("the server runs as root")
	}
}

func TestStart_KeepsANamedFolder(t *testing.T) {
	dir := home(t)
	server := start(t, Options{Dir: dir})
	do(t, server.AdminURL("postgres"), "create table kept (name text); insert into kept values ('porch')")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	server = start(t, Options{Dir: dir})
	if got := ask(t, server.AdminURL("postgres"), "select name from kept"); got != "porch" {
		t.Errorf("kept %q", got)
	}
}

func TestStart_SaysWhoRunsOnTheFolder(t *testing.T) {
	dir := home(t)
	server := start(t, Options{Dir: dir})
	_, err := Start(t.Context(), Options{Dir: dir})
	if !errors.Is(err, ErrRunning) {
		t.Fatalf("error = %v, want ErrRunning", err)
	}
	for _, want := range []string{dir, "pid " + strconv.Itoa(server.process.pid), server.address.Host} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestStart_AfterACrash(t *testing.T) {
	stranger := exec.CommandContext(t.Context(), "sleep", "600")
	stranger.SysProcAttr = childAttributes(shared.cluster.user)
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })

	for _, test := range []struct {
		name   string
		damage func(t *testing.T, c *cluster)
	}{
		{"the pid file names a dead process", func(*testing.T, *cluster) {}},
		{"the pid file names a process that is no server", func(t *testing.T, c *cluster) {
			path := filepath.Join(c.data(), "postmaster.pid")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(content), "\n")
			content = fmt.Appendf(nil, "%d\n%s", stranger.Process.Pid, rest)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := home(t)
			server := start(t, Options{Dir: dir})
			do(t, server.AdminURL("postgres"), "create table kept ()")
			do(t, server.AdminURL("postgres"), "checkpoint")
			if err := syscall.Kill(server.process.pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-server.process.done
			if err := server.Stop(); err != nil {
				t.Fatal(err)
			}
			test.damage(t, server.cluster)
			if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
				t.Errorf("Find: %v, want ErrNotRunning", err)
			}
			server = start(t, Options{Dir: dir})
			ask(t, server.AdminURL("postgres"), "select count(*)::text from kept")
		})
	}
}

func TestStart_BeginsAgainAfterAnInterruptedInitdb(t *testing.T) {
	dir := home(t)
	if err := os.MkdirAll(filepath.Join(dir, "data.partial", "base"), 0o755); err != nil {
		t.Fatal(err)
	}
	server := start(t, Options{Dir: dir})
	ask(t, server.AdminURL("postgres"), "select 'up'")
}

func TestStart_SaysWhyItCannot(t *testing.T) {
	for _, test := range []struct {
		name    string
		options func(t *testing.T) Options
		want    string
	}{
		{"no binaries", func(t *testing.T) Options { return Options{Binaries: t.TempDir()} }, "scripts/parts.sh"},
		{"data of another version", func(t *testing.T) Options {
			dir := home(t)
			server := start(t, Options{Dir: dir})
			if err := server.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return Options{Dir: dir}
		}, "incompatible with server"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Start(t.Context(), test.options(t))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestReachable_NamesTheFolderThatIsShut(t *testing.T) {
	shut := filepath.Join(t.TempDir(), "shut")
	if err := os.MkdirAll(filepath.Join(shut, "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	err := reachable(filepath.Join(shut, "inner"), 4_000_000)
	if err == nil || !strings.Contains(err.Error(), "cannot enter "+shut+":") {
		t.Errorf("error = %v", err)
	}
}

func TestFind_ReturnsTheServerOfAnotherProcess(t *testing.T) {
	dir := home(t)
	if _, err := Find(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before the start: %v, want ErrNotRunning", err)
	}
	server := start(t, Options{Dir: dir})
	found, err := Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if found.AdminURL("postgres") != server.AdminURL("postgres") {
		t.Error("Find returned another address")
	}
	if err := found.Stop(); err != nil {
		t.Fatal(err)
	}
	ask(t, server.AdminURL("postgres"), "select 'still up'")
}

func TestSweep_RemovesOnlyWhatNobodyHolds(t *testing.T) {
	parent := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"abandoned", "held", "stranger"} {
		dir := filepath.Join(parent, temporaryPrefix+name)
		if name == "stranger" {
			dir = filepath.Join(parent, name)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := lockDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock.Name(), old, old); err != nil {
			t.Fatal(err)
		}
		if name != "held" {
			_ = lock.Close()
			continue
		}
		defer func() { _ = lock.Close() }()
	}
	sweep(parent)
	left, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range left {
		names = append(names, entry.Name())
	}
	if got := strings.Join(names, " "); got != temporaryPrefix+"held stranger" {
		t.Errorf("left: %s", got)
	}
}

// ownerDirectory names the folder of a test process that starts a server and is killed.
const ownerDirectory = "PORCHLIGHT_TEST_OWNER_DIRECTORY"

func becomeOwner() {
	server, err := Start(context.Background(), Options{Dir: os.Getenv(ownerDirectory), Fast: true, Files: tinyFiles()})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.process.pid)
	select {}
}

func TestServer_EndsWhenItsOwnerIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there is no death signal elsewhere; TestStart_SaysWhoRunsOnTheFolder covers what happens
	}
	dir := home(t)
	owner := exec.CommandContext(t.Context(), os.Args[0])
	owner.Env = append(os.Environ(), ownerDirectory+"="+dir)
	output, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	lines.Scan()
	pid, err := strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatalf("the owner says %q", lines.Text())
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	// The next start waits until the orphan has ended, so success alone shows that it does.
	start(t, Options{Dir: dir})
	if (pidFile{pid: pid}).runs(filepath.Join(dir, "data")) {
		t.Error("the server of the killed owner is still there")
	}
}
