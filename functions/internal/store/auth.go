package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// hookTimeout is how long Supabase Auth waits for a hook in Postgres.
const hookTimeout = 2 * time.Second

// Auth calls the functions of supabase/shim_auth.sql, which only plain Postgres has. It connects as
// supabase_auth_admin; CreateUser works as postgres too. Its errors are those of Store.
type Auth struct {
	pool *pgxpool.Pool
}

// OpenAuth prepares a pool, as Open does.
func OpenAuth(ctx context.Context, o Options) (*Auth, error) {
	s, err := Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open auth: %w", err)
	}
	return &Auth{pool: s.pool}, nil
}

// Close closes the pool.
func (a *Auth) Close() { a.pool.Close() }

// AuthUser is a row of auth.users.
type AuthUser struct {
	ID                string
	Email             string
	EncryptedPassword string
	EmailConfirmedAt  *time.Time
	LastSignInAt      *time.Time
	AppMetadata       json.RawMessage
	UserMetadata      json.RawMessage
	CreatedAt         *time.Time
	UpdatedAt         *time.Time
	BannedUntil       *time.Time
	IsAnonymous       bool
}

// authUserFields are the columns of AuthUser, in its order.
const authUserFields = `id::text, coalesce(email, ''), coalesce(encrypted_password, ''), email_confirmed_at,
	last_sign_in_at, coalesce(raw_app_meta_data, '{}'), coalesce(raw_user_meta_data, '{}'), created_at, updated_at,
	banned_until, is_anonymous`

// AuthRefresh is what became of a refresh token. All but Outcome is empty unless that is "issued".
type AuthRefresh struct {
	Outcome      string // issued, not_found, banned or already_used
	UserID       string
	SessionID    string
	SignedInAt   time.Time
	RefreshToken string
}

// CreateUser makes a confirmed user and returns the id. A known address gets the new password and
// keeps its id. hash is a bcrypt hash; anything else is problem.BadRequest, as is a malformed
// address.
func (a *Auth) CreateUser(ctx context.Context, email, hash string) (id string, err error) {
	err = a.pool.QueryRow(ctx, `select auth.local_create_user($1, $2)::text`, email, hash).Scan(&id)
	return id, translate(ctx, err)
}

// FindUser returns the user with that address, or problem.NotFound.
func (a *Auth) FindUser(ctx context.Context, email string) (AuthUser, error) {
	return a.user(ctx, `auth.local_find_user($1)`, email)
}

// OpenSession begins a session with its first refresh token and returns its user.
func (a *Auth) OpenSession(ctx context.Context, userID, sessionID, refreshToken string) (AuthUser, error) {
	return a.user(ctx, `auth.local_open_session($1::uuid, $2::uuid, $3)`, userID, sessionID, refreshToken)
}

// SessionUser returns the user of an open session, or problem.NotFound.
func (a *Auth) SessionUser(ctx context.Context, userID, sessionID string) (AuthUser, error) {
	return a.user(ctx, `auth.local_user($1::uuid, $2::uuid)`, userID, sessionID)
}

// UpdateUser merges a JSON object into what the user says of himself, or returns problem.NotFound.
func (a *Auth) UpdateUser(ctx context.Context, userID, sessionID string, metadata json.RawMessage) (AuthUser, error) {
	return a.user(ctx, `auth.local_update_user($1::uuid, $2::uuid, $3::jsonb)`, userID, sessionID, string(metadata))
}

// Refresh swaps a refresh token for next.
func (a *Auth) Refresh(ctx context.Context, token, next string) (AuthRefresh, error) {
	rows, err := a.pool.Query(ctx, `select outcome, coalesce(user_id::text, ''), coalesce(session_id::text, ''),
		coalesce(signed_in_at, 'epoch'), coalesce(refresh_token, '') from auth.local_refresh($1, $2)`, token, next)
	if err != nil {
		return AuthRefresh{}, translate(ctx, err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[AuthRefresh])
	return r, translate(ctx, err)
}

// CloseSession ends sessions: all of the user (scope "global"), this one ("local") or the "others".
func (a *Auth) CloseSession(ctx context.Context, userID, sessionID, scope string) error {
	_, err := a.pool.Exec(ctx, `select auth.local_close_session($1::uuid, $2::uuid, $3)`, userID, sessionID, scope)
	return translate(ctx, err)
}

// TokenHook hands the event to the custom access token hook and returns its answer.
func (a *Auth) TokenHook(ctx context.Context, event json.RawMessage) (answer json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	err = a.pool.QueryRow(ctx, `select private.custom_access_token_hook($1::jsonb)`, string(event)).Scan(&answer)
	return answer, translate(ctx, err)
}

func (a *Auth) user(ctx context.Context, from string, args ...any) (AuthUser, error) {
	rows, err := a.pool.Query(ctx, `select `+authUserFields+` from `+from, args...)
	if err != nil {
		return AuthUser{}, translate(ctx, err)
	}
	u, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[AuthUser])
	return u, translate(ctx, err)
}
