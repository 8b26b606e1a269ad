// Command bench measures what the design promises and prints it as one table. Both sides of a ratio
// are measured in turns within one run, so that a busy machine slows both; the ratios mean something
// on another machine, the milliseconds only beside them. It is no test: it ends with 0 when a limit is
// passed, and marks the row.
//
// It speaks to the database as the functions do (request.go) and to the server over HTTP (demo.go),
// and holds its data to itself: a private Postgres in a temporary folder, removed at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience ends a run that hangs; a whole run takes about two minutes.
const patience = 6 * time.Minute

// sizes are the numbers that --quick makes smaller.
type sizes struct {
	brands  []int // chunks of the brands that are searched, ascending
	others  int   // chunks of all other brands together
	queries int   // for the recall of each brand
	rounds  int   // of each race
	slow    int   // of the race against the tutorial's function
	repeats int   // of the demo's questions
}

var (
	full  = sizes{brands: []int{250, 2500, 10000}, others: 100000, queries: 50, rounds: 60, slow: 9, repeats: 3}
	quick = sizes{brands: []int{250, 1000, 2500}, others: 10000, queries: 20, rounds: 30, slow: 5, repeats: 1}
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	isQuick := flags.Bool("quick", false, "smaller sizes, for a first look: other ratios, so no limits")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Measures retrieval, round trips and whole questions on this machine; prints ratios as a table.\n"+
			"make bench, or: scripts/bench.sh [flags]\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	size := full
	if *isQuick {
		size = quick
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	progress := newProgress(os.Stderr)
	results := table{hasLimits: !*isQuick}
	err := measureSearch(ctx, size, progress, &results)
	if err == nil {
		err = measureDemo(ctx, size, progress, &results)
	}
	progress.end()
	results.print(os.Stdout) // what was measured until then, too
	return err
}
