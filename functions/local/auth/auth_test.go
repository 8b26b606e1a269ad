package auth

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/store"
)

func TestSignIn_Refuses(t *testing.T) {
	b := newBackend(t, testEmail, "banned@brand-one.example", "new@brand-one.example", "open@brand-one.example")
	b.exec(t, `update auth.users set banned_until = now() + interval '1 hour' where email like 'banned@%'`)
	b.exec(t, `update auth.users set email_confirmed_at = null where email like 'new@%'`)
	b.exec(t, `update auth.users set encrypted_password = null where email like 'open@%'`)
	login := func(email, password string) string { return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password) }
	tests := []struct {
		name, body string
		status     int
		code       string
	}{
		{"a banned user", login("banned@brand-one.example", testPassword), 400, "user_banned"},
		{"a banned user with a wrong password as anybody", login("banned@brand-one.example", "wrong"), 400, "invalid_credentials"},
		{"an address that nobody confirmed", login("new@brand-one.example", testPassword), 400, "email_not_confirmed"},
		{"a user without a password", login("open@brand-one.example", ""), 400, "invalid_credentials"},
		{"an empty password", login(testEmail, ""), 400, "invalid_credentials"},
		{"a password that is right for 72 bytes", login(testEmail, testPassword+strings.Repeat("x", 72)), 400, "invalid_credentials"},
		{"an address of SQL", login("' or 1=1 --", "x"), 400, "invalid_credentials"},
		{"phone numbers", `{"phone":"+4930","password":"x"}`, 400, "phone_provider_disabled"},
		{"two names at once", `{"phone":"+4930","email":"a@b.example","password":"x"}`, 400, "validation_failed"},
		{"a list", `[]`, 400, "bad_json"},
		{"a number for an address", `{"email":1}`, 400, "bad_json"},
		{"64 KB", `{"email":"` + strings.Repeat("x", maxBodyBytes) + `"}`, 413, "validation_failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b.send(t, "POST", "/auth/v1/token?grant_type=password", tt.body).want(t, tt.status, tt.code)
		})
	}
}

func TestRefresh_SwapsOnceAndForgivesLostAnswers(t *testing.T) {
	b := newBackend(t, testEmail)
	first := b.signIn(t, testEmail).session(t)
	second := b.refresh(t, first.refresh).session(t)
	if second.refresh == first.refresh {
		t.Fatal("the token was not swapped")
	}
	b.exec(t, `update auth.refresh_tokens set updated_at = now() - interval '1 hour'`)
	if again := b.refresh(t, first.refresh).session(t); again.refresh != second.refresh {
		t.Error("the parent of the active token gets another token than before")
	}
	third := b.refresh(t, second.refresh).session(t)
	if tab := b.refresh(t, second.refresh).session(t); tab.refresh != third.refresh {
		t.Error("a second tab gets another token")
	}
}

func TestRefresh_UsedTokenEndsTheChain(t *testing.T) {
	b := newBackend(t, testEmail)
	first := b.signIn(t, testEmail).session(t)
	second := b.refresh(t, first.refresh).session(t)
	third := b.refresh(t, second.refresh).session(t)
	b.exec(t, `update auth.refresh_tokens set updated_at = now() - interval '11 seconds'`)
	b.refresh(t, first.refresh).want(t, 400, "refresh_token_already_used")
	b.refresh(t, third.refresh).want(t, 400, "refresh_token_already_used")
	b.refresh(t, second.refresh).want(t, 400, "refresh_token_already_used")
	other := b.signIn(t, testEmail).session(t)
	b.refresh(t, other.refresh).session(t)
}

func TestRefresh_GrandparentWithinTenSecondsIsATab(t *testing.T) {
	b := newBackend(t, testEmail)
	first := b.signIn(t, testEmail).session(t)
	second := b.refresh(t, first.refresh).session(t)
	b.refresh(t, second.refresh).session(t)
	b.refresh(t, first.refresh).session(t)
}

