package sql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A plan is a node of what auto_explain writes, with what really happened.
type plan struct {
	Node      string  `json:"Node Type"`
	Parent    string  `json:"Parent Relationship"`
	Relation  string  `json:"Relation Name"`
	IndexCond string  `json:"Index Cond"`
	Filter    string  `json:"Filter"`
	Loops     float64 `json:"Actual Loops"`
	Hit       float64 `json:"Shared Hit Blocks"`
	Read      float64 `json:"Shared Read Blocks"`
	Plans     []plan  `json:"Plans"`
}

// A statement that ran, also inside a function.
type executed struct {
	Query string `json:"Query Text"`
	Plan  plan   `json:"Plan"`
}

// explained is a session that notes the plan of everything that it runs.
type explained struct {
	conn  *pgx.Conn
	plans []executed
	err   error
}

func explain(t *testing.T, database string) *explained {
	t.Helper()
	e := &explained{}
	config, err := pgx.ParseConfig(server.AdminURL(database))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		_, text, isPlan := strings.Cut(notice.Message, "plan:\n")
		var one executed
		if err := json.Unmarshal([]byte(text), &one); isPlan && err != nil {
			e.err = err
		} else if isPlan {
			e.plans = append(e.plans, one)
		}
	}
	if e.conn, err = pgx.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := e.conn.Exec(t.Context(), `load 'auto_explain';
		set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on;
		set auto_explain.log_timing = off; set auto_explain.log_nested_statements = on;
		set auto_explain.log_format = json; set auto_explain.log_level = notice`); err != nil {
		t.Fatal(err)
	}
	return e
}

// run returns the plans of a statement and of all that it ran inside, as somebody. The first run fills the
// caches of the catalogue; the second counts.
func (e *explained) run(t *testing.T, become, statement string) []executed {
	t.Helper()
	for range 2 {
		tx, err := e.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), become); err != nil {
			t.Fatal(err)
		}
		e.plans = nil
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		plans := e.plans
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.plans = plans
	}
	if e.err != nil || len(e.plans) == 0 {
		t.Fatalf("%s: %d plans, %v", statement, len(e.plans), e.err)
	}
	return e.plans
}

const (
	asMember = `select test.become('authenticated', jsonb_build_object('sub', test.id('p3'), 'role', 'authenticated',
		'app_metadata', jsonb_build_object('tenant_id', test.id('p3')))::text, '')`
	asService = `select test.become('service_role', '{"role": "service_role"}', 'p3x')` // which no policy holds
)

// What questions and reviews run, and what policies alone make of a whole table.
var planned = []string{
	`select * from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', 'plan w7')`,
	`select * from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', 'plan w7 n33', 50)`,
	`select * from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', '')`,
	`select * from api.match_chunks_primary(test.at_cosine(1, 768), 'gemini-embedding-001', 'plan n33')`,
	`select * from api.match_chunks_fallback(test.at_cosine(1, 768), 'gemini-embedding-2', 'plan n33')`,
	`select * from api.stale_chunks()`,
	`select * from api.stale_chunks(500)`,
	`select * from api.verify_chunk(test.id('p/33'))`,
	`select * from api.plan_reindex(test.id('p3/run'), 'faq', test.id('s/3')::text, test.hashes('{""}', '{x}'), '{""}', '{local}')`,
	`select count(*) from app.chunks`,
	`select count(*) from app.chunk_terms`,
	`select count(*) from app.chunk_embeddings_local`,
	`select count(*) from app.sources`,
	`select count(*) from app.turns`,
}

