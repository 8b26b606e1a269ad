package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const canary = "kestrel9" // stands in every value that is wrong; no fault may hold it

// whole is an environment that Load accepts.
func whole() map[string]string {
	return map[string]string{
		databaseURL: "postgres://porchlight_runtime:pw@db.example:5432/postgres",
		supabaseURL: "https://abc.supabase.example",
	}
}

func load(env map[string]string) (Config, error) {
	return Load(func(name string) string { return env[name] })
}

// faulty is the names that Load complains of, in order; the test fails when a fault holds the canary.
func faulty(t *testing.T, env map[string]string) []string {
	t.Helper()
	_, err := load(env)
	var faults Invalid
	if err != nil && !errors.As(err, &faults) {
		t.Fatalf("%T: %v", err, err)
	}
	if err != nil && strings.Contains(err.Error(), canary) {
		t.Errorf("a value is in the error: %v", err)
	}
	var names []string
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

func TestLoad_FillsInWhatIsNotSet(t *testing.T) {
	got, err := load(whole())
	want := Config{
		DatabaseURL: "postgres://porchlight_runtime:pw@db.example:5432/postgres?sslmode=require",
		PoolMode:    Direct, MaxConnections: 4,
		JWTIssuer: "https://abc.supabase.example/auth/v1",
		JWKSURL:   "https://abc.supabase.example/auth/v1/.well-known/jwks.json",
		LogLevel:  slog.LevelInfo,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestLoad_ReadsEveryVariable(t *testing.T) {
	const secret = "kJ3vQ9xT2mZ7wB5nR8cL4pY6sD1fG0hA"
	got, err := load(map[string]string{
		databaseURL: "postgres://porchlight_runtime.abc:p%40ss@pool.example:6543/postgres?sslmode=verify-full",
		jwtIssuer:   "http://127.0.0.1:54321/auth/v1", jwksURL: "http://localhost:54321/keys",
		jwtAllowHS256: "true", jwtSecret: secret, geminiKey: "AIza1", googleKey: "AIza1",
		poolKeys:      "demo=AIza2,trial_1=AIza=3",
		geminiBaseURL: "http://[::1]:9000", localModelDir: "/models", libraryDir: "/library",
		allowedOrigins: "https://app.example, http://localhost:5173,https://x.example:8443",
		logLevel:       "warn", poolMode: "transaction", maxConnections: "100",
	})
	want := Config{
		DatabaseURL: "postgres://porchlight_runtime.abc:p%40ss@pool.example:6543/postgres?sslmode=verify-full",
		PoolMode:    Transaction, MaxConnections: 100,
		JWTIssuer: "http://127.0.0.1:54321/auth/v1", JWKSURL: "http://localhost:54321/keys", JWTSecret: secret,
		GeminiKey: "AIza1", PoolKeys: map[string]Secret{"demo": "AIza2", "trial_1": "AIza=3"},
		GeminiBaseURL: "http://[::1]:9000", LocalModelDir: "/models", LibraryDir: "/library",
		AllowedOrigins: []string{"https://app.example", "http://localhost:5173", "https://x.example:8443"},
		LogLevel:       slog.LevelWarn,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestLoad_ReportsEverythingAtOnce(t *testing.T) {
	got := faulty(t, map[string]string{
		poolMode: canary, maxConnections: "0", jwtSecret: canary, geminiKey: canary, googleKey: canary + "x",
		geminiBaseURL: "ftp://" + canary, allowedOrigins: "*", logLevel: canary,
	})
	want := []string{
		poolMode, databaseURL, maxConnections, jwtSecret, supabaseURL, geminiKey, geminiBaseURL, allowedOrigins, logLevel,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestLoad_RefusesPoolKeysThatCannotBeMeant(t *testing.T) {
	for _, value := range []string{
		canary, "demo", "demo=", "=" + canary, "Demo=" + canary, "demo=" + canary + ",demo=x", "shared=" + canary,
		"demo=" + canary + ",", "demo =" + canary, strings.Repeat("d", 31) + "=" + canary,
	} {
		if got := faulty(t, map[string]string{poolKeys: value}); !slices.Equal(got, []string{databaseURL, supabaseURL, poolKeys}) {
			t.Errorf("%s: %v", value, got)
		}
	}
}

func TestLoad_SaysHowAValueWasSpoilt(t *testing.T) {
	for _, v := range Describe() {
		for spoilt, reason := range map[string]string{
			` ` + canary:       "spaces",
			canary + "\t":      "spaces",
			`"` + canary + `"`: "quotes",
			`'` + canary + `'`: "quotes",
			canary + "\n":      "line break",
			canary + "\r\nx":   "line break",
		} {
			env := whole()
			env[v.Name] = spoilt
			_, err := load(env)
			var faults Invalid
			errors.As(err, &faults)
			isNamed := slices.ContainsFunc(faults, func(f Fault) bool {
				return f.Name == v.Name && strings.Contains(f.Reason, reason)
			})
			if !isNamed || strings.Contains(err.Error(), canary) {
				t.Errorf("%s=%q: %v", v.Name, spoilt, err)
			}
		}
	}
}

// E15
func TestLoad_TakesOriginsAsBrowsersSendThem(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://app.example":         true,
		"https://app.example:8443":    true,
		"http://localhost:5173":       true,
		"http://[::1]:5173":           true,
		"*":                           false,
		"null":                        false,
		"https://*.example":           false,
		"https://app.example/":        false,
		"https://app.example/a":       false,
		"https://app.example?a":       false,
		"https://app.example#a":       false,
		"https://u@app.example":       false,
		"https://App.example":         false,
		"https://app.example:443":     false,
		"https://app.example:":        false,
		"http://localhost:80":         false,
		"http://app.example":          false,
		"app.example":                 false,
		"ftp://app.example":           false,
		"https://":                    false,
		"https://a.example,":          false,
		"https://a.example b.example": false,
	} {
		env := whole()
		env[allowedOrigins] = origin
		if got := faulty(t, env); (len(got) == 0) != ok {
			t.Errorf("%q: %v", origin, got)
		}
	}
}

func TestLoad_PoolModeFollowsThePort(t *testing.T) {
	tests := []struct {
		port, mode string
		want       PoolMode
	}{
		{"5432", "", Direct},
		{"5432", "transaction", Transaction},
		{"5432", "direct", Direct},
		{"6543", "", Transaction},
		{"6543", "transaction", Transaction},
	}
	for _, tt := range tests {
		env := whole()
		env[databaseURL], env[poolMode] = "postgres://u@h:"+tt.port+"/db", tt.mode
		if c, err := load(env); err != nil || c.PoolMode != tt.want {
			t.Errorf("%+v: %q, %v", tt, c.PoolMode, err)
		}
	}
}

func TestLoad_OtherNameOfTheKeyWorksAlone(t *testing.T) {
	env := whole()
	env[googleKey] = "AIza1"
	if c, err := load(env); err != nil || c.GeminiKey.Reveal() != "AIza1" {
		t.Errorf("%q, %v", c.GeminiKey.Reveal(), err)
	}
}

// An operator's command refuses the same values, and asks for no variable of a server.
func TestLoadModels_ChecksTheModelsAlone(t *testing.T) {
	load := func(env map[string]string) (Config, error) {
		return LoadModels(func(name string) string { return env[name] })
	}
	c, err := load(map[string]string{googleKey: "AIza1", geminiBaseURL: "https://models.example", databaseURL: canary})
	if want := (Config{GeminiKey: "AIza1", GeminiBaseURL: "https://models.example"}); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = load(map[string]string{geminiKey: "'" + canary + "'", geminiBaseURL: "http://" + canary + ".example", localModelDir: canary + "\n"})
	for _, name := range []string{geminiKey, geminiBaseURL, localModelDir} {
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalid_NamesEachFaultOnALineOfItsOwn(t *testing.T) {
	got := Invalid{{"A", "is missing"}, {"B", "is odd"}}.Error()
	if want := "the configuration can't be used:\n  A is missing\n  B is odd"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestDescribe_ListsExactlyWhatLoadReads(t *testing.T) {
	read := map[string]bool{}
	_, _ = Load(func(name string) string { read[name] = true; return "" })
	listed := map[string]bool{}
	for _, v := range Describe() {
		if listed[v.Name] || v.Meaning == "" {
			t.Errorf("%s is listed twice or without a meaning", v.Name)
		}
		listed[v.Name] = true
	}
	if !maps.Equal(read, listed) {
		t.Errorf("read %v\nlisted %v", read, listed)
	}
}

// E16
func TestConfig_PrintsNoSecret(t *testing.T) {
	c := Config{DatabaseURL: canary, JWTSecret: canary, GeminiKey: canary, PoolKeys: map[string]Secret{"demo": canary}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		if got := fmt.Sprintf(verb, c); strings.Contains(got, canary) || strings.Contains(got, fmt.Sprintf("%x", canary)) {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
