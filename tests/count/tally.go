package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string // of a build
	Elapsed                       float64
}

// tally counts results while they arrive.
type tally struct {
	out             io.Writer
	passed, failed  int
	packages        map[string]*progress
	builds          map[string][]string // output by import path
	skipped, broken []string            // "package Test"
}

// progress is what is known of a package that runs.
type progress struct {
	passed, failed, skipped int
	order                   []string            // tests that have begun and not ended
	output                  map[string][]string // by test; "" is the package's own
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, packages: map[string]*progress{}, builds: map[string][]string{}}
}

func (t *tally) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				t.add(e)
			} else {
				fmt.Fprintf(t.out, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read test results: %w", err)
		}
	}
}

// noise are the lines that go test -v prints for itself.
var noise = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) |PASS$|FAIL$|ok  \t|FAIL\t|\s*--- (PASS|SKIP): )`)

func (t *tally) add(e event) {
	if e.Action == "build-output" {
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	p := t.packages[e.Package]
	if p == nil {
		p = &progress{output: map[string][]string{}}
		t.packages[e.Package] = p
	}
	switch {
	case e.Action == "output" && !noise.MatchString(strings.TrimSuffix(e.Output, "\n")):
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		t.endPackage(e, p)
	case e.Action == "run":
		p.order = append(p.order, e.Test)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		p.order = slices.DeleteFunc(p.order, func(test string) bool { return test == e.Test })
		t.endTest(e, p)
	}
}

func (t *tally) endTest(e event, p *progress) {
	switch e.Action {
	case "pass":
		p.passed++
	case "fail":
		p.failed++
		t.broken = append(t.broken, e.Package+" "+e.Test)
		t.show(p.output[e.Test])
	case "skip":
		p.skipped++
		t.skipped = append(t.skipped, e.Package+" "+e.Test+"\n"+strings.Join(p.output[e.Test], ""))
	}
	delete(p.output, e.Test)
}

// endPackage prints the package's line, and what it says beside its tests. A package that failed without a failed test (it did not
// build, its TestMain failed, it crashed or ran out of time) is one failure.
func (t *tally) endPackage(e event, p *progress) {
	if e.Action == "fail" && p.failed == 0 {
		p.failed++
		t.broken = append(t.broken, e.Package)
		t.show(t.builds[e.FailedBuild])
		for _, test := range append([]string{""}, p.order...) {
			t.show(p.output[test])
		}
	}
	t.passed += p.passed
	t.failed += p.failed
	delete(t.packages, e.Package)
	if p.passed+p.failed+p.skipped == 0 {
		return // no tests
	}
	verdict := "ok  "
	if p.failed > 0 {
		verdict = "FAIL"
	}
	fmt.Fprintf(t.out, "%s %-48s %4d passed", verdict, e.Package, p.passed)
	if p.failed > 0 {
		fmt.Fprintf(t.out, ", %d failed", p.failed)
	}
	fmt.Fprintf(t.out, "  %.1f s\n", e.Elapsed)
	if e.Action == "pass" {
		t.show(p.output[""]) // what it found of the whole run
	}
}

func (t *tally) show(output []string) {
	for _, line := range output {
		fmt.Fprint(t.out, line)
	}
}

// summarize repeats what a person should not miss above the counts.
func (t *tally) summarize() {
	for _, test := range t.skipped {
		fmt.Fprintln(t.out, "skipped:", strings.TrimSpace(test))
	}
	for _, test := range t.broken {
		fmt.Fprintln(t.out, "failed:", test)
	}
}
