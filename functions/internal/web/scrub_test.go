package web

import (
	"strings"
	"testing"
)

// O80
func TestScrub_MasksSecretsAndKeepsTheRest(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"key in a query", `Get "https://m.example/v1?alt=sse&key=AIzaSyA-1_2&x=1": EOF`, `Get "https://m.example/v1?alt=sse&key=***&x=1": EOF`},
		{"api key anywhere", "API key not valid: AIzaSyA-1_2.", "API key not valid: ***."},
		{"other names", "access_token=abc; api_key: xyz, refreshToken=r", "access_token=***; api_key: ***, refreshToken=***"},
		{"JSON", `{"client_secret":"s3", "n":1}`, `{"client_secret":"***", "n":1}`},
		{"header", "sent Authorization: Bearer abc.def-ghi and waited", "sent Authorization: Bearer *** and waited"},
		{"token without a name", "parse eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x-y failed", "parse *** failed"},
		{"DSN", "dial postgres://runtime:hunter2@db.example:5432/app", "dial postgres://***@db.example:5432/app"},
		{"DSN of keywords", "host=db.example password=hunter2 user=u", "host=db.example password=*** user=u"},
		{"nothing to hide", "fetch keys: dial tcp 192.0.2.1:443: i/o timeout", "fetch keys: dial tcp 192.0.2.1:443: i/o timeout"},
		{"a code", "question_too_long: PT400", "question_too_long: PT400"},
		{"a hash", "chunk 9f2c: monkey business", "chunk 9f2c: monkey business"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := scrub(tt.text)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestScrub_CutsWhatIsTooLongForALog(t *testing.T) {
	if got := scrub(strings.Repeat("x", 5000)); len(got) > maxErrorText+len("…") {
		t.Errorf("%d bytes", len(got))
	}
}
