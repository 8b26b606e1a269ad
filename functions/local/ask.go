package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// login says which server to speak to and as whom.
type login struct {
	URL      string `help:"Address of the server." default:"http://127.0.0.1:8787" env:"PORCHLIGHT_URL"`
	Email    string `help:"Who asks." required:"" env:"PORCHLIGHT_EMAIL"`
	Password string `help:"The password; better given by the environment." required:"" env:"PORCHLIGHT_PASSWORD"`
}

func (l login) open(ctx context.Context) (*client, error) {
	c := newClient(l.URL)
	return c, c.signIn(ctx, l.Email, l.Password)
}

type askCmd struct {
	login    `embed:""`
	JSON     bool   `help:"Print one JSON object."`
	Question string `arg:"" help:"The question, in quotes."`
}

// Run asks and prints. It ends with 3 when the documents do not answer or a price is held back.
func (a askCmd) Run(ctx context.Context) error {
	c, err := a.open(ctx)
	if err != nil {
		return err
	}
	r, err := a.print(ctx, c)
	if err == nil && r.Outcome != "answered" {
		return &exit{code: exitNothing}
	}
	return err
}

func (a askCmd) print(ctx context.Context, c *client) (reply, error) {
	var r reply
	if a.JSON {
		var body json.RawMessage
		question := map[string]string{"question": a.Question}
		if err := c.call(ctx, http.MethodPost, "/v1/ask", question, &body); err != nil {
			return r, err
		}
		fmt.Println(string(body))
		return r, json.Unmarshal(body, &r)
	}
	r, err := c.ask(ctx, a.Question)
	if err == nil {
		printSentences(0, r)
		fmt.Printf("%s\n%s\n", block(0, r.mark(), outcomes[r.Outcome]), block(0, dim, footer(r)))
	}
	return r, err
}
