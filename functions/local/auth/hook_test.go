package auth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recordedToken is token.json: an access token and the events that a hook received.
type recordedToken struct {
	AccessToken struct{ Header, Claims map[string]any } `json:"access_token"`
	Password    map[string]any                          `json:"hook_event_password"`
	Refresh     map[string]any                          `json:"hook_event_refresh"`
}

func readRecordedToken(t *testing.T) recordedToken {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "auth", "token.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/data is absent: the recorded token is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var recorded recordedToken
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	return recorded
}

func decodeSegment(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// oneAudience writes aud as later tokens do; the recording of the sign-up has a list.
func oneAudience(claims map[string]any) map[string]any {
	claims["aud"] = "authenticated"
	return claims
}

func TestToken_HasTheClaimsOfTheRecordedOne(t *testing.T) {
	recorded := readRecordedToken(t)
	b := newBackend(t, testEmail)
	s := b.signIn(t, testEmail).session(t)
	for _, token := range []string{s.access, b.refresh(t, s.refresh).session(t).access} {
		if got, want := shape(decodeSegment(t, token, 0)), shape(recorded.AccessToken.Header); !slices.Equal(got, want) {
			t.Errorf("header = %v\nrecorded %v", got, want)
		}
		claims := decodeSegment(t, token, 1)
		if got, want := shape(claims), shape(oneAudience(recorded.AccessToken.Claims)); !slices.Equal(got, want) {
			t.Errorf("claims = %v\nrecorded %v", got, want)
		}
		if claims["exp"].(float64)-claims["iat"].(float64) != 3600 {
			t.Errorf("valid from %v to %v", claims["iat"], claims["exp"])
		}
	}
}

func TestHook_ReceivesTheRecordedEvent(t *testing.T) {
	recorded := readRecordedToken(t)
	b := newBackend(t, "shows@brand-one.example")
	event := func(s session) map[string]any {
		metadata, _ := decodeSegment(t, s.access, 1)["app_metadata"].(map[string]any)
		event, _ := metadata["event"].(map[string]any)
		return event
	}
	s := b.signIn(t, "shows@brand-one.example").session(t)
	for method, tt := range map[string]struct{ got, recorded map[string]any }{
		"password":      {event(s), recorded.Password},
		"token_refresh": {event(b.refresh(t, s.refresh).session(t)), recorded.Refresh},
	} {
		oneAudience(tt.recorded["claims"].(map[string]any))
		if got, want := shape(tt.got), shape(tt.recorded); !slices.Equal(got, want) {
			t.Errorf("%s: event = %v\nrecorded %v", method, got, want)
		}
		if tt.got["authentication_method"] != method {
			t.Errorf("method = %v", tt.got["authentication_method"])
		}
	}
}

func TestHook_FailuresGiveNoTokenAndNoSession(t *testing.T) {
	tests := []struct {
		user    string
		status  int
		message string
	}{
		{"raises", 500, "error generating jwt token"},
		{"fails", 500, "Not at all"},
		{"drops", 500, "output claims do not conform to the expected schema"},
		{"refuses", 403, "Not on Sundays"},
	}
	var emails []string
	for _, tt := range tests {
		emails = append(emails, tt.user+"@brand-one.example")
	}
	b := newBackend(t, emails...)
	for i, tt := range tests {
		t.Run(tt.user, func(t *testing.T) {
			email := emails[i]
			b.log.Reset()
			got := b.signIn(t, email)
			if got.status != tt.status || got.body["msg"] != tt.message {
				t.Errorf("answer = %d %s", got.status, got.text)
			}
			if n := b.scan(t, `select count(*)::text from auth.sessions`); n != "0" {
				t.Errorf("%s sessions are left", n)
			}
			if log := b.log.String(); strings.Contains(log, "canary") || strings.Contains(log, email) || (tt.status == 500) != strings.Contains(log, "hook") {
				t.Errorf("log = %s", log)
			}
		})
	}
}

func TestHook_FailureOnRefreshLosesNoSession(t *testing.T) {
	b := newBackend(t, testEmail)
	s := b.signIn(t, testEmail).session(t)
	b.exec(t, `update auth.users set email = 'raises@brand-one.example'`)
	b.refresh(t, s.refresh).want(t, 500, "unexpected_failure")
	b.exec(t, `update auth.users set email = 'rep@brand-one.example'`)
	b.refresh(t, s.refresh).session(t)
}
