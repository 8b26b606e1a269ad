package web

import (
	"context"
	"net/http"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// Verifier proves who sent a bearer token. Its errors are unauthenticated or keys_unavailable.
type Verifier interface {
	Verify(ctx context.Context, bearer string) (identity.Principal, error)
}

// Authed is a Handler for a caller whom the verifier knows.
type Authed func(w http.ResponseWriter, r *http.Request, p identity.Principal) error

// Authenticate lets only verified callers through to h. The token is read from the one Authorization
// header and from nowhere else: query strings end up in logs.
func Authenticate(v Verifier, h Authed) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		token, ok := identity.Bearer(r.Header)
		if !ok {
			return problem.New(problem.Unauthenticated, nil)
		}
		p, err := v.Verify(r.Context(), token)
		if err != nil {
			return err
		}
		if res, ok := w.(*response); ok {
			res.caller = p
		}
		return h(w, r, p)
	}
}
