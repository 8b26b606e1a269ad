package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// whole is an answer in which a guard took back the first sentence.
const whole = `{"type":"turn","turn_id":"t1"}
{"type":"sentence","text":"It is so."}
{"type":"reset"}
{"type":"sentence","text":"The Ember Nook costs €1,240.00."}
{"type":"sentence","text":"It was verified in May."}
{"type":"sources","sources":[{"source_id":"s1","title":"Stoves","type":"price","heading":"","verified_at":"2026-05-01","is_stale":false}]}
{"type":"actions","actions":[{"type":"open_source","source_id":"s1","label":"Open"}]}
{"type":"done","outcome":"answered","model":"extractive","index":"local","as_of":"2026-05-01","ms":{"total":7}}
`

func readReply(text string) (reply, error) {
	var r reply
	err := readEvents(strings.NewReader(text), r.add)
	return r, err
}

func TestReadEvents_CollectsAnAnswer(t *testing.T) {
	r, err := readReply(whole)
	if err != nil || r.TurnID != "t1" || r.Outcome != "answered" || r.Model != "extractive" || r.Index != "local" ||
		r.AsOf == nil || *r.AsOf != "2026-05-01" || r.MS.Total != 7 || len(r.Sources) != 1 || len(r.Actions) != 1 ||
		!slices.Equal(r.Sentences, []string{"The Ember Nook costs €1,240.00.", "It was verified in May."}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadEvents_RefusesWhatIsNoWholeAnswer(t *testing.T) {
	lines := strings.SplitAfter(whole, "\n")
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", errCut},
		{"cut before the end, cleanly", strings.Join(lines[:7], ""), errCut},
		{"cut in the middle of a line", whole[:len(whole)-20], errNoEvents},
		{"a page instead of events", "<html>\n", errNoEvents},
		{"something after the end", whole + lines[1], errNoEvents},
		{"the end twice", whole + lines[7], errNoEvents},
		{"a list", "[]\n", errNoEvents},
		{"a text of another type", `{"type":"sentence","text":7}` + "\n" + lines[7], errNoEvents},
		{"a line of more than a megabyte", `{"type":"sentence","text":"` + strings.Repeat("a", maxLine) + `"}` + "\n" + lines[7], errCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := readReply(tt.text); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
	var refused *refusal
	_, err := readReply(lines[0] + `{"type":"error","code":"internal","message":"Sorry."}` + "\n")
	if !errors.As(err, &refused) || refused.code != "internal" || refused.message != "Sorry." {
		t.Errorf("%v", err)
	}
}

// An event tells only what is its to tell.
func TestReadEvents_TakesFromAnEventWhatIsItsOwn(t *testing.T) {
	r, err := readReply(`{"type":"sentence","text":"a","outcome":"held","sentences":["b"],"turn_id":"x"}` + "\n" +
		`{"type":"news","text":"c","model":"x"}` + "\n" +
		`{"type":"done","outcome":"answered","sentences":["d"],"text":"e"}` + "\n")
	if err != nil || r.Outcome != "answered" || r.TurnID != "" || r.Model != "" || !slices.Equal(r.Sentences, []string{"a"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whatever a server sends, the reader ends without a panic, and takes nothing for whole that has lost its
// last line.
func FuzzReadEvents(f *testing.F) {
	f.Add(whole)
	f.Add(`{"type":"done"}`)
	f.Add("{\"type\":\"error\",\"code\":7}\n")
	f.Add("{\"TYPE\":\"done\"}\r\n\n")
	f.Add("{\"type\":\"sentence\",\"text\":\"\\ud800\"}\n{\"type\":\"done\",\"ms\":{\"total\":1e99}}")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readReply(text)
		if err != nil {
			return
		}
		rest := strings.TrimSuffix(text, "\n")
		rest = rest[:strings.LastIndex(rest, "\n")+1]
		if _, err := readReply(rest); err == nil {
			t.Errorf("%q is whole with and without its last line", text)
		}
		if n := strings.Count(text, "\n") + 1; len(r.Sentences) > n {
			t.Errorf("%d sentences in %d lines", len(r.Sentences), n)
		}
	})
}
