package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// doors are the functions of api that this package calls, in the order of their names.
var doors = []string{
	"add_member", "add_platform_admin", "apply_reindex", "begin_turn", "check_login", "embedding_quota", "fail_source",
	"finish_reindex", "finish_turn", "get_reindex", "list_tenants", "match_chunks_fallback",
	"match_chunks_local", "match_chunks_primary", "plan_reindex", "preview_listing", "preview_source", "put_embeddings", "register_tenant",
	"renew_reindex", "reserve_call", "stale_chunks", "start_reindex", "stored_turn", "take_reindex_call",
	"verify_chunk",
}

// Check refuses to serve as a login that can do more than authenticated, or over a schema that is not
// there or that is older than this program. When the database can't be reached it is made up for before
// the next call, and until it has been; calls that come too soon are told to come back.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout+overhead)
	defer cancel()
	return s.check(ctx)
}

func (s *Store) check(ctx context.Context) error {
	var login string
	var isUnsafe bool
	var found []string
	p := identity.Principal{Role: "authenticated", Claims: []byte("{}")}
	calls := []call{{`select login, is_unsafe, doors from api.check_login()`, nil, one(&login, &isUnsafe, &found)}}
	err := s.try(ctx, p, calls, isDead)
	switch {
	case problem.From(err).Code == problem.DatabaseUnavailable:
		s.unchecked.Store(time.Now().UnixNano())
		return fmt.Errorf("check the database: %w", err)
	case err != nil && problem.From(err).Code == problem.Internal:
		return fmt.Errorf("check the database: its schema is not there, is older than this program or is closed to this login; "+
			"apply supabase/migrations and use porchlight_runtime: %w", err)
	case err != nil:
		return fmt.Errorf("check the database: %w", err)
	case isUnsafe:
		return fmt.Errorf("check the database: the login %q is a superuser, has BYPASSRLS, owns something or can become "+
			"another role, so no policy would hold it; use porchlight_runtime", login)
	}
	missing := slices.DeleteFunc(slices.Clone(doors), func(d string) bool { return slices.Contains(found, d) })
	if len(missing) > 0 {
		return fmt.Errorf("check the database: its schema lacks %s; apply supabase/migrations", strings.Join(missing, ", "))
	}
	s.unchecked.Store(0)
	return nil
}
