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
	applied, err := m.migrate(ctx)
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

// migrate returns what it applied. The database of this machine is migrated whenever it starts, also by
// a serve that is running now.
func (m migrateCmd) migrate(ctx context.Context) ([]string, error) {
	if m.DatabaseURL != "" {
		return postgres.Migrate(ctx, m.DatabaseURL, supabase.Files)
	}
	op, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	return nil, op.close()
}
