package identity

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	// leeway is the difference between two clocks that is forgiven.
	leeway = 30 * time.Second
	// maxSeconds is the end of the year 9999, the last that RFC 3339 can write.
	maxSeconds = 253402300799
)

// registered are the claims that Supabase Auth writes and somebody reads. A second spelling of one
// would be read by a parser that ignores case and not by one that does not.
var registered = []string{
	"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role", "email", "phone", "session_id",
	"is_anonymous", "aal", "amr", "app_metadata", "user_metadata",
}

// claimSet is a decoded payload. Names are exact.
type claimSet map[string]any

// read checks the claims of a payload whose signature is right.
func (v *Verifier) read(payload []byte) (Principal, error) {
	object, err := decodeObject(payload)
	if err != nil {
		return Principal{}, refuse("payload is not one plain JSON object")
	}
	claims := claimSet(object)
	if reason := v.fault(claims); reason != "" {
		return Principal{}, refuse(reason)
	}
	p := Principal{UserID: claims.text("sub"), Role: role, TenantClaim: claims.metadata().text("tenant_id")}
	delete(claims, "user_metadata")
	if p.Claims, err = json.Marshal(claims); err != nil {
		return Principal{}, fmt.Errorf("write claims: %w", err)
	}
	return p, nil
}

// fault returns the first reason against the claims, or nothing.
func (v *Verifier) fault(claims claimSet) string {
	now := v.now()
	expires, hasExpires := claims.moment("exp")
	issued, hasIssued := claims.moment("iat")
	begins, hasBegins := claims.moment("nbf")
	_, knowsBegin := claims["nbf"]
	anonymous, knowsAnonymous := claims["is_anonymous"]
	tenant := claims.metadata()["tenant_id"]
	switch {
	case claims.hasTwin():
		return "a claim is spelled in another case"
	case claims.text("iss") != v.issuer:
		return "iss is another"
	case !claims.isFor(v.audience):
		return "aud is another"
	case claims.text("role") != role:
		return "role is another"
	case !isUserID(claims.text("sub")):
		return "sub is not the uuid of a user"
	case knowsAnonymous && anonymous != false:
		return "user is anonymous"
	case tenant != nil && tenant != claims.metadata().text("tenant_id"):
		return "tenant_id is no text" // Postgres would read a number or a list as one
	case !hasExpires || !now.Before(expires.Add(leeway)):
		return "token has expired or never would"
	case !hasIssued || issued.After(now.Add(leeway)):
		return "token was issued in the future or at no time"
	case knowsBegin && (!hasBegins || begins.After(now.Add(leeway))):
		return "token is not valid yet"
	}
	return ""
}

// metadata is app_metadata, which users can't write; empty when it is no object.
func (c claimSet) metadata() claimSet {
	object, _ := c["app_metadata"].(map[string]any)
	return object
}

func (c claimSet) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// moment reads a NumericDate (RFC 7519, section 2). Zero, negative and absurdly late dates are
// none.
func (c claimSet) moment(name string) (time.Time, bool) {
	number, ok := c[name].(json.Number)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := number.Float64()
	if err != nil || seconds <= 0 || seconds > maxSeconds {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(seconds * 1000)), true
}

// isFor accepts the audience alone, as text or as a list of one: Supabase writes both.
func (c claimSet) isFor(audience string) bool {
	if list, ok := c["aud"].([]any); ok {
		return len(list) == 1 && list[0] == audience
	}
	return c.text("aud") == audience
}

func (c claimSet) hasTwin() bool {
	for name := range c {
		for _, known := range registered {
			if name != known && strings.EqualFold(name, known) {
				return true
			}
		}
	}
	return false
}

// isUserID wants the one spelling that Supabase writes: 36 characters, lower case, not nil.
func isUserID(sub string) bool {
	id, err := uuid.Parse(sub)
	return err == nil && id != uuid.Nil && id.String() == sub
}
