package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"porchlight/functions/internal/eval"
)

type evalCmd struct {
	Redaction evalRedactionCmd `cmd:"" help:"How well each kind of personal data is found, on labelled sentences. Ends with 3 when a kind misses its floor."`
}

type evalRedactionCmd struct {
	Data string `help:"Folder with the sentences: JSON lists of {full_text, spans} anywhere below it, or below security/pii in it." default:"../shared/data" type:"path"`
	JSON bool   `help:"Print one JSON object."`
}

// Run measures and prints. Nothing of the sentences is printed.
func (c evalRedactionCmd) Run() error {
	dir := c.Data
	if inner := filepath.Join(dir, "security", "pii"); isFolder(inner) {
		dir = inner
	}
	halves, err := eval.Redaction(os.DirFS(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s: name one with labelled sentences (--data)", c.Data)
	case errors.Is(err, eval.ErrNoSentences):
		return fmt.Errorf("%s: %w", c.Data, err)
	case err != nil:
		return err
	}
	isOK := true
	for _, h := range halves {
		for _, s := range h.Scores {
			isOK = isOK && s.OK
		}
	}
	if c.JSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{
			"min_recall": eval.MinRecall, "min_precision": eval.MinPrecision, "ok": isOK, "sets": halves,
		})
	} else {
		err = printScores(halves)
	}
	if err == nil && !isOK {
		return &exit{code: exitNothing}
	}
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func printScores(halves []eval.Half) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, h := range halves {
		fmt.Fprintf(table, "%s: %d SENTENCES, %d STOPPED\tRECALL\t\tPRECISION\t\t\n", title(h.Name), h.Sentences, h.Stopped)
		for _, s := range h.Scores {
			verdict := "ok"
			if !s.OK {
				verdict = "below the floor"
			}
			fmt.Fprintf(table, "  %s\t%.3f\t%d of %d\t%.3f\t%d of %d\t%s\n",
				s.Kind, s.Recall, s.Found, s.Labelled, s.Precision, s.Right, s.Reported, verdict)
		}
	}
	fmt.Fprintf(table, "The floors are %.2f and %.2f.\n", eval.MinRecall, eval.MinPrecision)
	return table.Flush()
}

func title(name string) string {
	return map[string]string{"all": "ALL", "even": "AT EVEN PLACES", "odd": "AT ODD PLACES"}[name]
}