// O72: 20,000 chunks in ten brands of one size. No statement reads rows of another brand, the helpers of
// the policies run once for a statement and not for a row, and policies cost at most 15 percent of pages.
func TestPlans_ReadOnlyTheRowsOfTheBrand(t *testing.T) {
	t.Parallel()
	e := explain(t, plansDatabase(t))
	for _, statement := range planned {
		for _, fault := range e.faults(t, statement) {
			t.Errorf("%s: %s", statement, fault)
		}
	}
	for _, plant := range []struct{ name, sql, statement, tells string }{
		{
			"a policy that asks for each row",
			`alter policy turns_select_own_or_admin on app.turns using (
				tenant_id = (select private.tenant_id()) and (user_id = private.user_id() or private.is_admin()))`,
			`select count(*) from app.turns`,
			`runs once for each row.*\n.* statements ran`,
		},
		{
			"a condition that might leak what it sees, so that no index may be used for it",
			`set local role none`,
			`select c.id from app.chunks c join app.tenant_limits l on l.tenant_id = c.tenant_id
			where c.tenant_id = test.id('p3') and c.is_pricing
				and c.verified_at < now() - make_interval(days => l.verified_within_days + 40)`,
			`pages`,
		},
		{"no index", `set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off`, planned[0], `reads all of chunk_embeddings_local`},
	} {
		if _, err := e.conn.Exec(t.Context(), plant.sql); err != nil {
			t.Fatal(err)
		}
		told := strings.Join(e.faults(t, plant.statement), "\n")
		if !regexp.MustCompile(plant.tells).MatchString(told) {
			t.Errorf("%s is not told: %s", plant.name, told)
		}
	}
}

func plansDatabase(t *testing.T) string {
	t.Helper()
	database := scratch(t, "plans")
	script, err := os.ReadFile("testdata/plans.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runFile(t.Context(), database, string(script)); err != nil {
		t.Fatal(err)
	}
	return database
}

// rowsOfBrands are the tables that hold many rows of every brand.
var rowsOfBrands = regexp.MustCompile(`^(sources|chunks|chunk_terms|chunk_embeddings_\w+|turns|turn_sources)$`)

// helpers is how a policy asks who is there; inside (select …) it stands in an InitPlan, not in a condition.
var helpers = regexp.MustCompile(`(tenant_id|user_id|is_admin)\(\)`)

// fixed is how many pages the helpers of the policies read in a call, whatever the size of the brand.
const fixed = 120

// faults runs a statement of a member, and the same one for the service, and says what is wrong with it.
func (e *explained) faults(t *testing.T, statement string) (faults []string) {
	t.Helper()
	mine := e.run(t, asMember, statement)
	for _, one := range mine {
		one.Plan.walk(func(p plan, cond string) {
			if p.Node != "ModifyTable" && rowsOfBrands.MatchString(p.Relation) && !strings.Contains(cond, "tenant_id") {
				faults = append(faults, fmt.Sprintf("%s reads all of %s", p.Node, p.Relation))
			}
			if p.Parent == "InitPlan" && p.Loops > 1 || helpers.MatchString(p.Filter+p.IndexCond) {
				faults = append(faults, fmt.Sprintf("a helper in %s %s runs once for each row", p.Node, p.Relation))
			}
		})
	}
	if len(mine) > 80 {
		faults = append(faults, fmt.Sprintf("%d statements ran inside", len(mine)))
	}
	unheld := statement
	if table, isTable := strings.CutPrefix(statement, "select count(*) from app."); isTable && !strings.Contains(table, "where") {
		unheld += " where tenant_id = test.id('p3')"
	}
	theirs := e.run(t, asService, unheld)
	with, without := mine[len(mine)-1].Plan.pages(), theirs[len(theirs)-1].Plan.pages()
	t.Logf("%s: %d statements, %.0f pages with policies, %.0f without", statement, len(mine), with, without)
	if with > 1.15*without+fixed {
		faults = append(faults, fmt.Sprintf("%.0f pages with policies, %.0f without", with, without))
	}
	return faults
}

func (p plan) pages() float64 { return p.Hit + p.Read }

// walk visits the nodes with the condition by which each finds its rows: its own, or that of the bitmap
// below it.
func (p plan) walk(visit func(p plan, cond string)) {
	cond := p.IndexCond
	for _, child := range p.Plans {
		child.walk(visit)
		if strings.HasPrefix(child.Node, "Bitmap") {
			cond += child.conditions()
		}
	}
	visit(p, cond)
}

func (p plan) conditions() string {
	all := p.IndexCond
	for _, child := range p.Plans {
		all += child.conditions()
	}
	return all
}
