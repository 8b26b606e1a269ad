package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
)

// userBody is a user as Supabase Auth shows one.
type userBody struct {
	ID               string          `json:"id"`
	Aud              string          `json:"aud"`
	Role             string          `json:"role"`
	Email            string          `json:"email"`
	EmailConfirmedAt *time.Time      `json:"email_confirmed_at,omitempty"`
	Phone            string          `json:"phone"`
	ConfirmedAt      *time.Time      `json:"confirmed_at,omitempty"`
	LastSignInAt     *time.Time      `json:"last_sign_in_at,omitempty"`
	AppMetadata      json.RawMessage `json:"app_metadata"`
	UserMetadata     json.RawMessage `json:"user_metadata"`
	Identities       []identityBody  `json:"identities"`
	CreatedAt        *time.Time      `json:"created_at"`
	UpdatedAt        *time.Time      `json:"updated_at"`
	IsAnonymous      bool            `json:"is_anonymous"`
}

// identityBody is the one way to sign in that a local user has.
type identityBody struct {
	IdentityID   string         `json:"identity_id"`
	ID           string         `json:"id"`
	UserID       string         `json:"user_id"`
	IdentityData map[string]any `json:"identity_data"`
	Provider     string         `json:"provider"`
	LastSignInAt *time.Time     `json:"last_sign_in_at"`
	CreatedAt    *time.Time     `json:"created_at"`
	UpdatedAt    *time.Time     `json:"updated_at"`
	Email        string         `json:"email"`
}

func newUserBody(u store.AuthUser) userBody {
	return userBody{
		ID: u.ID, Aud: "authenticated", Role: "authenticated", Email: u.Email,
		EmailConfirmedAt: utc(u.EmailConfirmedAt), ConfirmedAt: utc(u.EmailConfirmedAt), LastSignInAt: utc(u.LastSignInAt),
		AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata,
		Identities: []identityBody{{
			// No table holds identities here: the id follows from the user's, so it stays the same.
			IdentityID: uuid.NewSHA1(uuid.NameSpaceOID, []byte("email:"+u.ID)).String(),
			ID:         u.ID, UserID: u.ID, Provider: "email", Email: u.Email,
			IdentityData: map[string]any{"sub": u.ID, "email": u.Email, "email_verified": false, "phone_verified": false},
			LastSignInAt: utc(u.CreatedAt), CreatedAt: utc(u.CreatedAt), UpdatedAt: utc(u.CreatedAt),
		}},
		CreatedAt: utc(u.CreatedAt), UpdatedAt: utc(u.UpdatedAt), IsAnonymous: u.IsAnonymous,
	}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func (s *server) getUser(w http.ResponseWriter, r *http.Request) error {
	user, _, err := s.caller(r)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, newUserBody(user))
}

// putUser lets users write what they say of themselves. It proves nothing: nobody may read
// user_metadata to decide anything.
func (s *server) putUser(w http.ResponseWriter, r *http.Request) error {
	user, sessionID, err := s.caller(r)
	if err != nil {
		return err
	}
	var body struct {
		Email, Phone, Password string
		Data                   json.RawMessage
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if body.Email != "" || body.Phone != "" || body.Password != "" {
		return refuse(http.StatusBadRequest, "validation_failed", "Only data can be changed here")
	}
	if len(body.Data) == 0 || string(body.Data) == "null" {
		return write(w, http.StatusOK, newUserBody(user))
	}
	// Postgres' jsonb can't hold NUL.
	if body.Data[0] != '{' || bytes.Contains(body.Data, []byte(`\u0000`)) {
		return refuse(http.StatusBadRequest, "validation_failed", "data must be an object of plain text")
	}
	user, err = s.Store.UpdateUser(r.Context(), user.ID, sessionID, body.Data)
	if err != nil {
		return broken("Error updating user", err)
	}
	return write(w, http.StatusOK, newUserBody(user))
}

func (s *server) logout(w http.ResponseWriter, r *http.Request) error {
	scope := r.URL.Query().Get("scope")
	switch scope {
	case "":
		scope = "global"
	case "global", "local", "others":
	default:
		return refuse(http.StatusBadRequest, "validation_failed", fmt.Sprintf("Unsupported logout scope %q", scope))
	}
	user, sessionID, err := s.caller(r)
	if err != nil {
		return err
	}
	if err := s.Store.CloseSession(r.Context(), user.ID, sessionID, scope); err != nil {
		return broken("Error logging out user", err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// caller returns whose access token the request carries and for which session, which must be open.
func (s *server) caller(r *http.Request) (store.AuthUser, string, error) {
	var user store.AuthUser
	token, ok := identity.Bearer(r.Header)
	if !ok {
		return user, "", refuse(http.StatusUnauthorized, "no_authorization", "This endpoint requires a valid Bearer token")
	}
	var claims struct {
		jwt.RegisteredClaims
		SessionID string `json:"session_id"`
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithIssuer(s.Issuer), jwt.WithTimeFunc(s.Now))
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return &s.Key.private.PublicKey, nil })
	if err != nil {
		return user, "", refuse(http.StatusForbidden, "bad_jwt", "invalid JWT: unable to parse or verify signature, "+err.Error())
	}
	for _, id := range []string{claims.Subject, claims.SessionID} {
		if uuid.Validate(id) != nil {
			return user, "", refuse(http.StatusForbidden, "bad_jwt", "invalid claim: sub and session_id must be UUIDs")
		}
	}
	user, err = s.Store.SessionUser(r.Context(), claims.Subject, claims.SessionID)
	if problem.From(err).Code == problem.NotFound {
		return user, "", refuse(http.StatusForbidden, "session_not_found", "Session from session_id claim in JWT does not exist")
	}
	if err != nil {
		return user, "", broken("Database error querying schema", err)
	}
	return user, claims.SessionID, nil
}
