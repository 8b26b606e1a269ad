// Command porchlight runs everything on one machine (serve, demo) and holds the operator's verbs.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"porchlight/functions/internal/pdf"
	"porchlight/functions/internal/problem"
)

// version is set when a release is built.
var version = "development"

type cli struct {
	Demo    demoCmd    `cmd:"" help:"Show it all: two fictional brands, eight questions, nothing left running."`
	Serve   serveCmd   `cmd:"" help:"Run database, sign-in and all handlers on this machine."`
	Ask     askCmd     `cmd:"" help:"Ask a running server a question, as a signed-in rep. Ends with 0 when it is answered, with 3 when not."`
	Tenant  tenantCmd  `cmd:"" help:"Register and list brands."`
	User    userCmd    `cmd:"" help:"Create people who can sign in, and give them new passwords."`
	Ingest  ingestCmd  `cmd:"" help:"Index the documents of a brand (the operator's way, straight to the database)."`
	Reindex reindexCmd `cmd:"" help:"Start or watch a reindex on a running server, as a signed-in admin."`
	Eval    evalCmd    `cmd:"" help:"Measure on labelled data that nobody wrote for this."`
	Migrate migrateCmd `cmd:"" help:"Bring a database up to date."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// The exit codes.
const (
	exitFailed  = 1 // something went wrong; the message says what and what to do
	exitUsage   = 2 // the command line was not understood
	exitNothing = 3 // it worked, but there was no answer (ask), not everything was indexed (ingest, reindex) or a floor was missed (eval)
)

// exit ends the command with a code and, where words are due, a message.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }

func main() {
	if pdf.Child(os.Args, os.Stdin, os.Stdout) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("porchlight"),
		kong.Description("Answers a field rep's question from the brand's own documents, and from nothing else."),
		kong.Vars{"data": dataDir()},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "porchlight:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		parser.Errorf("%s", err)
		fmt.Fprintln(os.Stderr, "Run `porchlight --help`, or `porchlight <command> --help`.")
		return exitUsage
	}
	err = parsed.Run()
	var ended *exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended) && ended.err == nil:
		return ended.code
	case errors.Is(err, context.Canceled):
		return exitFailed
	}
	fmt.Fprintln(os.Stderr, "porchlight:", explain(err))
	if ended != nil {
		return ended.code
	}
	return exitFailed
}

// explain is what a person reads: of a refusal its sentence, of anything else all that is known.
func explain(err error) string {
	var p *problem.Error
	if !errors.As(err, &p) || p.Code == problem.Internal {
		return err.Error()
	}
	if p.Err != nil && p.Status() == http.StatusConflict { // the cause says which file
		return p.Message() + " (" + p.Err.Error() + ")"
	}
	return p.Message()
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	_, err := fmt.Println("porchlight", version)
	return err
}
