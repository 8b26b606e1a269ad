package config

import (
	"net/url"
	"slices"
	"strings"
)

// minSecret is the least length of an HS256 secret in bytes: that of the hash (RFC 7518, section 3.2).
const minSecret = 32

// minSymbols is how many different bytes a secret must have at least; a random one has many more.
const minSymbols = 8

// samples are pieces of the secrets that guides and example files carry.
var samples = []string{"super-secret", "supersecret", "your-secret", "changeme", "change-me", "jwt-token-with-at-least", "0123456789abcdef0123456789abcdef"}

// issuer is the issuer of access tokens and the address of its keys, which may be missing when a
// shared secret is on.
func (e *environment) issuer() (issuer, keys string) {
	project := strings.TrimSuffix(e.address(supabaseURL), "/")
	issuer, keys = e.address(jwtIssuer), e.address(jwksURL)
	isSet := func(name string) bool { return e.getenv(name) != "" }
	switch {
	case isSet(supabaseURL):
		for _, name := range []string{jwtIssuer, jwksURL} {
			if isSet(name) {
				e.fault(name, "and "+supabaseURL+" are both set: set one of them")
			}
		}
		if project != "" && !isOrigin(project) {
			e.fault(supabaseURL, "must be the project's address as its tokens spell it: lower case, no path, no default port")
		}
		return project + "/auth/v1", project + "/auth/v1/.well-known/jwks.json"
	case !isSet(jwtIssuer) && !isSet(jwksURL):
		e.fault(supabaseURL, "is missing: set it, or both "+jwtIssuer+" and "+jwksURL)
	case !isSet(jwtIssuer):
		e.fault(jwtIssuer, "is missing beside "+jwksURL)
	case !isSet(jwksURL) && e.getenv(jwtAllowHS256) != "true":
		e.fault(jwksURL, "is missing beside "+jwtIssuer)
	}
	return issuer, keys
}

// sharedSecret is the HS256 secret, when it is switched on. It takes two variables, so that a secret
// that is lying about does not weaken a project with signing keys.
func (e *environment) sharedSecret() Secret {
	on := choice(e, jwtAllowHS256, false, map[string]bool{"true": true, "false": false})
	isSet := e.getenv(jwtSecret) != ""
	v := e.text(jwtSecret)
	isSample := func(s string) bool { return strings.Contains(strings.ToLower(v), s) }
	symbols := map[rune]bool{}
	for _, r := range v {
		symbols[r] = true
	}
	switch {
	case on && !isSet:
		e.fault(jwtSecret, "is missing beside "+jwtAllowHS256+"=true")
	case !on && isSet:
		e.fault(jwtSecret, "is set, but "+jwtAllowHS256+" is not true: unset it, or allow it")
	case v == "":
	case strings.HasPrefix(v, "eyJ") && strings.Count(v, ".") == 2, strings.HasPrefix(v, "sb_"):
		e.fault(jwtSecret, "is a token or an API key, not the secret that signs them")
	case slices.ContainsFunc(samples, isSample):
		e.fault(jwtSecret, "is a sample from a guide: make one of your own")
	case len(v) < minSecret || len(symbols) < minSymbols:
		e.fault(jwtSecret, "is too weak: use at least 32 random bytes")
	}
	return Secret(v)
}

// address is an https:// URL without credentials, query or fragment, or an http:// one of this machine;
// nothing when it is neither.
func (e *environment) address(name string) string {
	v := e.text(name)
	if v == "" {
		return ""
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(v, "?#"):
		e.fault(name, "is not a plain https:// address") // the text of err quotes it
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		e.fault(name, "must begin with https:// unless it is on this machine")
	default:
		return v
	}
	return ""
}

// origins are the browser origins that may call us, each exactly as a browser sends it.
func (e *environment) origins() []string {
	v := e.text(allowedOrigins)
	if v == "" {
		return nil
	}
	var list []string
	for part := range strings.SplitSeq(v, ",") {
		part = strings.TrimSpace(part)
		if !isOrigin(part) {
			e.fault(allowedOrigins, "must list origins as browsers send them, such as https://app.example: lower case, no path, no slash at the end, no * and no default port")
			return nil
		}
		list = append(list, part)
	}
	return list
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || strings.Contains(s, "*") || s != strings.ToLower(s) {
		return false
	}
	switch u.Scheme {
	case "https":
		return s == "https://"+u.Host && u.Port() != "443" && !strings.HasSuffix(s, ":")
	case "http":
		return s == "http://"+u.Host && u.Port() != "80" && !strings.HasSuffix(s, ":") && isLoopback(u.Hostname())
	}
	return false
}
