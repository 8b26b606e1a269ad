package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// forger signs as the server does, with its own key, what the server never would.
type forger struct {
	key    *ecdsa.PrivateKey
	kid    string
	claims map[string]any // of a genuine token that has just been issued
}

func newForger(t *testing.T, token string) forger {
	t.Helper()
	claims := jwt.MapClaims{}
	genuine, _, err := jwt.NewParser(jwt.WithJSONNumber()).ParseUnverified(token, claims)
	if err != nil {
		t.Fatal(err)
	}
	return forger{signingKey(t), genuine.Header["kid"].(string), claims}
}

// with are the genuine claims with changes; a nil value takes a claim away.
func (f forger) with(t *testing.T, changes map[string]any) string {
	t.Helper()
	claims := maps.Clone(f.claims)
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return encode(t, claims)
}

// before are the genuine claims with text before the first of them.
func (f forger) before(t *testing.T, text string) string {
	t.Helper()
	return "{" + text + "," + f.with(t, nil)[1:]
}

func (f forger) header(alg string) string {
	return `{"alg":"` + alg + `","kid":"` + f.kid + `","typ":"JWT"}`
}

// sign signs a payload under an honest header.
func (f forger) sign(t *testing.T, payload string) string {
	t.Helper()
	return signed(t, jwt.SigningMethodES256, f.key, f.header("ES256"), payload)
}

// signed signs header and payload as they stand.
func signed(t *testing.T, method jwt.SigningMethod, key any, header, payload string) string {
	t.Helper()
	text := segment(header) + "." + segment(payload)
	signature, err := method.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func segment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// forged is a bad token with the name of its case.
type forged struct{ name, token string }

// refuses sends each to every route and wants nothing but 401.
func refuses(t *testing.T, rep person, list []forged) {
	t.Helper()
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			p := rep.with(t)
			p.token = f.token
			if len(f.token) < 4<<10 {
				doorstep.told.add(f.token)
			}
			for name, r := range map[string]reply{
				"ask":     p.post("/v1/ask", validAsk),
				"reindex": p.post("/v1/reindex", `{"all":true}`),
				"run":     p.get("/v1/reindex/" + uuid.NewString()),
				"stale":   p.get("/v1/review/stale"),
				"verify":  p.post("/v1/review/chunks/"+uuid.NewString()+"/verify", ""),
			} {
				if r.status != http.StatusUnauthorized || r.code() != "unauthenticated" || r.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: %d %s", name, r.status, r.body)
				}
			}
		})
	}
	if r := rep.post("/v1/ask", validAsk); r.status != http.StatusOK {
		t.Errorf("afterwards the genuine token: %d %s", r.status, r.body)
	}
}

func TestToken_ForgedSignatureIsRefused(t *testing.T) { // O74
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	f := newForger(t, rep.token)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&f.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	good := f.with(t, nil)
	unsigned := func(alg string) string { return segment(f.header(alg)) + "." + segment(good) + "." }
	hmac := func(method jwt.SigningMethod, secret []byte) string {
		return signed(t, method, secret, f.header(method.Alg()), good)
	}
	genuine := f.sign(t, good)
	part := strings.Split(genuine, ".")
	refuses(t, rep, []forged{
		{"J1 alg none", unsigned("none")},
		{"J1 alg None", unsigned("None")},
		{"J1 alg NONE", unsigned("NONE")},
		{"J1 alg empty", unsigned("")},
		{"J2 HS256 with the public key as secret", hmac(jwt.SigningMethodHS256, publicPEM)},
		{"J3 HS384", hmac(jwt.SigningMethodHS384, publicPEM)},
		{"J3 HS512", hmac(jwt.SigningMethodHS512, []byte("super-secret-jwt-token-with-at-least-32-characters-long"))},
		{"J4 ES256 key under an RS256 header", signed(t, jwt.SigningMethodES256, f.key, f.header("RS256"), good)},
		{"J15 key of a stranger under a known kid", signed(t, jwt.SigningMethodES256, stranger, f.header("ES256"), good)},
		{"J18 empty signature", part[0] + "." + part[1] + "."},
		{"J18 zero r and s", part[0] + "." + part[1] + "." + segment(string(make([]byte, 64)))},
		{"J18 two segments", part[0] + "." + part[1]},
		{"J18 four segments", genuine + "." + part[2]},
		{"J18 five segments", genuine + ".." + part[2]},
		{"J19 padding", genuine + "=="},
		{"J19 twin of the last character", twinOf(genuine)},
		{"J21 anon key", hmacKey(t, "anon")},
		{"J21 service key", hmacKey(t, "service_role")},
		{"J21 publishable key", "sb_publishable_abcdefghijklmnopqrstuvwxyz"},
		{"J21 secret key", "sb_secret_abcdefghijklmnopqrstuvwxyz"},
	})
}

