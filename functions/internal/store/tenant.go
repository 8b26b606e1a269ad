package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/identity"
)

// RegisterTenant creates or updates a brand. The brand is marshalled as api.register_tenant reads it:
// {slug, name, language, time_zone, personas, limits}. It returns the id of the brand.
func (s *Store) RegisterTenant(ctx context.Context, p identity.Principal, brand any) (string, error) {
	text, err := json.Marshal(brand)
	if err != nil {
		return "", fmt.Errorf("register tenant: %w", err)
	}
	var id string
	err = s.as(ctx, p, call{`select api.register_tenant($1::jsonb)::text`, []any{string(text)}, one(&id)})
	if err != nil {
		return "", fmt.Errorf("register tenant: %w", err)
	}
	return id, nil
}

// AddMember makes a signed-up user a "rep" or "admin" of the brand that p acts for.
func (s *Store) AddMember(ctx context.Context, p identity.Principal, email, role string) error {
	err := s.as(ctx, p, call{`select api.add_member($1, $2)`, []any{email, role}, nil})
	if err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	return nil
}

// AddPlatformAdmin makes a signed-up user an admin of the platform.
func (s *Store) AddPlatformAdmin(ctx context.Context, p identity.Principal, email string) error {
	err := s.as(ctx, p, call{`select api.add_platform_admin($1)`, []any{email}, nil})
	if err != nil {
		return fmt.Errorf("add platform admin: %w", err)
	}
	return nil
}

// Tenant is a brand as the operator lists it.
type Tenant struct {
	Slug    string `json:"slug"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Members int64  `json:"members"`
	Sources int64  `json:"sources"`
	Chunks  int64  `json:"chunks"`
}

// ListTenants lists all brands, for the operator or a platform admin.
func (s *Store) ListTenants(ctx context.Context, p identity.Principal) ([]Tenant, error) {
	var tenants []Tenant
	err := s.ask(ctx, p, call{
		`select slug, name, status, members, sources, chunks from api.list_tenants()`, nil,
		func(rows pgx.Rows) (err error) {
			tenants, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Tenant])
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return tenants, nil
}