func TestRefresh_ManyAtOnceGetOneToken(t *testing.T) {
	b := newBackend(t, testEmail)
	first := b.signIn(t, testEmail).session(t)
	gate, err := connect(t, database.AdminURL(b.name)).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Exec(t.Context(), `select from auth.refresh_tokens for update`); err != nil {
		t.Fatal(err)
	}
	tokens := make(chan string)
	for range 20 {
		go func() {
			token, _ := b.refresh(t, first.refresh).body["refresh_token"].(string)
			tokens <- token
		}()
	}
	const poolSize = "4"
	for b.scan(t, `select count(*)::text from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) != poolSize {
		time.Sleep(time.Millisecond)
	}
	if err := gate.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 20 {
		seen[<-tokens] = true
	}
	if len(seen) != 1 || seen[""] || seen[first.refresh] {
		t.Errorf("%d different tokens, want one new", len(seen))
	}
	if n := b.scan(t, `select count(*)::text from auth.refresh_tokens`); n != "2" {
		t.Errorf("%s tokens are stored, want 2", n)
	}
}

func TestRefresh_BannedAndDeletedUsersStop(t *testing.T) {
	b := newBackend(t, testEmail)
	s := b.signIn(t, testEmail).session(t)
	b.exec(t, `update auth.users set banned_until = now() + interval '1 hour'`)
	b.refresh(t, s.refresh).want(t, 400, "user_banned")
	b.exec(t, `update auth.users set banned_until = null, deleted_at = now()`)
	b.refresh(t, s.refresh).want(t, 400, "refresh_token_not_found")
	b.user(t, s.access).want(t, 403, "session_not_found")
	b.exec(t, `delete from auth.users`)
	b.refresh(t, s.refresh).want(t, 400, "refresh_token_not_found")
	b.refresh(t, newRefreshToken()).want(t, 400, "refresh_token_not_found")
}

func TestLogout_EndsWhatTheScopeSays(t *testing.T) {
	tests := []struct {
		query string
		ends  [3]bool // the caller's session, another of the same user, one of somebody else
	}{
		{"", [3]bool{true, true, false}},
		{"?scope=global", [3]bool{true, true, false}},
		{"?scope=local", [3]bool{true, false, false}},
		{"?scope=others", [3]bool{false, true, false}},
	}
	b := newBackend(t, testEmail, "other@brand-two.example")
	for _, tt := range tests {
		t.Run("scope"+tt.query, func(t *testing.T) {
			sessions := [3]session{b.signIn(t, testEmail).session(t), b.signIn(t, testEmail).session(t), b.signIn(t, "other@brand-two.example").session(t)}
			got := b.send(t, "POST", "/auth/v1/logout"+tt.query, "", "Authorization: Bearer "+sessions[0].access)
			if got.status != http.StatusNoContent || got.text != "" {
				t.Fatalf("answer = %d %s", got.status, got.text)
			}
			for i, s := range sessions {
				if ended := b.user(t, s.access).status == http.StatusForbidden; ended != tt.ends[i] {
					t.Errorf("session %d ended = %v", i, ended)
				}
				if ended := b.refresh(t, s.refresh).status == http.StatusBadRequest; ended != tt.ends[i] {
					t.Errorf("refresh token %d ended = %v", i, ended)
				}
			}
		})
	}
	s := b.signIn(t, testEmail).session(t)
	b.send(t, "POST", "/auth/v1/logout?scope=everyone", "", "Authorization: Bearer "+s.access).want(t, 400, "validation_failed")
}

func TestUser_ChangesOnlyWhatUsersSayOfThemselves(t *testing.T) {
	b := newBackend(t, testEmail)
	s := b.signIn(t, testEmail).session(t)
	put := func(body string) reply {
		return b.send(t, "PUT", "/auth/v1/user", body, "Authorization: Bearer "+s.access)
	}
	got := put(`{"data":{"nickname":"Lu","email_verified":null,"tenant_id":"forged"},"code_challenge":null}`)
	metadata, _ := got.body["user_metadata"].(map[string]any)
	if _, found := metadata["email_verified"]; got.status != 200 || metadata["nickname"] != "Lu" || found {
		t.Errorf("answer = %d %s", got.status, got.text)
	}
	if app, _ := got.body["app_metadata"].(map[string]any); app["tenant_id"] != nil {
		t.Errorf("the user wrote app_metadata: %v", app)
	}
	if again := put(`{}`); again.status != 200 || !sameJSON(t, textOf(t, again.body["user_metadata"]), textOf(t, metadata)) {
		t.Errorf("nothing to change changed %s", again.text)
	}
	for name, body := range map[string]string{
		"an address": `{"email":"boss@brand-one.example"}`, "a password": `{"password":"x"}`, "a list": `{"data":[1]}`,
		"text": `{"data":"x"}`, "NUL": `{"data":{"x":"\u0000"}}`,
	} {
		t.Run(name, func(t *testing.T) { put(body).want(t, 400, "validation_failed") })
	}
}

func TestCaller_RefusesForeignTokens(t *testing.T) {
	b := newBackend(t, testEmail)
	s := b.signIn(t, testEmail).session(t)
	other := newBackend(t, testEmail)
	foreign := other.signIn(t, testEmail).session(t)
	b.user(t, foreign.access).want(t, 403, "bad_jwt")
	b.user(t, b64([]byte(`{"alg":"none"}`))+"."+strings.Split(s.access, ".")[1]+".").want(t, 403, "bad_jwt")
	b.user(t, "sb_publishable_test").want(t, 403, "bad_jwt")
	b.clock.advance(lifetime + time.Second)
	b.user(t, s.access).want(t, 403, "bad_jwt")
}

func TestErrors_HaveTheShapeThatWasAskedFor(t *testing.T) {
	b := newBackend(t)
	for version, isNew := range map[string]bool{"2024-01-01": true, "2025-06-30": true, "2023-12-31": false, "new": false, "": false} {
		t.Run("version "+version, func(t *testing.T) {
			got := b.send(t, "GET", "/auth/v1/user", "", "X-Supabase-Api-Version: "+version)
			want := `{"code":401,"error_code":"no_authorization","msg":"This endpoint requires a valid Bearer token"}`
			echo := ""
			if isNew {
				want, echo = `{"code":"no_authorization","message":"This endpoint requires a valid Bearer token"}`, "2024-01-01"
			}
			if got.text != want || got.header.Get("X-Supabase-Api-Version") != echo {
				t.Errorf("answer = %s, version %q", got.text, got.header.Get("X-Supabase-Api-Version"))
			}
		})
	}
}

func TestPaths_OutsideTheSubsetAreNotFound(t *testing.T) {
	b := newBackend(t)
	for _, request := range []string{
		"POST /auth/v1/signup", "GET /auth/v1/token", "DELETE /auth/v1/user", "GET /auth/v1/admin/users", "POST /auth/v1/recover",
		"GET /auth/v1", "GET /", "GET /auth/v1/authorize",
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := b.send(t, method, path, "{}"); got.status != http.StatusNotFound {
			t.Errorf("%s = %d", request, got.status)
		}
	}
}

func TestBrowsers_MayCallFromAnyOriginWithoutCookies(t *testing.T) {
	b := newBackend(t)
	got := b.send(t, "OPTIONS", "/auth/v1/token", "", "Origin: https://app.example", "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: apikey,authorization,content-type,x-client-info,x-supabase-api-version")
	if got.status != http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight = %d %v", got.status, got.header)
	}
	allowed := strings.ToLower(got.header.Get("Access-Control-Allow-Headers"))
	for _, name := range []string{"apikey", "authorization", "content-type", "x-client-info", "x-supabase-api-version"} {
		if !strings.Contains(allowed, name) {
			t.Errorf("%s is not allowed", name)
		}
	}
	if got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("cookies are allowed")
	}
	if got := b.send(t, "GET", "/auth/v1/user", ""); !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "X-Supabase-Api-Version") {
		t.Error("supabase-js can't see the version of an error")
	}
}

func TestAuth_SaysLaterWhenTheDatabaseIsDown(t *testing.T) {
	down, err := store.OpenAuth(t.Context(), store.Options{URL: "postgres://supabase_auth_admin@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(down.Close)
	key, err := LoadOrCreateKey(filepath.Join(t.TempDir(), "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(Config{Store: down, Key: key, Issuer: "http://127.0.0.1/auth/v1", Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for query, body := range map[string]string{
		"password": `{"email":"a@b.example","password":"x"}`, "refresh_token": `{"refresh_token":"` + newRefreshToken() + `"}`,
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/auth/v1/token?grant_type="+query, strings.NewReader(body)))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestNew_WantsEverything(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
}
