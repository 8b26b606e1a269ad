// Package identity turns a Supabase access token into a Principal. It decides whether a token is
// genuine, current and of a signed-in user, and hands Postgres the same claims that it has read
// itself. It does not decide what a user may see: the database does.
package identity

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"porchlight/functions/internal/problem"
)

// role is the only role that a token may name and the only database role that it gives.
const role = "authenticated"

// Principal is the person behind a verified token.
type Principal struct {
	// UserID is the user's uuid in lower case.
	UserID string
	// Claims is what Postgres sees as request.jwt.claims: the verified claims written anew, with
	// sorted names. user_metadata is left out, since users write it themselves.
	Claims json.RawMessage
	// Role is the database role, always "authenticated".
	Role string
	// Tenant is the slug of the brand that a platform admin acts for. Verify leaves it empty.
	Tenant string
	// TenantClaim is app_metadata.tenant_id as the token hook wrote it. It informs; membership in
	// the database decides.
	TenantClaim string
}

// Bearer returns the token of the one Authorization header. It reports false when there is none,
// more than one, another scheme, or anything but one space and one token after the scheme.
func Bearer(h http.Header) (string, bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" || strings.ContainsAny(token, " \t") {
		return "", false
	}
	return token, true
}

// refuse is the error for a token that will not become valid by trying again. The reason is for
// the log and holds nothing of the token.
func refuse(reason string) error {
	return problem.New(problem.Unauthenticated, errors.New(reason))
}
