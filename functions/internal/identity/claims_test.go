package identity

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/problem"
)

// payload is a bad payload with the name of what is wrong with it.
type payload struct{ name, text string }

// with gives a good payload one claim of another value; nil takes it away.
func with(name string, value any) string { return encode(claims(map[string]any{name: value})) }

// raw gives it a claim that is spelled as it stands.
func raw(name, value string) string {
	return `{"` + name + `":` + value + `,` + encode(claims(map[string]any{name: nil}))[1:]
}

// before puts text before the first claim.
func before(text string) string { return "{" + text + "," + encode(claims(nil))[1:] }

func refusesAll(t *testing.T, payloads []payload) {
	t.Helper()
	es := newES256(t, "es")
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	for _, p := range payloads {
		t.Run(p.name, func(t *testing.T) {
			wantCode(t, v, es.raw(es.header(), p.text), problem.Unauthenticated)
		})
	}
}

func TestVerify_RefusesTimes(t *testing.T) {
	at := func(d time.Duration) int64 { return testStart.Add(d).Unix() }
	refusesAll(t, []payload{
		{"J5 no exp", with("exp", nil)},
		{"J6 exp 0", with("exp", 0)},
		{"J6 exp -1", with("exp", -1)},
		{"J6 exp null", raw("exp", "null")},
		{"J6 exp as text", with("exp", "9999999999")},
		{"J6 exp 1e300", raw("exp", "1e300")},
		{"J6 exp 1e999", raw("exp", "1e999")},
		{"J6 exp in the year 10000", raw("exp", "253402300800")},
		{"J6 iat 0", with("iat", 0)},
		{"J6 iat -1", with("iat", -1)},
		{"J7 exp twice, old then new", before(`"exp":1`)},
		{"J7 exp twice, new then old", encode(claims(nil))[:len(encode(claims(nil)))-1] + `,"exp":1}`},
		{"J7 exp twice, spelled with an escape", before(`"\u0065xp":1`)},
		{"J9 iat three hours ahead", with("iat", at(3*time.Hour))},
		{"J9 nbf three hours ahead", with("nbf", at(3*time.Hour))},
		{"J9 iat 31 s ahead", with("iat", at(31*time.Second))},
		{"J9 no iat", with("iat", nil)},
		{"J9 iat as text", with("iat", "1")},
		{"J9 nbf as text", with("nbf", "1")},
		{"J23 expired by 31 s", with("exp", at(-31*time.Second))},
		{"O75 expired ten minutes ago", with("exp", at(-10*time.Minute))},
	})
}

func TestVerify_RefusesClaims(t *testing.T) {
	refusesAll(t, []payload{
		{"J10 aud anon", with("aud", "anon")},
		{"J10 no aud", with("aud", nil)},
		{"J10 aud empty", with("aud", "")},
		{"J10 aud of two", with("aud", []string{"x", "authenticated"})},
		{"J10 aud twice", with("aud", []string{"authenticated", "authenticated"})},
		{"J10 aud empty list", with("aud", []string{})},
		{"J10 aud list in list", with("aud", [][]string{{"authenticated"}})},
		{"J11 another project", with("iss", "https://other.example/auth/v1")}, // J25
		{"J11 trailing slash", with("iss", testIssuer+"/")},
		{"J11 http", with("iss", "http://project.example/auth/v1")},
		{"J11 host in capitals", with("iss", "https://PROJECT.example/auth/v1")},
		{"J11 no iss", with("iss", nil)},
		{"J11 iss as list", with("iss", []string{testIssuer})},
		{"J12 service_role", with("role", "service_role")}, // J21
		{"J12 anon", with("role", "anon")},
		{"J12 postgres", with("role", "postgres")},
		{"J12 SQL in the role", with("role", "authenticated; reset role")}, // O70
		{"J12 no role", with("role", nil)},
		{"J12 role as list", with("role", []string{"authenticated"})},
		{"J13 no sub", with("sub", nil)},
		{"J13 empty sub", with("sub", "")},
		{"J13 sub not a uuid", with("sub", "rep")},
		{"J13 sub in capitals", with("sub", strings.ToUpper(testUser))},
		{"J13 sub as urn", with("sub", "urn:uuid:"+testUser)},
		{"J13 sub in braces", with("sub", "{"+testUser+"}")},
		{"J13 sub without dashes", with("sub", strings.ReplaceAll(testUser, "-", ""))},
		{"J13 nil sub", with("sub", "00000000-0000-0000-0000-000000000000")},
		{"J14 anonymous", with("is_anonymous", true)},
		{"J14 anonymous as text", with("is_anonymous", "false")},
		{"J14 anonymous null", raw("is_anonymous", "null")},
	})
}

