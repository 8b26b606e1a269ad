// Package postgres runs a private Postgres for one machine: the embedded binaries of the cache, or a
// server that already runs, named by PORCHLIGHT_POSTGRES_URL, with the transaction pooler before it that
// PORCHLIGHT_POOLER names, if any. It also applies supabase/shim*.sql and supabase/migrations to a database.
//
// # How it is kept private
//
// The server listens on 127.0.0.1 at a random port, on no socket, and asks everyone for a password
// (SCRAM). The password is random for each cluster and lies in a file of mode 0600, in a folder that
// nobody else can list. Trust authentication would have been simpler, but other users of the machine reach
// 127.0.0.1 too; a socket would have been enough, but the path of one may not be longer than about
// 100 characters and drivers of other languages speak TCP everywhere.
//
// # How it ends
//
// Postgres is a child of this process, never a daemon. Stop ends it and removes what was temporary;
// on Linux the kernel ends it when this process dies without Stop. Postgres refuses to run as root:
// under uid 0 it runs as the owner of its folder, or as uid 65534.
//
// # SQL text
//
// The project keeps SQL text in package store. This package is the one written-down exception: it
// creates roles' passwords, databases and the bookkeeping of migrations, which are the database
// itself and no query of the product.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"porchlight/supabase"
)

// Superuser is the bootstrap superuser of a cluster made here, named as on hosted Supabase.
const Superuser = "supabase_admin"

// Options say what to start. The zero value is a temporary cluster from the cache.
type Options struct {
	// Dir is the parent of the data folder, kept between runs. Empty: a temporary folder, removed by
	// Stop. Under uid 0 it must be reachable for the unprivileged user, and a folder that belongs to
	// an unprivileged user says which user Postgres runs as.
	Dir string
	// Binaries is the folder with bin, lib and share. Empty: the one in CacheDir.
	Binaries string
	// Fast trades safety after a power cut for speed (fsync off): for tests and the demo.
	Fast bool
	// Files holds shim*.sql and migrations/*.sql. Nil: those of this release.
	Files fs.FS
	// Say is told what is being done, one short sentence for each step. Nil: nobody is.
	Say func(step string)
}

// Server is a Postgres that runs. It is safe for concurrent use.
type Server struct {
	address  url.URL // of the superuser, without a database
	database string  // the one of Prepare; empty: "postgres"
	pooler   string  // host:port; empty: there is none
	files    fs.FS
	say      func(string)

	cluster *cluster // nil when somebody else started the server
	process *process // nil when somebody else started the server

	lasting context.Context // that of Start or Attach without its end: Stop comes after it

	making   sync.Mutex // guards template
	template string     // the name of the template database, once made

	counting sync.Mutex // guards created
	created  []string   // databases that Stop drops from a server that outlives it
}

// Start starts Postgres and returns once it answers. ctx bounds the start only. With
// PORCHLIGHT_POSTGRES_URL set it attaches to that server instead, and the options about processes
// and folders mean nothing. A start that fails leaves no process; its error carries the end of the
// server's log, which holds no statements and no values.
func Start(ctx context.Context, options Options) (*Server, error) {
	if address := os.Getenv("PORCHLIGHT_POSTGRES_URL"); address != "" {
		server, err := Attach(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("PORCHLIGHT_POSTGRES_URL: %w", err)
		}
		server.use(options)
		server.pooler = os.Getenv("PORCHLIGHT_POOLER")
		return server, nil
	}
	if options.Binaries == "" {
		cache, err := CacheDir()
		if err != nil {
			return nil, err
		}
		options.Binaries = filepath.Join(cache, release)
	}
	server := &Server{lasting: context.WithoutCancel(ctx)}
	server.use(options)
	home, err := openCluster(options)
	if err != nil {
		return nil, fmt.Errorf("start postgres: %w", err)
	}
	server.cluster = home
	if err := server.launch(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start postgres: %w", err), home.close())
	}
	return server, nil
}

func (s *Server) use(options Options) {
	s.files, s.say = options.Files, options.Say
	if s.files == nil {
		s.files = supabase.Files
	}
	if s.say == nil {
		s.say = func(string) {}
	}
}

// launch makes the cluster if there is none, and the process.
func (s *Server) launch(ctx context.Context) error {
	if err := s.cluster.checkNotRunning(ctx); err != nil {
		return err
	}
	if !s.cluster.exists() {
		s.say("Creating a database cluster")
		if err := s.cluster.create(ctx); err != nil {
			return err
		}
	}
	password, err := s.cluster.password()
	if err != nil {
		return err
	}
	s.say("Starting Postgres")
	s.process, s.address, err = s.cluster.run(ctx, password)
	return err
}

// stopTimeout is how long a shutdown may take before the process is killed: sessions are cut at
// once, so only the last checkpoint takes time.
const stopTimeout = 15 * time.Second

// Stop ends what Start began and returns when it is gone: sessions are cut, the data is written, a
// temporary folder is removed. On a server that somebody else runs it drops the databases made by
// CreateDatabase and Template. Calling it again does nothing.
func (s *Server) Stop() error {
	if s.process == nil {
		return s.dropCreated(s.lasting)
	}
	return errors.Join(s.process.stop(stopTimeout), s.cluster.close())
}

// URL returns the address of a database for a role. The password is the one of this cluster: the
// superuser has it from the start, the roles that log in have it after Prepare or Template.
func (s *Server) URL(role, database string) string { return s.at(s.address.Host, role, database) }

// RuntimeURL returns the address by which the functions reach a database: that of their login, through the
// pooler where there is one.
func (s *Server) RuntimeURL(database string) string {
	return s.at(cmp.Or(s.pooler, s.address.Host), "porchlight_runtime", database)
}

func (s *Server) at(host, role, database string) string {
	address := s.address
	password, _ := address.User.Password()
	address.User = url.UserPassword(role, password)
	address.Host, address.Path = host, "/"+database
	return address.String()
}

// Database returns the name of the database that Prepare brings up to date.
func (s *Server) Database() string { return cmp.Or(s.database, "postgres") }

// AdminURL returns the superuser's address of a database.
func (s *Server) AdminURL(database string) string {
	return s.URL(s.address.User.Username(), database)
}
