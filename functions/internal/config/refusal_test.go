package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// refusal is what an environment holds over that of whole, and the variables that Load complains of:
// none when it accepts.
type refusal struct {
	name string
	set  map[string]string
	want []string
}

func checkRefusals(t *testing.T, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := whole()
			maps.Copy(env, tt.set)
			if got := faulty(t, env); !slices.Equal(got, tt.want) {
				_, err := load(env)
				t.Errorf("got %v, want %v\n%v", got, tt.want, err)
			}
		})
	}
}

func TestLoad_RefusesADatabaseThatIsNotTheRuntimeLoginOfOneHost(t *testing.T) {
	pg := func(s string) map[string]string { return map[string]string{databaseURL: s} }
	lambda := func(s string) map[string]string {
		return map[string]string{databaseURL: s, lambdaFunction: "ask"}
	}
	checkRefusals(t, []refusal{
		{"database of a socket", pg("postgres://u@:5433/db?host=/run/pg"), nil},
		{"database on this machine without TLS", pg("postgresql://u@127.0.0.2:5433/db?sslmode=disable"), nil},
		{"database missing", pg(""), []string{databaseURL}},
		{"database is no address", pg(canary), []string{databaseURL}},
		{"database is keywords", pg("host=x password=" + canary), []string{databaseURL}},
		{"database of another scheme", pg("mysql://u:" + canary + "@h/db"), []string{databaseURL}},
		{"database with a bad escape", pg("postgres://u:%zz" + canary + "@h/db"), []string{databaseURL}},
		{"database with a slash in its password", pg("postgres://u:1/" + canary + "@h:5432/db"), []string{databaseURL}},
		{"database with a question mark in its password", pg("postgres://u:p?" + canary + "=1@h/db"), []string{databaseURL}},
		{"database with a hash in its password", pg("postgres://u:p#" + canary + "@h/db"), []string{databaseURL}},
		{"database without a host", pg("postgres://u:" + canary + "@/db"), []string{databaseURL}},
		{"database without a login", pg("postgres://h/db"), []string{databaseURL}},
		{"several databases", pg("postgres://u:" + canary + "@a:1,b:2/db"), []string{databaseURL}},
		{"database with another role as a parameter", pg("postgres://u@h/db?user=" + canary), []string{databaseURL}},
		{"database with a host that hides another", pg("postgres://u@localhost/db?host=" + canary), []string{databaseURL}},
		{"database with a remote host as a parameter", pg("postgres://u@/db?sslmode=disable&host=" + canary), []string{databaseURL}},
		{"database with two modes", pg("postgres://u@h/db?sslmode=require&sslmode=disable"), []string{databaseURL}},
		{"database with a statement cache", pg("postgres://u@h:6543/db?default_query_exec_mode=cache_statement"), []string{databaseURL}}, // E6
		{"database elsewhere without TLS", pg("postgres://u:" + canary + "@db.example/db?sslmode=disable"), []string{databaseURL}},       // E7
		{"database elsewhere with TLS if it likes", pg("postgres://u@db.example/db?sslmode=prefer"), []string{databaseURL}},
		{"database elsewhere by a name that begins like here", pg("postgres://u@localhost.example/db?sslmode=disable"), []string{databaseURL}},
		{"owner", pg("postgres://postgres:" + canary + "@h/db"), []string{databaseURL}}, // E5
		{"owner through the pooler", pg("postgres://Postgres.abc:" + canary + "@h:6543/db"), []string{databaseURL}},
		{"superuser", pg("postgres://supabase_admin@h/db"), []string{databaseURL}},
		{"service role", pg("postgres://service_role@h/db"), []string{databaseURL}},
		{"direct host off Lambda", pg("postgres://u@db.abcdefghij.supabase.co/postgres"), nil},
		{"O109 direct host on Lambda", lambda("postgres://u:" + canary + "@db.abcdefghij.supabase.co:5432/postgres"), []string{databaseURL}},
		{"O109 direct host in capitals on Lambda", lambda("postgres://u@DB.abcdefghij.SUPABASE.co./postgres"), []string{databaseURL}},
		{"O109 its own pooler on Lambda", lambda("postgres://u@db.abcdefghij.supabase.co:6543/postgres"), []string{databaseURL}},
		{"O109 pooler on Lambda", lambda("postgres://u.abcdefghij@aws-1-eu-west-1.pooler.supabase.com:6543/postgres"), nil},
		{"O109 somebody else's host on Lambda", lambda("postgres://u@db.abc.supabase.co.example/postgres"), nil},
		{"login that may become the service role", pg("postgres://authenticator@h/db"), []string{databaseURL}},
		{"pooler's port taken for a direct one", map[string]string{databaseURL: "postgres://u@h:6543/db", poolMode: "direct"}, []string{poolMode}},
	})
}

