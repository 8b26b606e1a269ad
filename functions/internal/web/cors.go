package web

import (
	"net/http"
	"slices"
)

// cors lets the pages of the listed origins read the response, and answers their preflight, which it
// reports as true. An origin matches only as a whole: scheme, host and port. Credentials are never
// allowed: the token travels in a header, no cookie is ever read.
func (o Options) cors(w http.ResponseWriter, r *http.Request) bool {
	if len(o.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	given := r.Header.Values("Origin")
	if len(given) != 1 || !slices.Contains(o.Origins, given[0]) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", given[0])
	h.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
