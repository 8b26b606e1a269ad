package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
)

var server *postgres.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = postgres.Start(context.Background(), postgres.Options{Fast: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const (
	aliceID = "aaaaaaaa-0000-4000-8000-000000000001" // rep of brand one
	bobID   = "bbbbbbbb-0000-4000-8000-000000000002" // admin of brand one
	carolID = "cccccccc-0000-4000-8000-000000000003" // admin of brand two
)

// fixture is a database of its own with two brands and three people.
type fixture struct {
	name              string
	admin             *pgx.Conn // superuser
	alice, bob, carol identity.Principal
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{name: "store_" + strings.ToLower(strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()))}
	f.name = f.name[:min(len(f.name), 60)]
	if err := server.CreateDatabase(t.Context(), f.name); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.admin, err = pgx.Connect(t.Context(), server.AdminURL(f.name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.admin.Close(context.Background()) })
	for id, email := range map[string]string{aliceID: "alice@one.example", bobID: "bob@one.example", carolID: "carol@two.example"} {
		f.exec(t, `insert into auth.users (id, email) values ($1::text::uuid, $2)`, id, email)
	}
	operator := f.open(t, "postgres")
	one := f.register(t, operator, "one", map[string]string{"alice@one.example": "rep", "bob@one.example": "admin"})
	two := f.register(t, operator, "two", map[string]string{"carol@two.example": "admin"})
	f.alice, f.bob, f.carol = person(t, aliceID, one), person(t, bobID, one), person(t, carolID, two)
	return f
}

// address is that of the database for a login; the functions' own goes through the pooler where there is one.
func (f fixture) address(role string) string {
	if role == "porchlight_runtime" {
		return server.RuntimeURL(f.name)
	}
	return server.URL(role, f.name)
}

func (f fixture) open(t *testing.T, role string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: f.address(role), MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func brand(slug string) map[string]any {
	return map[string]any{
		"slug": slug, "name": "Brand " + slug, "language": "en", "time_zone": "UTC",
		"personas": map[string]any{"en": map[string]string{"persona": "Warm.", "fallback": "I would rather not guess."}},
	}
}

func (f fixture) register(t *testing.T, s *store.Store, slug string, members map[string]string) (id string) {
	t.Helper()
	id, err := s.RegisterTenant(t.Context(), store.Service(""), brand(slug))
	if err != nil {
		t.Fatal(err)
	}
	for email, role := range members {
		if err := s.AddMember(t.Context(), store.Service(slug), email, role); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

func (f fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := f.admin.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := f.admin.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func person(t *testing.T, userID, tenantID string) identity.Principal {
	t.Helper()
	claims, err := json.Marshal(map[string]any{
		"sub": userID, "role": "authenticated", "app_metadata": map[string]string{"tenant_id": tenantID},
	})
	if err != nil {
		t.Fatal(err)
	}
	return identity.Principal{UserID: userID, Role: "authenticated", Claims: claims}
}