func TestLoad_RefusesTokensFromNobodyOrFromTwo(t *testing.T) {
	checkRefusals(t, []refusal{
		{"project with a slash at its end", map[string]string{supabaseURL: "https://abc.example/"}, nil},
		{"project with a path", map[string]string{supabaseURL: "https://abc.example/auth/v1"}, []string{supabaseURL}},
		{"project in capitals", map[string]string{supabaseURL: "https://ABC.example"}, []string{supabaseURL}},
		{"project with the default port", map[string]string{supabaseURL: "https://abc.example:443"}, []string{supabaseURL}},
		{"project over http", map[string]string{supabaseURL: "http://" + canary + ".example"}, []string{supabaseURL}},
		{"project with a login", map[string]string{supabaseURL: "https://u:" + canary + "@abc.example"}, []string{supabaseURL}},
		{"project with a query", map[string]string{supabaseURL: "https://abc.example?key=" + canary}, []string{supabaseURL}},
		{"project and issuer", map[string]string{jwtIssuer: "https://i.example"}, []string{jwtIssuer}},
		{"project, issuer and keys", map[string]string{jwtIssuer: "https://i.example", jwksURL: "https://i.example/k"}, []string{jwtIssuer, jwksURL}},
		{"no issuer at all", map[string]string{supabaseURL: ""}, []string{supabaseURL}},
		{"issuer and keys", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example", jwksURL: "https://i.example/k"}, nil},
		{"issuer without keys", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example"}, []string{jwksURL}},
		{"keys without issuer", map[string]string{supabaseURL: "", jwksURL: "https://i.example/k"}, []string{jwtIssuer}},
		{"keys over http", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example", jwksURL: "http://" + canary + ".example/k"}, []string{jwksURL}}, // E3
	})
}

func TestLoad_RefusesASharedSecretThatIsWeakOrNotMeant(t *testing.T) {
	const secret = canary + "kJ3vQ9xT2mZ7wB5nR8cL4pY6sD1fG0hA"
	checkRefusals(t, []refusal{
		{"secret allowed", map[string]string{jwtAllowHS256: "true", jwtSecret: secret}, nil},
		{"secret allowed, issuer without keys", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example", jwtAllowHS256: "true", jwtSecret: secret}, nil},
		{"secret not allowed", map[string]string{jwtSecret: secret}, []string{jwtSecret}}, // E3
		{"secret forbidden", map[string]string{jwtAllowHS256: "false", jwtSecret: secret}, []string{jwtSecret}},
		{"secret allowed by another word", map[string]string{jwtAllowHS256: canary}, []string{jwtAllowHS256}},
		{"secret allowed but missing", map[string]string{jwtAllowHS256: "true"}, []string{jwtSecret}}, // E1
		{"secret of 31 bytes", map[string]string{jwtAllowHS256: "true", jwtSecret: secret[:31]}, []string{jwtSecret}},
		{"secret of 1 byte", map[string]string{jwtAllowHS256: "true", jwtSecret: "x"}, []string{jwtSecret}}, // E2
		{"secret of one letter", map[string]string{jwtAllowHS256: "true", jwtSecret: strings.Repeat("x", 40)}, []string{jwtSecret}},
		{"secret of one word", map[string]string{jwtAllowHS256: "true", jwtSecret: strings.Repeat("secret", 8)}, []string{jwtSecret}},
		{"sample secret", map[string]string{jwtAllowHS256: "true", jwtSecret: "Your-Super-Secret-" + secret}, []string{jwtSecret}},
		{"new API key for a secret", map[string]string{jwtAllowHS256: "true", jwtSecret: "sb_secret_" + secret}, []string{jwtSecret}},
		{"API key for a secret", map[string]string{jwtAllowHS256: "true", jwtSecret: "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0." + canary}, []string{jwtSecret}}, // E4
	})
}

func TestLoad_RefusesWhatIsOutOfRangeOrContradicts(t *testing.T) {
	checkRefusals(t, []refusal{
		{"nothing", nil, nil},
		{"no connections", map[string]string{maxConnections: "0"}, []string{maxConnections}}, // E8
		{"fewer than none", map[string]string{maxConnections: "-1"}, []string{maxConnections}},
		{"1e3 connections", map[string]string{maxConnections: "1e3"}, []string{maxConnections}},
		{"2^63 connections", map[string]string{maxConnections: "9223372036854775808"}, []string{maxConnections}},
		{"one key twice", map[string]string{geminiKey: canary, googleKey: canary}, nil},
		{"two keys", map[string]string{geminiKey: canary, googleKey: canary + "2"}, []string{geminiKey}},
		{"Gemini over http", map[string]string{geminiBaseURL: "http://" + canary + ".example"}, []string{geminiBaseURL}},
		{"level in capitals", map[string]string{logLevel: "INFO"}, []string{logLevel}},
	})
}

// O109: the hint says where to go instead.
func TestLoad_HintsAtThePoolerOnLambda(t *testing.T) {
	env := whole()
	env[databaseURL], env[lambdaFunction] = "postgres://u@db.abcdefghij.supabase.co/postgres", "ask"
	if _, err := load(env); err == nil || !strings.Contains(err.Error(), "transaction pooler, port 6543") {
		t.Errorf("%v", err)
	}
}
