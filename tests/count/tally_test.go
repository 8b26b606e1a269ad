package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	for _, test := range []struct {
		name           string
		events         []string
		passed, failed int
		says           []string
		silent         []string
	}{
		{
			"counts subtests and shows only the output of what failed",
			[]string{
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA/x","Output":"fine\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA/x"}`,
				`{"Action":"output","Package":"p","Test":"TestA/y","Output":"got 1, want 2\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA/y"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"fail","Package":"p","Elapsed":1.5}`,
			},
			1, 2,
			[]string{"got 1, want 2\n", "FAIL p", "failed: p TestA/y"},
			[]string{"fine", "=== RUN"},
		},
		{
			"a package that does not build is one failure",
			[]string{
				`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:3: undefined: x\n"}`,
				`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			},
			0, 1,
			[]string{"undefined: x", "failed: p"},
			nil,
		},
		{
			"a crash shows what the running test printed",
			[]string{
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: no lamp\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			0, 1,
			[]string{"panic: no lamp"},
			nil,
		},
		{
			"a skipped test is named with its reason",
			[]string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no data\n"}`,
				`{"Action":"skip","Package":"p","Test":"TestA"}`,
				`{"Action":"pass","Package":"p"}`,
			},
			0, 0,
			[]string{"skipped: p TestA", "no data"},
			nil,
		},
		{
			"what a package says beside its tests is shown",
			[]string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"fine\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"PASS\n"}`,
				`{"Action":"output","Package":"p","Output":"7 words, none foreign\n"}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t1.5s\n"}`,
				`{"Action":"pass","Package":"p","Elapsed":1.5}`,
			},
			1, 0,
			[]string{"ok   p", "s\n7 words, none foreign\n"},
			[]string{"fine", "PASS", "\t"},
		},
		{
			"a package without tests is not mentioned",
			[]string{`{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}`, `{"Action":"skip","Package":"p"}`},
			0, 0, nil,
			[]string{"p"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			tally := newTally(&out)
			if err := tally.read(strings.NewReader(strings.Join(test.events, "\n"))); err != nil {
				t.Fatal(err)
			}
			tally.summarize()
			if tally.passed != test.passed || tally.failed != test.failed {
				t.Errorf("%d passed, %d failed, want %d and %d", tally.passed, tally.failed, test.passed, test.failed)
			}
			for _, want := range test.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not say %q:\n%s", want, &out)
				}
			}
			for _, not := range test.silent {
				if strings.Contains(out.String(), not) {
					t.Errorf("says %q:\n%s", not, &out)
				}
			}
		})
	}
}
