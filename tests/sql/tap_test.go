package sql_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An assertion is one line of TAP with the comments that follow it.
type assertion struct {
	ok          bool
	description string
	diagnostics []string
}

var (
	planLine      = regexp.MustCompile(`^1\.\.(\d+)\b`)
	assertionLine = regexp.MustCompile(`^(not )?ok (\d+)(?: - )?(.*)$`)
	directive     = regexp.MustCompile(`(?i)(# (skip|todo)\b|^SKIP:)`)
)

// parseTAP reads what a pgTAP file printed. faults say why the file fails even if every assertion
// held: a plan that was not kept, none at all, a bail-out, an assertion that was skipped.
func parseTAP(rows []string) (assertions []assertion, faults []string) {
	fault := func(format string, values ...any) { faults = append(faults, fmt.Sprintf(format, values...)) }
	planned := -1
	for line := range strings.Lines(strings.Join(rows, "\n")) {
		line = strings.TrimRight(line, "\r\n")
		switch parts := assertionLine.FindStringSubmatch(line); {
		case parts != nil:
			assertions = append(assertions, assertion{ok: parts[1] == "", description: parts[3]})
			if parts[2] != strconv.Itoa(len(assertions)) {
				fault("assertion %s follows number %d", parts[2], len(assertions)-1)
			}
			if directive.MatchString(parts[3]) {
				fault("assertion %s is skipped: %s", parts[2], parts[3])
			}
		case planLine.MatchString(line):
			planned, _ = strconv.Atoi(planLine.FindStringSubmatch(line)[1])
		case strings.HasPrefix(line, "Bail out!"):
			fault("%s", line)
		case strings.HasPrefix(line, "#") && len(assertions) > 0:
			last := &assertions[len(assertions)-1]
			last.diagnostics = append(last.diagnostics, line)
		}
	}
	switch {
	case len(assertions) == 0:
		fault("no assertion was made")
	case planned < 0:
		fault("there is no plan")
	case planned != len(assertions):
		fault("%d assertions were planned, %d made", planned, len(assertions))
	}
	return assertions, faults
}

func TestParseTAP(t *testing.T) {
	for _, test := range []struct {
		name   string
		rows   []string
		oks    []bool
		faults []string
	}{
		{"all is well", []string{"1..2", "ok 1 - one", "a row of another query", "ok 2 - two"}, []bool{true, true}, nil},
		{"the plan may come last", []string{"ok 1 - one", "1..1"}, []bool{true}, nil},
		{"a failure keeps the rest", []string{"1..2", "not ok 1 - one\n# Failed test 1", "ok 2"}, []bool{false, true}, nil},
		{"too few", []string{"1..2", "ok 1 - one"}, []bool{true}, []string{"2 assertions were planned, 1 made"}},
		{"none", []string{"1..0"}, nil, []string{"no assertion was made"}},
		{"no plan", []string{"ok 1 - one"}, []bool{true}, []string{"there is no plan"}},
		{"one was lost", []string{"1..2", "ok 1 - one", "ok 3 - three"}, []bool{true, true}, []string{"assertion 3 follows number 1"}},
		{"bail out", []string{"1..1", "Bail out! no", "ok 1"}, []bool{true}, []string{"Bail out! no"}},
		{"skipped", []string{"1..1", "ok 1 - SKIP: later"}, []bool{true}, []string{"assertion 1 is skipped: SKIP: later"}},
		{"put off", []string{"1..1", "not ok 1 - one # TODO later"}, []bool{false}, []string{"assertion 1 is skipped: one # TODO later"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assertions, faults := parseTAP(test.rows)
			var oks []bool
			for _, a := range assertions {
				oks = append(oks, a.ok)
			}
			if !slices.Equal(oks, test.oks) || !slices.Equal(faults, test.faults) {
				t.Errorf("got %v %q, want %v %q", oks, faults, test.oks, test.faults)
			}
		})
	}
}