// hmacKey is an API key of an older project, signed with the secret that every local project ships.
func hmacKey(t *testing.T, role string) string {
	t.Helper()
	return signed(t, jwt.SigningMethodHS256, []byte("super-secret-jwt-token-with-at-least-32-characters-long"),
		`{"alg":"HS256","typ":"JWT"}`, `{"iss":"supabase-demo","role":"`+role+`","exp":1983812996}`)
}

// twinOf differs from the token only in bits of its last character that no byte of the signature holds.
func twinOf(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func TestToken_WrongClaimIsRefused(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	f := newForger(t, rep.token)
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	issuer, user := f.claims["iss"].(string), f.claims["sub"].(string)
	var list []forged
	add := func(name, payload string) { list = append(list, forged{name, f.sign(t, payload)}) }
	with := func(name, claim string, value any) { add(name, f.with(t, map[string]any{claim: value})) }
	with("J5 no exp", "exp", nil)
	for _, exp := range []string{"0", "-1", "null", `"9999999999"`, "1e300", "1e999"} {
		add("J6 exp "+exp, `{"exp":`+exp+","+f.with(t, map[string]any{"exp": nil})[1:])
	}
	add("J7 exp twice", f.before(t, `"exp":1`))
	add("J8 EXP instead of exp", `{"EXP":9999999999,`+f.with(t, map[string]any{"exp": nil})[1:])
	add("J8 Role beside role", f.before(t, `"Role":"service_role"`))
	with("J9 iat three hours ahead", "iat", in(3*time.Hour))
	with("J9 nbf three hours ahead", "nbf", in(3*time.Hour))
	with("J10 aud anon", "aud", "anon")
	with("J10 no aud", "aud", nil)
	with("J10 aud of two", "aud", []string{"x", "authenticated"})
	with("J10 aud empty", "aud", "")
	with("J11 another project", "iss", "https://abc.supabase.example/auth/v1")
	with("J11 trailing slash", "iss", issuer+"/")
	with("J11 https for http", "iss", strings.Replace(issuer, "http", "https", 1))
	with("J11 another name of the host", "iss", strings.Replace(issuer, "127.0.0.1", "LOCALHOST", 1))
	for _, role := range []any{"service_role", "anon", "postgres", "authenticated; reset role", nil} { // O70
		with(fmt.Sprint("J12 role ", role), "role", role)
	}
	for _, sub := range []any{nil, "", "rep", strings.ToUpper(user), uuid.Nil.String(), "{" + user + "}"} {
		with(fmt.Sprintf("J13 sub %.4v", sub), "sub", sub)
	}
	with("J14 anonymous", "is_anonymous", true)
	add("J20 200 deep", f.before(t, `"x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)))
	add("J20 10,001 deep", f.before(t, `"x":`+strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)))
	with("J23 expired a minute ago", "exp", in(-time.Minute)) // O75
	refuses(t, rep, list)
	for name, claim := range map[string]map[string]any{
		"J23 expired ten seconds ago": {"exp": in(-10 * time.Second)},
		"O75 issued in two seconds":   {"iat": in(2 * time.Second)},
		"J10 aud as a list of one":    {"aud": []string{"authenticated"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := rep.with(t)
			p.token = f.sign(t, f.with(t, claim))
			p.post("/v1/ask", validAsk).want(t, http.StatusOK, "")
		})
	}
}

func TestToken_OddHeaderIsRefused(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	f := newForger(t, rep.token)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var visits atomic.Int64
	theirs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	defer theirs.Close()
	var list []forged
	good := f.with(t, nil)
	for name, header := range map[string]string{
		"J15 no kid":              `{"alg":"ES256"}`,
		"J15 kid is a number":     `{"alg":"ES256","kid":1}`,
		"J15 kid is a path":       `{"alg":"ES256","kid":"../../etc/passwd"}`,
		"J15 kid is SQL":          `{"alg":"ES256","kid":"' or 1=1"}`,
		"J15 kid of 100 KB":       `{"alg":"ES256","kid":"` + strings.Repeat("k", 100<<10) + `"}`,
		"J17 crit":                `{"alg":"ES256","kid":"` + f.kid + `","crit":["exp"]}`,
		"J17 b64":                 `{"alg":"ES256","kid":"` + f.kid + `","b64":false}`,
		"J17 zip":                 `{"alg":"ES256","kid":"` + f.kid + `","zip":"DEF"}`,
		"J8 alg twice":            `{"alg":"none","alg":"ES256","kid":"` + f.kid + `"}`,
		"header that is no JSON":  `{"alg":"ES256"`,
		"header with a NUL in it": `{"alg":"ES256","kid":"` + f.kid + `\u0000"}`,
	} {
		list = append(list, forged{name, signed(t, jwt.SigningMethodES256, f.key, header, good)})
	}
	for _, pointer := range []string{"jku", "x5u"} {
		header := `{"alg":"ES256","kid":"new","` + pointer + `":"` + theirs.URL + `/keys"}`
		list = append(list, forged{"J16 " + pointer, signed(t, jwt.SigningMethodES256, stranger, header, good)})
	}
	refuses(t, rep, list)
	if n := visits.Load(); n != 0 {
		t.Errorf("the attacker's server was asked %d times", n)
	}
}

// 200 tokens with 200 kids that nobody has issued, at once: each is refused, and who has a genuine one
// does not notice.
func TestToken_FloodOfKidsHindersNobody(t *testing.T) { // J15, O76
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	done := make(chan reply, 8)
	for range cap(done) {
		go func() {
			last := reply{status: http.StatusUnauthorized}
			for range 25 {
				p := rep
				p.token = segment(`{"alg":"ES256","kid":"`+uuid.NewString()+`"}`) + ".e30." + segment(string(make([]byte, 64)))
				if r := p.post("/v1/ask", validAsk); r.status != http.StatusUnauthorized {
					last = r
				}
			}
			done <- last
		}()
	}
	for range cap(done) {
		if r := rep.get("/v1/review/stale"); r.status != http.StatusForbidden { // a rep is known, but no admin
			t.Errorf("the genuine token: %d %s", r.status, r.body)
		}
		if r := <-done; r.status != http.StatusUnauthorized {
			t.Errorf("a forged one: %d %s", r.status, r.body)
		}
	}
}

// The token is read from the one Authorization header of its one scheme.
func TestToken_WhereItStandsAndHow(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	token := rep.token
	for _, c := range []struct {
		name, path string
		values     []string // of Authorization
		status     int
	}{
		{"J22 one header", "", []string{"Bearer " + token}, 200},
		{"J22 scheme in lower case", "", []string{"bearer " + token}, 200},
		{"J22 scheme in capitals", "", []string{"BEARER " + token}, 200},
		{"J22 scheme twice", "", []string{"Bearer Bearer " + token}, 401},
		{"J22 tab", "", []string{"Bearer\t" + token}, 401},
		{"J22 two spaces", "", []string{"Bearer  " + token}, 401},
		{"J22 no scheme", "", []string{token}, 401},
		{"J22 another scheme", "", []string{"Basic " + token}, 401},
		{"J22 two headers", "", []string{"Bearer " + token, "Bearer " + token}, 401},
		{"J22 two headers, one of them empty", "", []string{"Bearer " + token, ""}, 401},
		{"J22 two tokens in one header", "", []string{"Bearer " + token + ",Bearer " + token}, 401},
		{"J22 token in the query", "?access_token=" + token, nil, 401},
		{"J22 API key in the query", "?apikey=" + token, nil, 401},
		{"J22 token in the query beside a wrong one", "?access_token=" + token, []string{"Bearer x"}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := rep.with(t)
			p.token = ""
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			request := p.request(ctx, http.MethodPost, "/v1/ask"+c.path, validAsk, asJSON, "Cookie: access_token="+token, "Apikey: "+token)
			request.Header["Authorization"] = c.values
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != c.status {
				t.Errorf("%d %s, %v", response.StatusCode, body, err)
			}
		})
	}
}

// Six megabytes in the header are cut off by the server itself, which goes on.
func TestToken_OfSixMegabytesIsRefused(t *testing.T) { // J20
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request := rep.request(ctx, http.MethodPost, "/v1/ask", validAsk, asJSON)
	request.Header.Set("Authorization", "Bearer "+rep.token+strings.Repeat("x", 6<<20))
	response, err := http.DefaultClient.Do(request)
	if err == nil { // else the connection was closed while the header was still being sent
		response.Body.Close()
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("status %d", response.StatusCode)
		}
	}
	rep.post("/v1/ask", validAsk).want(t, http.StatusOK, "")
}

// A token outlives the person whom it names by up to an hour: it opens nothing any more.
func TestToken_OfADeletedUserOpensNothing(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "token-stoves", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
	b.index(t)
	rep, admin := doorstep.rep(t, b.slug), doorstep.admin(t, b.slug)
	rep.post("/v1/ask", validAsk).want(t, http.StatusOK, "")
	for _, p := range []person{rep, admin} {
		if err := doorstep.exec(t.Context(), `delete from auth.users where email = $1`, p.email); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("J13 uuid of a deleted user", func(t *testing.T) {
		rep.with(t).post("/v1/ask", validAsk).want(t, http.StatusForbidden, "not_a_member")
		admin.with(t).post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "not_a_member")
		admin.with(t).get("/v1/review/stale").want(t, http.StatusForbidden, "not_a_member")
	})
}
