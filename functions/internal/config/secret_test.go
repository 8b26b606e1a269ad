package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// E16
func TestSecret_ShowsAsStarsEverywhere(t *testing.T) {
	s := Secret(canary)
	holder := struct{ Key Secret }{s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%U", "%20s", "%!"} {
		for _, value := range []any{s, &holder, holder, []Secret{s}, map[string]Secret{"k": s}, map[Secret]int{s: 1}} {
			got := fmt.Sprintf(verb, value)
			if strings.Contains(got, canary) || strings.Contains(strings.ToLower(got), fmt.Sprintf("%x", canary)) {
				t.Errorf("%s of %T: %s", verb, value, got)
			}
		}
	}
	if got := fmt.Sprintf("%v|%+v|%#v|%s", s, s, s, s); got != "***|***|***|***" {
		t.Errorf("%s", got)
	}
	if got := s.String() + Secret("").String(); got != "***" {
		t.Errorf("%s", got)
	}
	line, err := json.Marshal(map[string]any{"k": s, "all": holder})
	if err != nil || string(line) != `{"all":{"Key":"***"},"k":"***"}` {
		t.Errorf("%s, %v", line, err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "key", s, "all", holder)
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "key", s, "all", holder)
	if strings.Contains(log.String(), canary) || strings.Count(log.String(), mask) != 4 {
		t.Errorf("%s", &log)
	}
	if s.Reveal() != canary {
		t.Error("Reveal doesn't")
	}
}