func TestVerify_RefusesPayloadsThatParsersReadApart(t *testing.T) { // J3 of the threat table
	good := encode(claims(nil))
	refusesAll(t, []payload{
		{"J8 EXP instead of exp", raw("EXP", "9999999999")},
		{"J8 ROLE instead of role", `{"ROLE":"authenticated",` + with("role", nil)[1:]},
		{"J8 EXP beside exp", before(`"EXP":9999999999`)},
		{"J8 ROLE beside role", before(`"ROLE":"service_role"`)},
		{"J8 Role beside role", before(`"Role":"service_role"`)},
		{"J8 iss with the long s", before(`"i\u017fs":"x"`)},
		{"J8 App_Metadata", before(`"App_Metadata":{"tenant_id":"b"}`)},
		{"J8 tenant_id twice inside", raw("app_metadata", `{"tenant_id":"a","tenant_id":"b"}`)},
		{"J8 tenant_id is a number", raw("app_metadata", `{"tenant_id":7}`)},
		{"J8 tenant_id is a list", raw("app_metadata", `{"tenant_id":["a"]}`)},
		{"J20 10,001 deep", raw("x", strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001))},
		{"J20 six megabytes", raw("x", `"`+strings.Repeat("x", 6<<20)+`"`)},
		{"J20 200 deep", raw("x", strings.Repeat("[", 200)+strings.Repeat("]", 200))},
		{"NUL, which jsonb refuses", raw("x", `"\u0000"`)},
		{"NUL in a name", before(`"\u0000":1`)},
		{"a number that numeric refuses", raw("x", "1e999999")},
		{"a fraction that numeric refuses", raw("x", "1e-999999")},
		{"not UTF-8", before("\"x\":\"\xff\"")},
		{"a list", "[" + good + "]"},
		{"a tail", good + "{}"},
		{"empty", ""},
		{"null", "null"},
		{"cut", good[:len(good)-1]},
	})
}

func TestVerify_ForgivesSmallClockDifferences(t *testing.T) { // O75
	es := newES256(t, "es")
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	at := func(d time.Duration) int64 { return testStart.Add(d).Unix() }
	for name, changes := range map[string]map[string]any{
		"J23 expired by 29 s":      {"exp": at(-29 * time.Second)},
		"issued in 2 s":            {"iat": at(2 * time.Second)},
		"valid from in 29 s":       {"nbf": at(29 * time.Second)},
		"exp with a fraction":      {"exp": float64(at(time.Hour)) + 0.5},
		"exp at the end of a year": {"exp": int64(maxSeconds)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := v.Verify(t.Context(), es.token(claims(changes))); err != nil {
				t.Error(err)
			}
		})
	}
}

// E12: a server whose clock is ten minutes off takes no token that was issued just now, and says why.
func TestVerify_SaysThatItsClockIsOff(t *testing.T) {
	es := newES256(t, "es")
	for _, tt := range []struct {
		name   string
		off    time.Duration
		reason string // empty: accepted
	}{
		{"ten minutes behind", -10 * time.Minute, "issued in the future"},
		{"half a minute behind", -30 * time.Second, ""},
		{"ten minutes ahead, the token lives longer", 10 * time.Minute, ""},
		{"ten minutes ahead of a token of ten minutes", 10*time.Minute + leeway, "expired"},
	} {
		t.Run("E12 "+tt.name, func(t *testing.T) {
			c := newClock()
			c.advance(tt.off)
			lives := claims(nil)
			if tt.reason == "expired" {
				lives["exp"] = testStart.Add(10 * time.Minute).Unix()
			}
			_, err := newTestVerifier(t, newKeyServer(t, es).URL, c).Verify(t.Context(), es.token(lives))
			if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestVerify_HandsOverClaimsWrittenAnew(t *testing.T) {
	es := newES256(t, "es")
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	payload := "{\n\"sub\":\"" + testUser + "\", \"big\": 9007199254740993, \"iss\" : \"" + testIssuer +
		`", "aud":["authenticated"],"role":"authenticated","exp":1795180000,"iat":1795165200,` +
		`"user_metadata":{"tenant_id":"forged"},"app_metadata":{"b":"\u00e9\ud83d\ude00","a":[1,true,null]}}`
	p, err := v.Verify(t.Context(), es.raw(es.header(), payload))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"app_metadata":{"a":[1,true,null],"b":"é😀"},"aud":["authenticated"],"big":9007199254740993,` +
		`"exp":1795180000,"iat":1795165200,"iss":"` + testIssuer + `","role":"authenticated","sub":"` + testUser + `"}`
	if string(p.Claims) != want {
		t.Errorf("claims = %s\n want %s", p.Claims, want)
	}
	if p.TenantClaim != "" {
		t.Errorf("tenant claim = %q, want none", p.TenantClaim)
	}
}

// What decodeObject accepts, encoding/json accepts too and reads the same.
func FuzzDecodeObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1,"b":[{"c":null}]}`, `{"a":1,"a":2}`, `[]`, `{"a":"\ud800"}`, `{"a":1e999}`, `{"a":0,}`, `{"a" 1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decodeObject(raw)
		if err != nil {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q: encoding/json refuses: %v", raw, err)
		}
		var again map[string]any
		if err := json.Unmarshal([]byte(encode(got)), &again); err != nil || encode(again) != encode(want) {
			t.Errorf("%q reads as %v, encoding/json reads %v", raw, again, want)
		}
	})
}
