package postgres

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func TestMigrate_AppliesEachFileOnceAsRolePostgres(t *testing.T) {
	address := shared.AdminURL(emptyDatabase(t))
	files := tinyFiles("create table public.a ();\ncreate table public.b ();", "create table public.c ();")
	applied, err := Migrate(t.Context(), address, files)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"20260101000000_step.sql", "20260102000000_step.sql"}; !slices.Equal(applied, want) {
		t.Errorf("applied %v, want %v", applied, want)
	}
	if got := ask(t, address, "select string_agg(tablename || '/' || tableowner, ' ' order by 1) from pg_tables where schemaname = 'public'"); got != "a/postgres b/postgres c/postgres" {
		t.Errorf("tables: %s", got)
	}
	again, err := Migrate(t.Context(), address, files)
	if err != nil || len(again) != 0 {
		t.Errorf("the second run applied %v (%v)", again, err)
	}
}

func TestMigrate_TwoAtOnceApplyEachFileOnce(t *testing.T) {
	address := shared.AdminURL(emptyDatabase(t))
	files := tinyFiles("create table public.a ();", "create table public.b ();")
	var group sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 4 {
		group.Go(func() {
			applied, err := Migrate(t.Context(), address, files)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += len(applied)
		})
	}
	group.Wait()
	if total != 2 {
		t.Errorf("%d files applied, want 2", total)
	}
}

func TestMigrate_KnowsWhatTheSupabaseCLIApplied(t *testing.T) {
	address := shared.AdminURL(emptyDatabase(t))
	do(t, address, `create schema supabase_migrations authorization postgres;
		create table supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text);
		alter table supabase_migrations.schema_migrations owner to postgres;
		insert into supabase_migrations.schema_migrations values
			('20260101000000', array['-- why' || chr(10) || 'create table public.a ()', 'create table public.b ()'], 'step');`)
	applied, err := Migrate(t.Context(), address, tinyFiles("-- why\ncreate table public.a ();\n\ncreate table public.b ();\n"))
	if err != nil || len(applied) != 0 {
		t.Errorf("applied %v (%v), want nothing", applied, err)
	}
}

func TestMigrate_Refuses(t *testing.T) {
	first := "create table public.first ();"
	for _, test := range []struct {
		name  string
		files fstest.MapFS
		is    error
		says  string
	}{
		{"a file that was changed after it had been applied", tinyFiles("create table public.other ();"), ErrChanged, "20260101000000_step.sql"},
		{"a database that is newer than the program", tinyFiles(), nil, "does not know (20260101000000)"},
		{"a file that fails, naming its line", tinyFiles(first, "create table public.half ();\n\nselect nothing_here;"), nil, "20260102000000_step.sql: line 3:"},
		{"a file that fails inside its DO block, naming its line", tinyFiles(first, "-- über\ndo $b$ begin execute $s$\nselect 1;\nselect nothing_here;\n$s$; end $b$;"), nil, "20260102000000_step.sql: line 4:"},
		{"a file that ends its transaction", tinyFiles(first, "create table public.half (); rollback;"), nil, "must not end the transaction"},
		{"a name that the CLI would not read", fstest.MapFS{"migrations/first.sql": {}}, nil, "<version>_<name>.sql"},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := shared.AdminURL(emptyDatabase(t))
			if _, err := Migrate(t.Context(), address, tinyFiles(first)); err != nil {
				t.Fatal(err)
			}
			_, err := Migrate(t.Context(), address, test.files)
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v", err)
			}
			if got := ask(t, address, "select string_agg(tablename, ' ') from pg_tables where schemaname = 'public'"); got != "first" {
				t.Errorf("tables afterwards: %s", got)
			}
		})
	}
}
