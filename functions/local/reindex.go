package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

type reindexCmd struct {
	Start reindexStartCmd `cmd:"" help:"Reindex from the server's library and watch."`
	Show  reindexShowCmd  `cmd:"" help:"Show a run."`
}

type reindexStartCmd struct {
	login     `embed:""`
	selection `embed:""`
	removal   `embed:""`
	Tenant    string `help:"Slug of the brand, for platform admins; otherwise your own."`
	JSON      bool   `help:"Print the server's events as they are, a JSON object a line."`
}

// Run starts a run and prints its progress. It ends with 3 when a document could not be indexed.
func (c reindexStartCmd) Run(ctx context.Context) error {
	server, err := c.open(ctx)
	if err != nil {
		return err
	}
	body := map[string]any{"tenant": c.Tenant, "all": c.All, "sources": c.Source}
	if c.Tenant == "" {
		delete(body, "tenant")
	}
	if c.All {
		delete(body, "sources")
	}
	if c.AllowRemoval != nil {
		body["allow_removal"] = *c.AllowRemoval
	}
	failed := 0
	err = server.stream(ctx, "/v1/reindex", body, func(event string, line []byte) error {
		var e struct {
			Key, Status, Reason          string
			RunID                        string `json:"run_id"`
			Added, Kept, Removed, Failed int
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return errNoEvents
		}
		failed = e.Failed
		switch {
		case c.JSON:
			fmt.Println(string(line))
		case event == "run":
			fmt.Println("run", e.RunID)
		case event == "source":
			fmt.Printf("  %-10s %s %s\n", e.Status, e.Key, e.Reason)
		case event == "done":
			fmt.Printf("%s: passages: %d added, %d kept, %d removed; %d documents failed\n",
				e.Status, e.Added, e.Kept, e.Removed, e.Failed)
		}
		return nil
	})
	if err == nil && failed > 0 {
		return &exit{code: exitNothing}
	}
	return err
}

type reindexShowCmd struct {
	login  `embed:""`
	Tenant string `help:"Slug of the brand, for platform admins; otherwise your own."`
	JSON   bool   `help:"As without: it is always JSON."`
	RunID  string `arg:"" name:"run" help:"Id of the run."`
}

// Run prints the run as JSON.
func (c reindexShowCmd) Run(ctx context.Context) error {
	server, err := c.open(ctx)
	if err != nil {
		return err
	}
	path := "/v1/reindex/" + url.PathEscape(c.RunID)
	if c.Tenant != "" {
		path += "?tenant=" + url.QueryEscape(c.Tenant)
	}
	var run json.RawMessage
	if err := server.call(ctx, http.MethodGet, path, nil, &run); err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(run)
}
