package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// readLog reads what the server wrote down while it was attacked: no word of any brand, no question.
func readLog(_ context.Context, w *world) (row, error) {
	r := row{name: "what the log says of it all"}
	text, err := os.ReadFile(w.Log)
	if err != nil {
		return r, err
	}
	log := strings.ToLower(string(text))
	r.foreign = w.foreign(brand{}, log) + strings.Count(log, strings.ToLower(question))
	r.figures = fmt.Sprintf("%d lines, %d bytes searched", strings.Count(log, "\n"), len(log))
	r.isHeld = r.foreign == 0 && len(log) > 0
	return r, nil
}
