package house_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// caseIDs are the cases that tests/README.md has to speak of: prefix and the numbers from 1.
var caseIDs = map[string]int{"T": 18, "J": 25, "Q": 20, "E": 16, "C": 7, "I": 12, "D": 13, "U": 14}

// faultIDs are the faults reported in public that it has to speak of.
var faultIDs = strings.Fields("O36 O39 O40 O41 O64 O65 O66 O67 O68 O69 O72 O73 O74 O75 O76 O81 O82 O83 O84 O96 O99 O105 O108 O109 O111")

// TestCases_EachNamesATestOrSaysWhyNot: every row of the tables in tests/README.md names a test that
// exists, or a dash and the reason; every case has a row.
func TestCases_EachNamesATestOrSaysWhyNot(t *testing.T) {
	text := read(t, "tests/README.md")
	checkNamedTests(t, "tests/README.md", text, 100)
	rows := map[string]bool{}
	row := regexp.MustCompile(`(?m)^\| ([A-Z]\d+(?:[,–-] ?[A-Z]?\d+)*) \| ([^|]*) \| ([^|]*) \|$`)
	for _, parts := range row.FindAllStringSubmatch(text, -1) {
		for _, id := range regexp.MustCompile(`[A-Z]\d+`).FindAllString(parts[1], -1) {
			rows[id] = true
		}
		hasTest := strings.Contains(parts[2], "`Test") || strings.Contains(parts[2], "`Fuzz") || strings.Contains(parts[2], "`tests/sql/")
		if !hasTest && (strings.TrimSpace(parts[2]) != "–" || len(parts[3]) < 20) {
			t.Errorf("%s names no test and gives no reason: %q", parts[1], parts[2])
		}
	}
	for prefix, last := range caseIDs {
		for n := 1; n <= last; n++ {
			if id := fmt.Sprintf("%s%d", prefix, n); !rows[id] {
				t.Errorf("there is no row for %s", id)
			}
		}
	}
	for _, id := range faultIDs {
		if !rows[id] {
			t.Errorf("there is no row for %s", id)
		}
	}
}
