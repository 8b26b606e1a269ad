package app

import (
	"io"
	"strings"
	"testing"

	"porchlight/functions/internal/config"
	"porchlight/functions/local/postgres"
)

// The configuration refuses logins by their names; a login of any other name is refused by its rights.
func TestNew_RefusesToServeAsALoginThatNoPolicyHolds(t *testing.T) {
	const database = "app_login"
	if err := server.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	for role, isRefused := range map[string]bool{"porchlight_runtime": false, "postgres": true, postgres.Superuser: true} {
		a, err := New(t.Context(), config.Config{
			DatabaseURL: config.Secret(server.URL(role, database)), MaxConnections: 1,
			JWTIssuer: "https://project.example/auth/v1", JWKSURL: "https://project.example/auth/v1/keys",
		}, io.Discard)
		if err == nil {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		if isRefused != (err != nil) {
			t.Errorf("as %s: %v", role, err)
		}
		if isRefused && err != nil && !strings.Contains(err.Error(), "use porchlight_runtime") {
			t.Errorf("%s is refused without a word about its rights: %v", role, err)
		}
	}
}
