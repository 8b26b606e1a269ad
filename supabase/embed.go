// Package supabase carries the SQL files that make a database: the shims, which give a plain Postgres
// the roles and the auth schema that hosted Supabase has, and the migrations.
package supabase

import "embed"

// Files holds shim*.sql and migrations/*.sql.
//
//go:embed shim*.sql migrations/*.sql
var Files embed.FS
