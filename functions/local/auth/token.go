package auth

import (
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
)

// tokenResponse is the answer to both grants.
type tokenResponse struct {
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresIn    int64    `json:"expires_in"`
	ExpiresAt    int64    `json:"expires_at"`
	RefreshToken string   `json:"refresh_token"`
	User         userBody `json:"user"`
}

// passwordResponse says beside it that the password is not known to be weak.
type passwordResponse struct {
	tokenResponse
	WeakPassword *struct{} `json:"weak_password"`
}

func (s *server) token(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	switch r.URL.Query().Get("grant_type") {
	case "password":
		return s.signIn(w, r)
	case "refresh_token":
		return s.refresh(w, r)
	}
	return refuse(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
}

func (s *server) signIn(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Email, Phone, Password string }
	if err := read(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Email == "" && body.Phone == "":
		return refuse(http.StatusBadRequest, "validation_failed", "missing email or phone")
	case body.Email != "" && body.Phone != "":
		return refuse(http.StatusBadRequest, "validation_failed",
			"Only an email address or phone number should be provided on login.")
	case body.Phone != "":
		return refuse(http.StatusBadRequest, "phone_provider_disabled", "Phone logins are disabled")
	}
	user, err := s.authenticate(r, body.Email, body.Password)
	if err != nil {
		return err
	}
	sessionID, next := uuid.NewString(), newRefreshToken()
	// The token comes first: a hook that refuses leaves no session behind.
	response, err := s.issue(r, signedIn{User: user, SessionID: sessionID, At: s.Now()}, "password")
	if err != nil {
		return err
	}
	user, err = s.Store.OpenSession(r.Context(), user.ID, sessionID, next)
	if err != nil {
		return broken("Database error granting user", err)
	}
	response.RefreshToken, response.User = next, newUserBody(user)
	return write(w, http.StatusOK, passwordResponse{tokenResponse: response})
}

// authenticate answers a wrong password and an unknown address alike, and in the same time.
func (s *server) authenticate(r *http.Request, email, password string) (store.AuthUser, error) {
	user, err := s.Store.FindUser(r.Context(), email)
	isKnown := err == nil && user.EncryptedPassword != ""
	if err != nil && problem.From(err).Code != problem.NotFound {
		return user, broken("Database error querying schema", err)
	}
	hash := decoy
	if isKnown {
		hash = user.EncryptedPassword
	}
	if !matches(hash, password) || !isKnown {
		return user, refuse(http.StatusBadRequest, "invalid_credentials", "Invalid login credentials")
	}
	if user.BannedUntil != nil && user.BannedUntil.After(s.Now()) {
		return user, refuse(http.StatusBadRequest, "user_banned", "User is banned")
	}
	if user.EmailConfirmedAt == nil {
		return user, refuse(http.StatusBadRequest, "email_not_confirmed", "Email not confirmed")
	}
	return user, nil
}

// refusal is the answer to an outcome of auth.local_refresh other than "issued".
func refusal(outcome string) error {
	switch outcome {
	case "banned":
		return refuse(http.StatusBadRequest, "user_banned", "Invalid Refresh Token: User Banned")
	case "already_used":
		return refuse(http.StatusBadRequest, "refresh_token_already_used", "Invalid Refresh Token: Already Used")
	}
	return refuse(http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
}

func (s *server) refresh(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if !refreshTokenShape.MatchString(body.RefreshToken) {
		return refuse(http.StatusBadRequest, "validation_failed", "Refresh token is not valid")
	}
	swap, err := s.Store.Refresh(r.Context(), body.RefreshToken, newRefreshToken())
	if err != nil {
		return broken("Database error querying schema", err)
	}
	if swap.Outcome != "issued" {
		return refusal(swap.Outcome)
	}
	user, err := s.Store.SessionUser(r.Context(), swap.UserID, swap.SessionID)
	if problem.From(err).Code == problem.NotFound {
		return refusal("not_found")
	}
	if err != nil {
		return broken("Database error querying schema", err)
	}
	response, err := s.issue(r, signedIn{User: user, SessionID: swap.SessionID, At: swap.SignedInAt}, "token_refresh")
	if err != nil {
		return err
	}
	response.RefreshToken = swap.RefreshToken
	return write(w, http.StatusOK, response)
}

var refreshTokenShape = regexp.MustCompile(`^[a-z2-7]{26}$`)

// newRefreshToken returns 26 characters of base32 with at least 128 random bits.
func newRefreshToken() string { return strings.ToLower(rand.Text()) }
