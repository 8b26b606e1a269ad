package sql_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var update = flag.Bool("update", false, "write testdata/access.matrix from what happens")

const matrixFile = "testdata/access.matrix"

// A caller is a column of the matrix: a real login that becomes somebody, as the handlers do for each
// request (test.act_as makes the settings that store.become makes). Only the service has another login:
// the runtime login cannot become it.
type caller struct {
	name, login, become string
}

var callers = []caller{
	{"runtime", "porchlight_runtime", ""}, // a handler that forgot to say who is asking
	{"anon", "porchlight_runtime", "select test.act_as('visitor')"},
	{"widget", "porchlight_runtime", `select test.become('anon',
		jsonb_build_object('role', 'anon', 'app_metadata', jsonb_build_object('tenant_id', test.id('one')))::text, 'one')`},
	{"nobody", "porchlight_runtime", "select test.act_as('eve')"},
	{"rep2", "porchlight_runtime", "select test.act_as('carol')"},
	{"admin2", "porchlight_runtime", "select test.act_as('dave')"},
	{"rep", "porchlight_runtime", "select test.act_as('alice')"},
	{"admin", "porchlight_runtime", "select test.act_as('bob')"},
	{"platform", "porchlight_runtime", "select test.act_as('pat')"},
	{"platform1", "porchlight_runtime", "select test.act_as('pat', 'one')"},
	{"service1", "postgres", "select test.act_as('service', 'one')"},
}

// An attempt is one statement; test.attempts() in testdata/access.sql makes them from the catalogue.
type attempt struct {
	Object, Command, Column, Brand, Statement string
	Total                                     int
}

