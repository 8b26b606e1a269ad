package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
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
	var tell func(string)
	if !a.JSON {
		tell = func(s string) { fmt.Println(s) }
	}
	r, err := c.ask(ctx, a.Question, tell)
	if err != nil {
		return err
	}
	if a.JSON {
		err = json.NewEncoder(os.Stdout).Encode(r)
	} else {
		fmt.Println(dim.Render(footer(r)))
	}
	if err == nil && r.Outcome != "answered" {
		return &exit{code: exitNothing}
	}
	return err
}
