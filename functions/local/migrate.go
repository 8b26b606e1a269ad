package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"porchlight/functions/local/postgres"
	"porchlight/supabase"
)

type migrateCmd struct {
	database `embed:""`
	JSON     bool `help:"Print one JSON object."`
}

// Run applies what is missing. The bookkeeping is that of the Supabase CLI, so that either may be used.
func (m migrateCmd) Run(ctx context.Context) error {
	if m.DatabaseURL == "" {
		server, err := startPostgres(ctx, m.Data, whisper)
		if err != nil {
			return err
		}
		fmt.Println("The database of this machine is up to date.")
		return server.Stop()
	}
	applied, err := postgres.Migrate(ctx, m.DatabaseURL, supabase.Files)
	if err != nil {
		return err
	}
	if m.JSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"applied": append([]string{}, applied...)})
	}
	if len(applied) == 0 {
		fmt.Println("The database is up to date.")
	}
	for _, name := range applied {
		fmt.Println("applied", name)
	}
	return nil
}
