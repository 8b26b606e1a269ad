package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Prepare brings the database of Database up to date: shim*.sql as the superuser, in the order of their
// names, if they are new to it; then the migrations as role postgres. It may be called at every start.
func (s *Server) Prepare(ctx context.Context) error {
	s.say("Applying the migrations")
	return s.prepare(ctx, s.Database())
}

func (s *Server) prepare(ctx context.Context, database string) error {
	shim, err := readShim(s.files)
	if err != nil {
		return err
	}
	err = s.withAdmin(ctx, database, func(conn *pgx.Conn) error {
		return transact(ctx, conn, func() error { return applyShim(ctx, conn, shim) })
	})
	if err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	if _, err := Migrate(ctx, s.AdminURL(database), s.files); err != nil {
		return fmt.Errorf("prepare the database: %w", err)
	}
	return s.setPasswords(ctx, database)
}

func readShim(files fs.FS) (string, error) {
	paths, err := fs.Glob(files, "shim*.sql") // in the order of their names
	if err != nil {
		return "", err
	}
	var shim strings.Builder
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return "", err
		}
		shim.Write(text)
	}
	return shim.String(), nil
}

// applyShim leaves a database alone that has this very shim: it locks the tables of users and sessions,
// and a command may start while a server signs people in. The database keeps the digest as a setting.
func applyShim(ctx context.Context, conn *pgx.Conn, shim string) error {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(shim)))
	var isApplied bool
	err := conn.QueryRow(ctx, `select exists (
		select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
		where d.datname = current_database() and s.setrole = 0 and 'porchlight.shim=' || $1 = any (s.setconfig))`,
		digest).Scan(&isApplied)
	if err != nil || isApplied {
		return err
	}
	if err := execute(ctx, conn, shim); err != nil {
		return fmt.Errorf("shim*.sql: %w", err)
	}
	database := conn.Config().Database
	if err := executeFormat(ctx, conn, "alter database %I owner to postgres", database); err != nil {
		return err
	}
	return executeFormat(ctx, conn, "alter database %I set porchlight.shim = %L", database, digest)
}

// setPasswords lets the roles that log in do so with the cluster's password.
func (s *Server) setPasswords(ctx context.Context, database string) error {
	password, ok := s.address.User.Password()
	if !ok {
		return nil // a server that asks nobody
	}
	err := s.withAdmin(ctx, database, func(conn *pgx.Conn) error {
		return transact(ctx, conn, func() error { return alterPasswords(ctx, conn, password) })
	})
	if err != nil {
		return fmt.Errorf("give the roles their password: %w", err)
	}
	return nil
}

func alterPasswords(ctx context.Context, conn *pgx.Conn, password string) error {
	// roles belong to the whole server: whoever prepares another database of it waits here
	if err := execute(ctx, conn, "lock table pg_catalog.pg_authid in share row exclusive mode"); err != nil {
		return err
	}
	for _, role := range []string{"postgres", "supabase_auth_admin", "porchlight_runtime"} {
		var logsIn bool
		err := conn.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1 and rolcanlogin)", role).Scan(&logsIn)
		if err != nil {
			return err
		}
		if !logsIn {
			continue
		}
		if err := executeFormat(ctx, conn, "alter role %I password %L", role, password); err != nil {
			return err
		}
	}
	return nil
}

// Template returns the name of a prepared database that nobody connects to. It is made once.
func (s *Server) Template(ctx context.Context) (string, error) {
	s.making.Lock()
	defer s.making.Unlock()
	if s.template != "" {
		return s.template, nil
	}
	s.say("Preparing the template database")
	name := "porchlight_template_" + strings.ToLower(rand.Text()[:10])
	if err := s.copyDatabase(ctx, name, "template0", s.address.User.Username()); err != nil {
		return "", err
	}
	if err := s.prepare(ctx, name); err != nil {
		return "", err
	}
	s.template = name
	return name, nil
}

// CreateDatabase makes a database of that name with everything that Prepare makes, as a copy of the
// template: 60 to 90 ms.
func (s *Server) CreateDatabase(ctx context.Context, name string) error {
	template, err := s.Template(ctx)
	if err != nil {
		return err
	}
	return s.CopyDatabase(ctx, name, template)
}

// CopyDatabase makes a database as a copy of a prepared one that nobody is connected to.
func (s *Server) CopyDatabase(ctx context.Context, name, template string) error {
	return s.copyDatabase(ctx, name, template, "postgres")
}

func (s *Server) copyDatabase(ctx context.Context, name, template, owner string) error {
	err := s.withAdmin(ctx, "template1", func(conn *pgx.Conn) error {
		return executeFormat(ctx, conn, "create database %I template %I owner %I", name, template, owner)
	})
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	if s.process == nil {
		s.counting.Lock()
		defer s.counting.Unlock()
		s.created = append(s.created, name)
	}
	return nil
}

// DropDatabase removes a database, together with the sessions in it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	err := s.withAdmin(ctx, "template1", func(conn *pgx.Conn) error {
		return executeFormat(ctx, conn, "drop database if exists %I with (force)", name)
	})
	if err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

func (s *Server) dropCreated(ctx context.Context) error {
	s.counting.Lock()
	defer s.counting.Unlock()
	var errs []error
	for _, name := range s.created {
		errs = append(errs, s.DropDatabase(ctx, name))
	}
	s.created = nil
	return errors.Join(errs...)
}
