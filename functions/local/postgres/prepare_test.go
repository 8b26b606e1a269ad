package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPrepare_MayRunAtEveryStart(t *testing.T) {
	server := start(t, Options{Files: tinyFiles("create table public.lamps ();")})
	for range 2 {
		if err := server.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, role := range []string{"postgres", "porchlight_runtime"} {
		if got := ask(t, server.URL(role, "postgres"), "select session_user"); got != role {
			t.Errorf("session_user = %q, want %q", got, role)
		}
	}
}

// A command prepares the database while a server signs people in, in transactions that hold what the shim
// would lock. A shim that is new to the database is applied.
func TestPrepare_OfAPreparedDatabaseWaitsForNobody(t *testing.T) {
	files := tinyFiles()
	files["shim_lamps.sql"] = &fstest.MapFile{Data: []byte(
		"create table if not exists public.lamps (); alter table public.lamps enable row level security;")}
	server := start(t, Options{Files: files})
	if err := server.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.AdminURL(server.Database()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if err := execute(t.Context(), conn, "begin; insert into public.lamps default values"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := server.Prepare(ctx); err != nil {
		t.Errorf("it waited: %v", err)
	}
	if err := execute(t.Context(), conn, "rollback"); err != nil {
		t.Fatal(err)
	}
	files["shim_wicks.sql"] = &fstest.MapFile{Data: []byte("create table if not exists public.wicks ()")}
	if err := server.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(t, server.AdminURL(server.Database()), "select count(*)::text from public.wicks")
}

func TestCreateDatabase_CopiesTheTemplate(t *testing.T) {
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			if err := shared.CreateDatabase(t.Context(), fmt.Sprintf("copy_%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i := range 4 {
		name := fmt.Sprintf("copy_%d", i)
		owner := ask(t, shared.AdminURL(name), "select pg_get_userbyid(datdba) from pg_database where datname = current_database()")
		if owner != "postgres" {
			t.Errorf("%s belongs to %s", name, owner)
		}
		ask(t, shared.URL("postgres", name), "select count(*)::text from public.lamps")
		if err := shared.DropDatabase(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

func TestAttach_LeavesTheServerAsItWas(t *testing.T) {
	databases := "select string_agg(datname, ' ' order by datname) from pg_database"
	before := ask(t, shared.AdminURL("postgres"), databases)
	t.Setenv("PORCHLIGHT_POSTGRES_URL", shared.AdminURL("postgres"))
	server, err := Start(t.Context(), Options{Files: tinyFiles("create table public.attached ();")})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.CreateDatabase(t.Context(), "attached"); err != nil {
		t.Fatal(err)
	}
	ask(t, server.URL("porchlight_runtime", "attached"), "select 'in'")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if after := ask(t, shared.AdminURL("postgres"), databases); after != before {
		t.Errorf("databases afterwards: %s, before: %s", after, before)
	}
}

func TestAttach_Refuses(t *testing.T) {
	if _, err := shared.Template(t.Context()); err != nil {
		t.Fatal(err)
	}
	password, _ := shared.address.User.Password()
	for _, test := range []struct{ name, address, want string }{
		{"a superuser called postgres", shared.URL("postgres", "postgres"), "must not be called"},
		{"a role that is no superuser", shared.URL("porchlight_runtime", "postgres"), "no superuser"},
		{"an address that is none", "postgres://x:" + password + "@[broken", "cannot be read"},
		{"a wrong password", strings.Replace(shared.AdminURL("postgres"), password, "lantern", 1), "authentication failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Attach(t.Context(), test.address)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error = %v, want it to say %q", err, test.want)
			}
			for _, secret := range []string{password, "lantern"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error carries the password: %v", err)
				}
			}
		})
	}
}
