package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"porchlight/functions/internal/store"
)

// lifetime is how long an access token is valid.
const lifetime = time.Hour

// required are the claims that a hook must leave in place.
var required = []string{"aud", "exp", "iat", "sub", "email", "phone", "role", "aal", "session_id"}

// signedIn is a user with the session that a token is made for.
type signedIn struct {
	User      store.AuthUser
	SessionID string
	At        time.Time // of the sign-in, not of the refresh
}

// issue makes an access token: the hook has the last word on its claims.
func (s *server) issue(r *http.Request, in signedIn, method string) (tokenResponse, error) {
	now := s.Now()
	claims, err := s.hook(r, in.User.ID, s.claims(in, now), method)
	if err != nil {
		return tokenResponse{}, err
	}
	token, err := s.Key.sign(claims)
	if err != nil {
		return tokenResponse{}, broken("error generating jwt token", err)
	}
	return tokenResponse{
		AccessToken: token,
		TokenType:   "bearer",
		ExpiresIn:   int64(lifetime.Seconds()),
		ExpiresAt:   now.Add(lifetime).Unix(),
		User:        newUserBody(in.User),
	}, nil
}

func (s *server) claims(in signedIn, now time.Time) map[string]any {
	return map[string]any{
		"iss":           s.Issuer,
		"sub":           in.User.ID,
		"aud":           "authenticated",
		"role":          "authenticated",
		"iat":           now.Unix(),
		"exp":           now.Add(lifetime).Unix(),
		"email":         in.User.Email,
		"phone":         "",
		"session_id":    in.SessionID,
		"aal":           "aal1",
		"amr":           []any{map[string]any{"method": "password", "timestamp": in.At.Unix()}},
		"is_anonymous":  in.User.IsAnonymous,
		"app_metadata":  in.User.AppMetadata,
		"user_metadata": in.User.UserMetadata,
	}
}

// hook hands the claims to private.custom_access_token_hook and returns those it answers with. The
// event is the one of Supabase Auth. A hook that fails, or breaks the claims, is our failure; one
// that answers {"error": {"http_code", "message"}} refuses with that.
func (s *server) hook(r *http.Request, userID string, claims map[string]any, method string) (map[string]any, error) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	event, err := json.Marshal(map[string]any{
		"user_id":               userID,
		"claims":                claims,
		"authentication_method": method,
		"metadata": map[string]any{
			"name": "customize-access-token", "uuid": uuid.NewString(),
			"time": s.Now().UTC().Format(time.RFC3339Nano), "ip_address": address,
		},
	})
	if err != nil {
		return nil, broken("error generating jwt token", err)
	}
	raw, err := s.Store.TokenHook(r.Context(), event)
	if err != nil {
		return nil, broken("error generating jwt token", fmt.Errorf("custom access token hook: %w", err))
	}
	return readHookAnswer(raw)
}

func readHookAnswer(raw []byte) (map[string]any, error) {
	var answer struct {
		Claims map[string]any
		Error  struct {
			HTTPCode int `json:"http_code"`
			Message  string
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&answer); err != nil {
		return nil, broken("error generating jwt token", errors.New("custom access token hook: the answer is no object"))
	}
	if message := answer.Error.Message; message != "" {
		code := answer.Error.HTTPCode
		if code < 400 || code >= 500 {
			return nil, broken(message, errors.New("custom access token hook refused"))
		}
		return nil, refuse(code, "unknown", message)
	}
	for _, name := range required {
		if _, found := answer.Claims[name]; !found {
			return nil, broken("output claims do not conform to the expected schema",
				errors.New("custom access token hook: the answer lacks "+name))
		}
	}
	return answer.Claims, nil
}
