package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestNewHealth_SaysOkAndNothingElse(t *testing.T) {
	o, _ := options()
	w := serve(NewHealth(o), httptest.NewRequest(http.MethodGet, "/healthz", nil))
	golden(t, "health.json", w.Body.Bytes())
}
