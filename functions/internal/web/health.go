package web

import "net/http"

// NewHealth serves GET /healthz: the process answers. It says nothing else about it.
func NewHealth(o Options) http.Handler {
	return mount(o, map[string]Handler{
		"GET /healthz": func(w http.ResponseWriter, _ *http.Request) error {
			return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
		},
	})
}
