package web

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// maxName bounds a tenant slug and a source key, in bytes.
const maxName = 500

// Reindexer brings the sources of a tenant up to date. Reindex tells progress of the run, of each
// source and of the end; a source that fails is an event, not an error. An error of progress means
// that nobody reads any more. Run returns not_found for a run that the caller may not see.
type Reindexer interface {
	Reindex(ctx context.Context, p identity.Principal, req ReindexRequest, progress func(ReindexEvent) error) error
	Run(ctx context.Context, p identity.Principal, runID string) (RunView, error)
}

// ReindexRequest says what to index: either All or Sources, never both, never neither.
type ReindexRequest struct {
	Tenant  string // slug; empty: the caller's own
	All     bool
	Sources []string // keys

	AllowedRemoval *int // passages that may be removed; nil: the share that the brand allows
}

// ReindexEvent is one line of a run's progress. Type says which fields are set.
type ReindexEvent struct {
	Type   string `json:"type"` // "run", "source" or "done"
	RunID  string `json:"run_id,omitempty"`
	Key    string `json:"key,omitempty"`
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"` // ours, never a document's text
	*Counts
}

// Counts is what a run did, in chunks; Failed counts sources.
type Counts struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Kept    int `json:"kept"`
	Removed int `json:"removed"`
	Failed  int `json:"failed"`
}

// RunBegan is the first event: the id to ask for later.
func RunBegan(runID string) ReindexEvent { return ReindexEvent{Type: "run", RunID: runID} }

// SourceEnded tells what became of one source; reason is empty unless it failed or was left out.
func SourceEnded(key, status, reason string) ReindexEvent {
	return ReindexEvent{Type: "source", Key: key, Status: status, Reason: reason}
}

// RunEnded is the last event.
func RunEnded(status string, c Counts) ReindexEvent {
	return ReindexEvent{Type: "done", Status: status, Counts: &c}
}

// RunView is a run as it can be looked at later.
type RunView struct {
	RunID      string       `json:"run_id"`
	Tenant     string       `json:"tenant"` // slug
	Status     string       `json:"status"`
	Reason     string       `json:"reason,omitempty"`          // of a run that ended before its time
	Refused    int          `json:"refused_removal,omitempty"` // passages that it would have removed, at least: more than it may
	StartedAt  time.Time    `json:"started_at"`
	FinishedAt *time.Time   `json:"finished_at"` // nil: still running
	Counts                  // flat in JSON
	Sources    []SourceView `json:"sources"`
}

// SourceView is what became of one source in a run.
type SourceView struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// NewReindex serves POST /v1/reindex and GET /v1/reindex/{run}, the latter with ?tenant= for platform admins.
func NewReindex(o Options, v Verifier, x Reindexer) http.Handler {
	return mount(o, map[string]Handler{
		"POST /v1/reindex":      Authenticate(v, reindex(x)),
		"GET /v1/reindex/{run}": Authenticate(v, showRun(x)),
	})
}

func reindex(x Reindexer) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		req, err := readReindex(w, r)
		if err != nil {
			return err
		}
		stream := NewStream(w)
		return x.Reindex(r.Context(), p, req, func(e ReindexEvent) error { return stream.Send(e) })
	}
}

func readReindex(w http.ResponseWriter, r *http.Request) (ReindexRequest, error) {
	var req ReindexRequest
	err := Decode(w, r, maxBody, Fields{
		"tenant": &req.Tenant, "all": &req.All, "sources": &req.Sources, "allow_removal": &req.AllowedRemoval,
	})
	switch {
	case err != nil:
		return req, err
	case req.All && len(req.Sources) > 0:
		return req, badRequest("The fields all and sources exclude each other.")
	case !req.All && len(req.Sources) == 0:
		return req, badRequest(`Say "all": true, or name the sources.`)
	case req.AllowedRemoval != nil && *req.AllowedRemoval < 0:
		return req, badRequest("The field allow_removal is a number of passages.")
	case req.Tenant != "" && !isName(req.Tenant):
		return req, badRequest("The field tenant is not a name.")
	}
	for _, key := range req.Sources {
		if !isName(key) {
			return req, badRequest("The field sources holds something that is not a key.")
		}
	}
	return req, nil
}

// isName keeps out what can't be a slug or a key and what Postgres refuses in any text: NUL, and bytes
// that are not UTF-8.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// showRun takes the brand that a platform admin acts for from the query; the database checks it.
func showRun(x Reindexer) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		id, ok := parseUUID(r.PathValue("run"))
		if !ok {
			return problem.New(problem.NotFound, nil)
		}
		p.Tenant = r.URL.Query().Get("tenant")
		if p.Tenant != "" && !isName(p.Tenant) {
			return badRequest("The parameter tenant is not a name.")
		}
		run, err := x.Run(r.Context(), p, id)
		if err != nil {
			return err
		}
		if run.Sources == nil {
			run.Sources = []SourceView{}
		}
		return writeJSON(w, http.StatusOK, run)
	}
}
