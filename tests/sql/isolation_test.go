package sql_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyPolicy runs a statement for each policy of app.
const everyPolicy = `do $do$
	declare v record;
	begin
		for v in select * from pg_policies where schemaname = 'app' loop
			execute %s;
		end loop;
	end $do$`

// everyTable runs a statement for each table of app.
const everyTable = `do $do$
	declare v record;
	begin
		for v in select * from pg_tables where schemaname = 'app' loop
			execute format('%s', v.tablename);
		end loop;
	end $do$`

var openPolicies = fmt.Sprintf(everyPolicy, `format('alter policy %I on app.%I %s %s', v.policyname, v.tablename,
	case when v.cmd <> 'INSERT' then 'using (true)' end,
	case when v.cmd in ('INSERT', 'UPDATE') then 'with check (true)' end)`)

// The tests that say who sees which rows, run where nothing keeps brands apart any more: each has to fail,
// or it would be green whatever the policies say.
func TestIsolation_ItsTestsFailWithoutThePolicies(t *testing.T) { // O66
	t.Parallel()
	files := []string{
		"10_tenants/02_identity.sql", "10_tenants/03_policies.sql", "20_corpus/01_sources.sql",
		"20_corpus/03_terms.sql", "20_corpus/04_runs.sql", "50_turns/01_turns.sql",
	}
	for _, scenario := range []struct{ name, sql string }{
		{"open", openPolicies},
		{"gone", fmt.Sprintf(everyPolicy, `format('drop policy %I on app.%I', v.policyname, v.tablename)`)},
		{"off", fmt.Sprintf(everyTable, `alter table app.%I disable row level security`)},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel()
			database := scratch(t, "policies_"+scenario.name)
			if _, err := runFile(t.Context(), database, scenario.sql); err != nil {
				t.Fatal(err)
			}
			for _, path := range files {
				if holds(t, database, path) {
					t.Errorf("%s holds although the policies are %s", path, scenario.name)
				}
			}
		})
	}
}

// A login that owns the tables and forgets to become somebody: forced policies show it nothing. Without
// force it sees every brand, and that is why the invariants look for both.
func TestIsolation_AnOwnerSeesNothingWherePoliciesAreForced(t *testing.T) { // O67
	t.Parallel()
	database := accessDatabase(t, "owner")
	own := fmt.Sprintf(everyTable, `alter table app.%I owner to porchlight_runtime`) +
		`; grant usage on schema app to porchlight_runtime`
	attempts := slices.DeleteFunc(readAttempts(t, database), func(a attempt) bool {
		return a.Command != "select" || !strings.HasPrefix(a.Object, "app.")
	})
	statements := make([]string, len(attempts))
	for i, a := range attempts {
		statements[i] = a.Statement
	}
	login := caller{"owner", "porchlight_runtime", ""}
	for _, step := range []struct {
		name, sql string
		seesAll   bool
	}{
		{"forced", own, false},
		{"not forced", fmt.Sprintf(everyTable, `alter table app.%I no force row level security`), true},
	} {
		if _, err := runFile(t.Context(), database, step.sql); err != nil {
			t.Fatal(err)
		}
		outcomes, err := login.try(t.Context(), database, statements)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range attempts {
			want := "0"
			if step.seesAll {
				want = strconv.Itoa(a.Total)
			}
			if outcomes[i] != want {
				t.Errorf("%s: the owner sees %s of %d rows: %s", step.name, outcomes[i], a.Total, a.Statement)
			}
		}
	}
	for _, path := range []string{"00_invariants/tables.sql", "00_invariants/grants.sql"} {
		if holds(t, database, path) {
			t.Errorf("%s holds although the login owns unforced tables", path)
		}
	}
}

func holds(t *testing.T, database, path string) bool {
	t.Helper()
	assertions, faults := runTAP(t, database, path)
	return len(faults) == 0 && !slices.ContainsFunc(assertions, func(a assertion) bool { return !a.ok })
}

// Where every policy is open, the matrix tells so of each line that a policy decides.
func TestIsolation_TheMatrixTellsEachPolicyThatIsOpen(t *testing.T) { // O66
	t.Parallel()
	database := accessDatabase(t, "open")
	if _, err := runFile(t.Context(), database, openPolicies); err != nil {
		t.Fatal(err)
	}
	_, want := readMatrix(t)
	got := accessMatrix(t, database)
	for key, line := range want {
		if strings.HasPrefix(line, "app.") && regexp.MustCompile(` (0|0/|check)`).MatchString(line) && got[key] == line {
			t.Errorf("the policies are open, and nothing else happened:\n%s", line)
		}
	}
}
