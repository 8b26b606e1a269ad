package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A file of migrations/, named as the Supabase CLI names them: <version>_<name>.sql.
type migration struct {
	version, name, path, text string
}

var migrationName = regexp.MustCompile(`^([0-9]+)_(.*)\.sql$`)

// ErrChanged says that a migration was edited after the database had applied it.
var ErrChanged = errors.New("this migration was changed after it had been applied")

// Migrate applies the migrations that the database does not have yet, in the order of their versions
// and as role postgres, each in one transaction together with its row in
// supabase_migrations.schema_migrations, the table that the Supabase CLI keeps too. It returns the
// names of the files it applied: none when nothing was new. Two at once wait for each other.
//
// address is that of role postgres, or of a superuser. An applied file that reads otherwise now is
// ErrChanged; a version in the database that the files do not have is an error as well, because then
// the database is newer than this program.
func Migrate(ctx context.Context, address string, files fs.FS) (applied []string, err error) {
	migrations, err := readMigrations(files)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("connect to migrate: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "set session authorization postgres"); err != nil {
		return nil, fmt.Errorf("become role postgres: %w", err)
	}
	if err := transact(ctx, conn, func() error { return openHistory(ctx, conn, migrations) }); err != nil {
		return nil, err
	}
	for _, m := range migrations {
		err := transact(ctx, conn, func() error {
			fresh, err := m.apply(ctx, conn)
			if fresh && err == nil {
				applied = append(applied, path.Base(m.path))
			}
			return err
		})
		if err != nil {
			return applied, fmt.Errorf("%s: %w", m.path, err)
		}
	}
	return applied, nil
}

func readMigrations(files fs.FS) ([]migration, error) {
	paths, err := fs.Glob(files, "migrations/*.sql") // in the order of their names
	if err != nil {
		return nil, err
	}
	migrations := make([]migration, 0, len(paths))
	for _, p := range paths {
		parts := migrationName.FindStringSubmatch(path.Base(p))
		if parts == nil {
			return nil, fmt.Errorf("%s: the name must be <version>_<name>.sql", p)
		}
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return nil, err
		}
		migrations = append(migrations, migration{version: parts[1], name: parts[2], path: p, text: string(text)})
	}
	return migrations, nil
}

// transact runs work in a transaction that holds the migration lock.
func transact(ctx context.Context, conn *pgx.Conn, work func() error) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('supabase_migrations', 0))"); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// openHistory makes the table as the CLI makes it, and refuses a database that is newer than we are.
func openHistory(ctx context.Context, conn *pgx.Conn, migrations []migration) error {
	if err := execute(ctx, conn, `
		create schema if not exists supabase_migrations;
		create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
		alter table supabase_migrations.schema_migrations add column if not exists statements text[];
		alter table supabase_migrations.schema_migrations add column if not exists name text;`); err != nil {
		return fmt.Errorf("make the table of migrations: %w", err)
	}
	known := make([]string, len(migrations))
	for i, m := range migrations {
		known[i] = m.version
	}
	var unknown []string
	err := conn.QueryRow(ctx, `select coalesce(array_agg(version order by version), '{}')
		from supabase_migrations.schema_migrations where version <> all ($1)`, known).Scan(&unknown)
	if err != nil {
		return fmt.Errorf("read the table of migrations: %w", err)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the database has migrations that this program does not know (%s): use a newer program", strings.Join(unknown, ", "))
	}
	return nil
}

// apply applies the migration unless the database has it; fresh says that it did.
func (m migration) apply(ctx context.Context, conn *pgx.Conn) (fresh bool, err error) {
	var statements []string
	err = conn.QueryRow(ctx, `select coalesce(statements, '{}')
		from supabase_migrations.schema_migrations where version = $1`, m.version).Scan(&statements)
	if err == nil {
		if bare(strings.Join(statements, "")) != bare(m.text) {
			return false, ErrChanged
		}
		return false, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return false, err
	}
	if err := execute(ctx, conn, m.text); err != nil {
		return false, err
	}
	if conn.PgConn().TxStatus() != 'T' {
		return false, errors.New("a migration must not end the transaction it runs in")
	}
	_, err = conn.Exec(ctx, `insert into supabase_migrations.schema_migrations (version, name, statements)
		values ($1, $2, $3)`, m.version, m.name, []string{m.text})
	return true, err
}

// bare drops what the CLI does not keep when it cuts a file into statements: blanks between them and
// semicolons. We keep the file whole, so that both ways of writing compare equal.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n;", r) {
			return -1
		}
		return r
	}, text)
}
