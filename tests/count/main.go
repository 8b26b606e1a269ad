// Command count runs "go test" with the arguments given, shows a line for each package and the full
// output of what failed, and prints last how many tests, subtests included, passed and failed. A
// process that outlives the tests counts as a failure.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// run runs the tests in a temporary folder of their own, so that what they leave can be told from
// everything else on the machine: database clusters name their folder in their arguments.
func run(ctx context.Context, arguments []string, out io.Writer) (ok bool, err error) {
	temporary, err := os.MkdirTemp("", "porchlight-tests-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	// the unprivileged user that runs Postgres under root has to pass through
	if err := os.Chmod(temporary, 0o711); err != nil {
		return false, err
	}
	tally, err := test(ctx, arguments, temporary, out)
	if err != nil {
		return false, err
	}
	left, err := processesNaming(ctx, temporary)
	if err != nil {
		return false, err
	}
	for _, process := range left {
		fmt.Fprintln(out, "still running after the tests:", process)
	}
	tally.failed += len(left)
	fmt.Fprintf(out, "%d passed, %d failed\n", tally.passed, tally.failed)
	return tally.failed == 0 && tally.passed > 0, nil
}

func test(ctx context.Context, arguments []string, temporary string, out io.Writer) (*tally, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-count=1"}, arguments...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run go test: %w", err)
	}
	tally := newTally(out)
	if err := tally.read(events); err != nil {
		return nil, err
	}
	err = cmd.Wait()
	tally.summarize()
	if err != nil && tally.failed == 0 { // it could not even begin, or was interrupted
		fmt.Fprintln(out, "go test:", err)
		tally.failed++
	}
	return tally, nil
}

// processesNaming lists the processes whose arguments name the folder.
func processesNaming(ctx context.Context, folder string) (found []string, err error) {
	if runtime.GOOS != "linux" {
		list, err := exec.CommandContext(ctx, "ps", "-A", "-o", "args=").Output()
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", err)
		}
		for line := range strings.Lines(string(list)) {
			if strings.Contains(line, folder) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		return found, nil
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		arguments, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(arguments), folder) {
			found = append(found, strings.ReplaceAll(strings.Trim(string(arguments), "\x00"), "\x00", " "))
		}
	}
	return found, err
}
