// Command attack does to a running server what somebody would who wants more than is theirs, many times
// and at once, and prints what came of it: one row an attack. What one request shows is a test in
// tests/e2e; here are the figures that need hundreds of requests or a clock. It ends with 1 when a row is
// not as promised.
//
// An attack is a function in a file of its own and a line in the list below. It speaks HTTP to the server
// of the world that it is given and may look at its database; all of it is removed at the end.
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

// patience ends a run that hangs; a whole run takes a few minutes.
const patience = 15 * time.Minute

// attack makes one row. An error says that it could not be tried, not that it came through.
type attack func(ctx context.Context, w *world) (row, error)

// attacks run in this order, one after the other.
var attacks = []attack{
	mixCrowds,
	tellRuns,
	tellChunks,
	tellTurns,
	tellConversations,
	tellAnswers,
	tellBrands,
	raceTurns, // leaves other limits behind
	readLog,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	isHeld, err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "attack:", err)
	}
	if err != nil || !isHeld {
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) (isHeld bool, err error) {
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Attacks a server of its own many times and at once; prints what came of it as a table.\n"+
			"make attack, or: scripts/attack.sh\n")
	}
	if err := flags.Parse(arguments); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fmt.Fprintln(os.Stderr, "Building the command and indexing the brands with it")
	w, err := openWorld(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var rows table
	for _, try := range attacks {
		begun := time.Now()
		r, err := try(ctx, w)
		if err != nil {
			rows.print(os.Stdout) // what was found until then
			return false, err
		}
		fmt.Fprintf(os.Stderr, "%s … %.1f s\n", r.name, time.Since(begun).Seconds())
		rows = append(rows, r)
	}
	return rows.print(os.Stdout), nil
}
