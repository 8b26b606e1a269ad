package auth

import (
	"strings"
	"testing"

	"github.com/supabase-community/gotrue-go/types"
	supabase "github.com/supabase-community/supabase-go"

	"porchlight/functions/internal/identity"
)

func TestAuth_ServesSupabaseGoAndOurVerifierUnchanged(t *testing.T) {
	b := newBackend(t, testEmail)
	client, err := supabase.NewClient(b.url, "sb_publishable_test", nil)
	if err != nil {
		t.Fatal(err)
	}
	signedIn, err := client.SignInWithEmailPassword(testEmail, testPassword)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := identity.NewVerifier(identity.VerifierConfig{
		JWKSURL: b.url + "/auth/v1/.well-known/jwks.json", Issuer: b.url + "/auth/v1", Audience: "authenticated", Now: b.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	refreshed, err := client.RefreshToken(signedIn.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if refreshed.RefreshToken == signedIn.RefreshToken {
		t.Error("the refresh token was not swapped")
	}
	for _, s := range []types.Session{signedIn, refreshed} {
		p, err := verifier.Verify(t.Context(), s.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		if p.UserID != s.User.ID.String() || p.TenantClaim != "11111111-1111-1111-1111-111111111111" {
			t.Errorf("principal = %+v", p)
		}
		if strings.Contains(string(p.Claims), "user_metadata") {
			t.Errorf("claims carry user_metadata: %s", p.Claims)
		}
	}

	user, err := client.Auth.GetUser()
	if err != nil || user.Email != testEmail || user.ID != signedIn.User.ID {
		t.Errorf("user = %+v, %v", user, err)
	}
	if _, err := client.Auth.HealthCheck(); err != nil {
		t.Error(err)
	}
	updated, err := client.Auth.UpdateUser(types.UpdateUserRequest{Data: map[string]any{"nickname": "Lu"}})
	if err != nil || updated.UserMetadata["nickname"] != "Lu" {
		t.Errorf("updated = %+v, %v", updated, err)
	}
	if err := client.Auth.Logout(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Auth.GetUser(); err == nil || !strings.Contains(err.Error(), "session_not_found") {
		t.Errorf("user after signing out: %v", err)
	}
	if _, err := client.RefreshToken(refreshed.RefreshToken); err == nil || !strings.Contains(err.Error(), "refresh_token_not_found") {
		t.Errorf("refresh after signing out: %v", err)
	}
	if _, err := client.SignInWithEmailPassword(testEmail, "wrong"); err == nil || !strings.Contains(err.Error(), "invalid_credentials") {
		t.Errorf("wrong password: %v", err)
	}
}
