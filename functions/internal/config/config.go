// Package config reads the environment once, at start, and checks it as a whole. It decides which
// settings belong together and which can't be meant, and says all that is wrong at the same time, by
// name, never by value: a secret put into the wrong variable must not end in a log. It opens nothing;
// what only a connection can tell (a role's rights, the keys' kind) is checked where that is made.
package config

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// PoolMode says what stands between a process and Postgres.
type PoolMode string

// The pool modes.
const (
	Direct      PoolMode = "direct"      // Postgres itself, or a pooler that keeps sessions
	Transaction PoolMode = "transaction" // a pooler that hands out connections per transaction
)

// Config is the checked environment. It can be printed: secrets show as "***".
type Config struct {
	DatabaseURL    Secret
	PoolMode       PoolMode
	MaxConnections int // of one process

	JWTIssuer string
	JWKSURL   string // empty only when HS256 is on
	JWTSecret Secret // empty: HS256 is off

	GeminiKey     Secret            // empty: no generation, no Gemini index
	PoolKeys      map[string]Secret // keys of brands with a quota of their own, by quota pool
	GeminiBaseURL string            // empty: the provider's own
	LocalModelDir string            // empty: no local index
	LibraryDir    string            // empty: nothing to index from

	AllowedOrigins []string // as browsers send them; empty: no CORS
	LogLevel       slog.Level
}

// SharedPool is the quota pool of brands that have none of their own; its key is GeminiKey.
const SharedPool = "shared"

// Keys are all keys of the Gemini API, by quota pool.
func (c Config) Keys() map[string]Secret {
	keys := map[string]Secret{}
	maps.Copy(keys, c.PoolKeys)
	if c.GeminiKey != "" {
		keys[SharedPool] = c.GeminiKey
	}
	return keys
}

// poolName is what app.tenants.quota_pool may be.
var poolName = regexp.MustCompile(`^[a-z0-9_]{1,30}$`)

// Fault is what is wrong with one variable.
type Fault struct {
	Name   string
	Reason string // and what to do about it; holds nothing of the value
}

// Invalid is the error of Load: every fault of the environment.
type Invalid []Fault

// Error lists the faults, one a line.
func (i Invalid) Error() string {
	var b strings.Builder
	b.WriteString("the configuration can't be used:")
	for _, f := range i {
		fmt.Fprintf(&b, "\n  %s %s", f.Name, f.Reason)
	}
	return b.String()
}

const (
	defaultConnections = 4
	maxMaxConnections  = 100
)

// Load reads the variables that Describe lists, an empty one as if it were not set. Its error is an
// Invalid.
func Load(getenv func(string) string) (Config, error) {
	e := environment{getenv: getenv}
	var c Config
	c.DatabaseURL, c.PoolMode = e.database()
	c.MaxConnections = e.number(maxConnections, defaultConnections, maxMaxConnections)
	c.JWTSecret = e.sharedSecret()
	c.JWTIssuer, c.JWKSURL = e.issuer()
	e.models(&c)
	c.LibraryDir = e.text(libraryDir)
	c.AllowedOrigins = e.origins()
	c.LogLevel = choice(&e, logLevel, slog.LevelInfo, map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	})
	return e.end(c)
}

// LoadModels reads what the models need and nothing else, for a command that comes to the database
// another way. Its error is an Invalid.
func LoadModels(getenv func(string) string) (Config, error) {
	e := environment{getenv: getenv}
	var c Config
	e.models(&c)
	return e.end(c)
}

func (e *environment) models(c *Config) {
	c.GeminiKey = e.gemini()
	c.PoolKeys = e.pools()
	c.GeminiBaseURL = e.address(geminiBaseURL)
	c.LocalModelDir = e.text(localModelDir)
}

func (e *environment) end(c Config) (Config, error) {
	if len(e.faults) > 0 {
		return Config{}, e.faults
	}
	return c, nil
}

// environment reads variables and collects their faults.
type environment struct {
	getenv func(string) string
	faults Invalid
}

func (e *environment) fault(name, reason string) {
	e.faults = append(e.faults, Fault{name, reason})
}

// text is the variable, or nothing when it is not set or was spoilt on its way into the environment.
func (e *environment) text(name string) string {
	v := e.getenv(name)
	switch {
	case v == "":
	case strings.ContainsAny(v, "\r\n"):
		e.fault(name, "holds a line break: set it without")
	case strings.TrimSpace(v) != v:
		e.fault(name, "has spaces around it: set it without")
	case v[0] == v[len(v)-1] && strings.Contains("\"'`", v[:1]):
		e.fault(name, "is in quotes: set it without")
	default:
		return v
	}
	return ""
}

// number is a whole number from 1 to limit.
func (e *environment) number(name string, otherwise, limit int) int {
	v := e.text(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > limit {
		e.fault(name, fmt.Sprintf("must be a whole number from 1 to %d", limit))
	}
	return n
}

// choice is what one of a few words means.
func choice[T any](e *environment, name string, otherwise T, words map[string]T) T {
	v := e.text(name)
	if v == "" {
		return otherwise
	}
	chosen, ok := words[v]
	if !ok {
		e.fault(name, "must be one of "+strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
	return chosen
}

// gemini is the key under either of the names that the provider's own library reads.
func (e *environment) gemini() Secret {
	key, other := e.text(geminiKey), e.text(googleKey)
	switch {
	case key == "":
		return Secret(other)
	case other != "" && other != key:
		e.fault(geminiKey, "and "+googleKey+" are both set and differ: set one of them")
	}
	return Secret(key)
}

// pools are the keys of quota pools, "pool=key" each.
func (e *environment) pools() map[string]Secret {
	text := e.text(poolKeys)
	if text == "" {
		return nil
	}
	keys := map[string]Secret{}
	for entry := range strings.SplitSeq(text, ",") {
		pool, key, _ := strings.Cut(entry, "=")
		_, isTwice := keys[pool]
		switch {
		case key == "" || !poolName.MatchString(pool):
			e.fault(poolKeys, "must be pool=key, separated by commas; a pool is up to 30 of a to z, 0 to 9 and _")
		case pool == SharedPool:
			e.fault(poolKeys, "names the pool "+SharedPool+": its key is "+geminiKey)
		case isTwice:
			e.fault(poolKeys, "names a pool twice")
		}
		keys[pool] = Secret(key)
	}
	return keys
}