// Every table, view and function of api and app, every command, every caller, the rows of both brands;
// each cell is what happened when it was tried. Everything of private is tried too, and closed to all.
func TestAccess_EverybodyMayDoExactlyWhatTheMatrixSays(t *testing.T) { // O64 O65 O67 O73
	t.Parallel()
	got := accessMatrix(t, accessDatabase(t, "access"))
	legend, want := readMatrix(t)
	if *update {
		if err := os.WriteFile(matrixFile, []byte(legend+strings.Join(slices.Sorted(maps.Values(got)), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, difference := range compareMatrix(want, got) {
		t.Error(difference)
	}
}

// What somebody opens, adds or takes away shows in the matrix.
func TestAccess_TellsWhatWasOpened(t *testing.T) {
	t.Parallel()
	plants := []struct{ name, sql, tells string }{
		{
			"a table that nobody expects", // O73
			`create table app.provider_keys (tenant_id uuid, api_key text); grant select on app.provider_keys to authenticated;
			insert into app.provider_keys select id, slug from app.tenants`,
			`nothing is expected of\napp.provider_keys +select +- +- +- +all +all .* api_key tenant_id`,
		},
		{
			"a view of its owner",
			`create view app.planted as select tenant_id, question from app.turns; grant select on app.planted to authenticated`,
			`nothing is expected of\napp.planted +select +- +- +- +all +all .* question tenant_id`,
		},
		{"a column that nobody expects", `alter table app.turns add planted text`, `nothing is expected of\napp.turns +select .* planted `},
		{"a door that is gone", `drop function api.stale_chunks`, `no such object.*\napi.stale_chunks +execute`},
		{
			"a door that visitors were granted by name", // O64
			`grant usage on schema api to anon; grant execute on function api.check_login to anon;
			revoke execute on function api.check_login from public`,
			`happened\napi.check_login +execute +- +ok +ok`,
		},
		{
			"a second policy that believes a header", // O65
			`create policy planted on app.chunk_terms for select to authenticated
			using (tenant_id::text = current_setting('request.headers', true)::json ->> 'x-tenant-id')`,
			`happened\napp.chunk_terms +select +- +- +- +all/0 +all +all +all +all `,
		},
		{"rows of others, deleted without looking", `alter policy sources_delete_admin on app.sources using (true)`, `happened\napp.sources +delete .* all/0!5`},
		{"rows of others, updated without looking", `alter policy chunks_update_admin on app.chunks using (true)`, `nothing is expected of\napp.chunks +update .* all/0!check .* verified_at`},
		{"a row that may be given away", `grant update (tenant_id) on app.reindex_runs to authenticated`, `happened\napp.reindex_runs +move .* check`},
		{"rows that may be written into another brand", `alter policy reindex_runs_insert_admin on app.reindex_runs with check (true)`, `happened\napp.reindex_runs +insert +- +- +- +ok +ok`},
		{"a counter", `grant usage on schema private to authenticated; grant select on private.installation to authenticated`, `nothing is expected of\nprivate.installation +select +- +- +- +0 `},
		{"a login that may read by itself", `grant usage on schema app to porchlight_runtime; grant select on app.models to porchlight_runtime`, `happened\napp.models +select +0 `},
	}
	database := accessDatabase(t, "opened")
	for _, plant := range plants {
		if _, err := runFile(t.Context(), database, plant.sql); err != nil {
			t.Fatalf("%s: %v", plant.name, err)
		}
	}
	_, want := readMatrix(t)
	told := strings.Join(compareMatrix(want, accessMatrix(t, database)), "\n\n")
	for _, plant := range plants {
		if !regexp.MustCompile(plant.tells).MatchString(told) {
			t.Errorf("%s is not told:\n%s", plant.name, told)
		}
	}
}

// accessDatabase is a database with rows of both brands in every table.
func accessDatabase(t *testing.T, name string) string {
	t.Helper()
	database := scratch(t, name)
	fixture, err := os.ReadFile("testdata/access.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runFile(t.Context(), database, string(fixture)); err != nil {
		t.Fatal(err)
	}
	return database
}

// accessMatrix tries everything and returns the lines by their object, command and columns.
func accessMatrix(t *testing.T, database string) map[string]string {
	t.Helper()
	attempts := readAttempts(t, database)
	statements := make([]string, len(attempts))
	for i, a := range attempts {
		statements[i] = a.Statement
		if strings.HasPrefix(a.Object, "app.") && a.Command == "select" && a.Total == 0 {
			t.Errorf("there is nothing to steal in %s of brand %q: add a row to testdata/access.sql", a.Object, a.Brand)
		}
	}
	outcomes := make([][]string, len(callers))
	for i, c := range callers { // one by one: what they try locks rows
		var err error
		if outcomes[i], err = c.try(t.Context(), database, statements); err != nil {
			t.Fatalf("as %s: %v", c.name, err)
		}
	}
	return matrixOf(attempts, outcomes)
}

func readAttempts(t *testing.T, database string) []attempt {
	t.Helper()
	conn := connect(t, server.AdminURL(database))
	rows, err := conn.Query(t.Context(), "select * from test.attempts()")
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[attempt])
	if err != nil {
		t.Fatal(err)
	}
	return attempts
}

// try runs the statements in one transaction, each undone.
func (c caller) try(ctx context.Context, database string, statements []string) (outcomes []string, err error) {
	conn, err := pgx.Connect(ctx, server.URL(c.login, database))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, c.become); err != nil {
		return nil, err
	}
	// O65: and sends a header that names the other brand, as PostgREST would hand it on
	other := "one"
	if c.name == "rep" || c.name == "admin" {
		other = "two"
	}
	if _, err := tx.Exec(ctx, `select set_config('request.headers', json_build_object('x-tenant-id', test.id($1))::text, true)`, other); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select test.attempt(s.statement)
		from unnest($1::text[]) with ordinality s (statement, place) order by s.place`, statements)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// matrixOf joins the attempts on one object: columns that fare alike share a line, and so does
// everything of private that is closed to all.
func matrixOf(attempts []attempt, outcomes [][]string) map[string]string {
	type row struct{ object, command, column string }
	cells := map[row][]cell{}
	for i, a := range attempts {
		key := row{a.Object, a.Command, a.Column}
		if cells[key] == nil {
			for range callers {
				cells[key] = append(cells[key], cell{})
			}
		}
		for c := range callers {
			cells[key][c].add(a, outcomes[c][i])
		}
	}
	columns := map[[3]string][]string{}
	for key, line := range cells {
		texts := make([]string, len(line))
		for i := range line {
			texts[i] = fmt.Sprintf("%-9s", line[i].text())
		}
		text := strings.Join(texts, " ")
		group := [3]string{key.object, key.command, text}
		if strings.HasPrefix(key.object, "private.") && strings.Trim(text, "- ") == "" {
			group[0], group[1], key.column = "private.*", "any", ""
		}
		columns[group] = append(columns[group], key.column)
	}
	lines := map[string]string{}
	for group, names := range columns {
		slices.Sort(names)
		subject := fmt.Sprintf("%-30s %-7s", group[0], group[1])
		place := strings.Join(slices.Compact(names), " ")
		lines[subject+" "+place] = strings.TrimSpace(subject + " " + group[2] + " " + place)
	}
	return lines
}

// A cell is what came of the attempts of one caller on one column of one object, by brand.
type cell map[string]outcome

type outcome struct {
	text  string
	count int // of rows; -1 when it was no count
}

func (c cell) add(a attempt, raw string) {
	o := outcome{text: strings.TrimPrefix(raw, "PT"), count: -1}
	if n, err := strconv.Atoi(raw); err == nil {
		o.count = n
		switch {
		case n == 0:
			o.text = "0"
		case a.Command == "execute" || a.Command == "insert":
			o.text = "ok"
		case n == a.Total:
			o.text = "all"
		case n < a.Total:
			o.text = "some"
		default:
			o.text = raw + " rows!"
		}
	}
	c[a.Brand] = o
}

// text is the outcome for both brands, or for what belongs to none. A mark says that a statement without
// any condition, which no policy for reading holds, reached other rows.
func (c cell) text() string {
	if one, isOfBrands := c["one"]; isOfBrands {
		two, text := c["two"], one.text
		if one.text != two.text {
			text += "/" + two.text
		}
		return text + c.mark(one, two)
	}
	return c[""].text + c.mark(c[""])
}

func (c cell) mark(aimed ...outcome) string {
	blind, isTried := c["blind"]
	if !isTried {
		return ""
	}
	reached, isDenied := 0, true
	for _, o := range aimed {
		reached += max(0, o.count)
		isDenied = isDenied && o.text == "-"
	}
	isSame := !isDenied && blind.count == reached
	switch blind.text {
	case "-":
		isSame = isDenied
	case "ok": // a constraint stopped it, so it reached some
		isSame = reached > 0
	}
	if isSame {
		return ""
	}
	return "!" + blind.text
}

// readMatrix parts the legend of the file from its lines, by what they are about.
func readMatrix(t *testing.T) (legend string, lines map[string]string) {
	t.Helper()
	file, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	lines = map[string]string{}
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			legend += line
			continue
		}
		if fields := strings.Fields(line); len(fields) >= 2+len(callers) {
			key := fmt.Sprintf("%-30s %-7s %s", fields[0], fields[1], strings.Join(fields[2+len(callers):], " "))
			lines[key] = strings.TrimSpace(line)
		}
	}
	return legend, lines
}

func compareMatrix(want, got map[string]string) (differences []string) {
	for key, line := range got {
		switch expected, isExpected := want[key]; {
		case !isExpected:
			differences = append(differences, "nothing is expected of\n"+line)
		case expected != line:
			differences = append(differences, "expected\n"+expected+"\nhappened\n"+line)
		}
	}
	for key, line := range want {
		if _, isThere := got[key]; !isThere {
			differences = append(differences, "there is no such object, or its columns fare otherwise\n"+line)
		}
	}
	slices.Sort(differences)
	return differences
}
