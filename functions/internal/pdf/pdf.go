// Package pdf reads the text of PDF files with PDFium. A PDF may hang a parser or use up the memory of
// a machine, and nothing inside a process stops that: each one is read by a child process, a copy of
// this program with nothing but the file, which is killed at its limits. See Child.
package pdf

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The limits of one file.
const (
	MaxBytes  = 5 << 20          // of the file
	maxPages  = 200              // all of them or none
	maxAnswer = 8 << 20          // of the text, as the child writes it
	maxTime   = 10 * time.Second // from the moment that the child is ready
	maxStart  = 90 * time.Second // PDFium is compiled when no cache has it: 5 s on an idle machine
	maxMemory = 512 << 20        // resident, of the child once it is ready: compiling takes up to 340 MB
)

// Reader reads PDF files. It is safe for concurrent use; each call is a process.
type Reader struct {
	Executable string // a program whose main calls Child first: os.Executable()
	// Cache is a folder for PDFium, compiled: 21 MB, made at the first use. What is in it is run, so it
	// must belong to this user alone. Empty: each call compiles anew.
	Cache string
	// The limits, where a test needs others than maxTime and maxMemory.
	time   time.Duration
	memory int64
}

// answer is what a child writes: one line for each page, then one with Done or a Reason.
type answer struct {
	Ready  bool   `json:"ready,omitempty"`
	Page   string `json:"page"`
	Done   bool   `json:"done,omitempty"`
	Reason string `json:"reason,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Text returns the text of each page in reading order, as far as the file's text layer has one. A page
// without text is "", so page n is at n-1; at least one has text. Every error is a *Refusal.
func (r *Reader) Text(ctx context.Context, source io.Reader) ([]string, error) {
	document, err := io.ReadAll(io.LimitReader(source, MaxBytes+1))
	switch {
	case err != nil:
		return nil, &Refusal{Reason: Unreadable, Err: err}
	case len(document) > MaxBytes:
		return nil, refuse(TooLarge, "more than %d MB", MaxBytes>>20)
	}
	ctx, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	// No environment: the child gets no key and no address.
	child := exec.CommandContext(ctx, r.Executable, childArgument, r.Cache)
	child.Env = []string{"GOMEMLIMIT=384MiB", "GOTRACEBACK=none"}
	child.Stdin, child.WaitDelay = bytes.NewReader(document), time.Second
	output, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		return nil, &Refusal{Reason: Unavailable, Err: err}
	}
	clock := time.AfterFunc(maxStart, func() { kill(refuse(Unavailable, "its process was not ready in time")) })
	defer func() { clock.Stop() }()
	pages, refusal := receive(ctx, output, func() {
		clock.Stop()
		go watch(ctx, child.Process.Pid, cmp.Or(r.memory, maxMemory), kill)
		most := cmp.Or(r.time, maxTime)
		clock = time.AfterFunc(most, func() { kill(refuse(TimedOut, "more than %s", most)) })
	})
	kill(nil)
	_ = child.Wait() // how it ended is known: it said all, or was killed, or broke down
	if refusal != nil {
		return nil, refusal
	}
	return pages, nil
}

// receive collects what a child says.
func receive(ctx context.Context, output io.Reader, ready func()) ([]string, *Refusal) {
	limited := &io.LimitedReader{R: output, N: maxAnswer}
	var pages []string
	isReady := false
	for lines := json.NewDecoder(limited); ; {
		var a answer
		switch err := lines.Decode(&a); {
		case err != nil && ctx.Err() != nil:
			return nil, ended(ctx)
		case err != nil && limited.N <= 0:
			return nil, refuse(TooLarge, "more than %d MB of text", maxAnswer>>20)
		case err != nil && !isReady:
			return nil, refuse(Unavailable, "its process ended before it began")
		case err != nil:
			return nil, refuse(Damaged, "its parser broke down")
		case a.Reason != "":
			return nil, &Refusal{Reason: a.Reason, Detail: a.Detail}
		case a.Ready:
			isReady = true
			ready()
		case a.Done:
			return pages, nil
		default:
			pages = append(pages, a.Page)
		}
	}
}

// watch ends a child that takes too much memory. A limit of address space would not do: WebAssembly
// reserves far more than it uses. Where there is no /proc, the limits inside the child are left: 256 MB
// for PDFium, and a collector that works harder from 384 MB on.
func watch(ctx context.Context, pid int, most int64, kill context.CancelCauseFunc) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			if resident, err := residentBytes(pid); err == nil && resident > most {
				kill(refuse(TooLarge, "reading it takes more than %d MB of memory", most>>20))
			}
		}
	}
}

func residentBytes(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, errors.New("statm has another form")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
