package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

type demoCmd struct {
	Brands string `help:"Folder with the brands of the demo." default:"tests/corpora" type:"existingdir"`
	Log    string `help:"File for the servers' log; empty: nowhere." type:"path"`
}

// The cast of the demo. The stale price list stays unverified on purpose.
const (
	ours, theirs = "glowmere-energy", "skeinwick-fibre"
	leftStale    = "prices/wallbox-hardware.csv"
)

// scene is a question of the demo and what it shows.
type scene struct {
	shows, question, outcome string
}

var scenes = []scene{
	{"A price, with its date", "How much is Hearthfix 12 a month?", "answered"},
	{"An objection", "They like solar but the battery is too expensive for them", "answered"},
	{"The FAQ, in German", "Ich wohne zur Miete und will in der Tiefgarage einen Ladepunkt, geht das?", "answered"},
	{"And in Spanish", "¿Puedo hablar por teléfono con alguien en español?", "answered"},
	{"A price that nobody has verified in time", "What does a Plugfinch 11 cost to buy?", "held"},
	{"Outside the documents", "The dog keeps barking at me, how do I calm it down?", "no_match"},
}

// foreign is a question about a product of the other brand.
var foreign = scene{"The other brand's price", "What is the monthly fee for Threadlight 300?", "no_match"}

// demo is one showing.
type demo struct {
	steps
	world     *world
	passwords map[string]string
}

// Run shows everything on a database of its own and leaves nothing behind.
func (d demoCmd) Run(ctx context.Context) (err error) {
	log, err := os.OpenFile(cmp.Or(d.Log, os.DevNull), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	fmt.Printf("\n%s\n\n", bold.Render("  Porchlight answers from the brand's own documents, and from nothing else."))
	show := &demo{steps: steps{os.Stdout, time.Now()}, passwords: map[string]string{}}
	show.world, err = openWorld(ctx, worldOptions{
		address: "127.0.0.1:0", library: d.Brands, log: log, say: show.doing,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, show.world.close()) }()
	show.did("Postgres with pgvector, migrations, sign-in and handlers on %s", show.world.url)
	for _, slug := range []string{ours, theirs} {
		if err := show.index(ctx, filepath.Join(d.Brands, slug)); err != nil {
			return err
		}
	}
	if err := show.review(ctx); err != nil {
		return err
	}
	if err := show.ask(ctx); err != nil {
		return err
	}
	printNext()
	return nil
}

func (d *demo) index(ctx context.Context, dir string) error {
	brand, accounts, err := d.world.operator.registerBrand(ctx, dir)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		d.passwords[a.Email] = a.Password
	}
	summary, err := d.world.index(ctx, brand.Slug, dir, d.doing)
	if err != nil {
		return err
	}
	d.did("%s: %d documents indexed as %d passages", brand.Name, summary.Sources, summary.Added)
	return nil
}

// signIn signs in over HTTP, as an app with a Supabase client does.
func (d *demo) signIn(ctx context.Context, role, slug string) (*client, error) {
	c := newClient(d.world.url)
	email := role + "@" + slug + ".example"
	return c, c.signIn(ctx, email, d.passwords[email])
}

// review verifies, as the brand's admin, every price that has become stale, but for one list.
func (d *demo) review(ctx context.Context) error {
	admin, err := d.signIn(ctx, "admin", ours)
	if err != nil {
		return err
	}
	var stale struct {
		Chunks []struct {
			ChunkID   string `json:"chunk_id"`
			SourceKey string `json:"source_key"`
		} `json:"chunks"`
	}
	if err := admin.call(ctx, http.MethodGet, "/v1/review/stale?limit=200", nil, &stale); err != nil {
		return err
	}
	verified := 0
	for _, c := range stale.Chunks {
		if c.SourceKey == leftStale {
			continue
		}
		if err := admin.call(ctx, http.MethodPost, "/v1/review/chunks/"+c.ChunkID+"/verify", nil, nil); err != nil {
			return err
		}
		verified++
	}
	d.did("The admin's review list: %d stale prices, of which %d stay so, for the demo",
		len(stale.Chunks), len(stale.Chunks)-verified)
	return nil
}

func (d *demo) ask(ctx context.Context) error {
	rep, err := d.signIn(ctx, "rep", ours)
	if err != nil {
		return err
	}
	d.did("rep@%s.example signed in over HTTP and stands at a door", ours)
	for _, s := range scenes {
		if err := play(ctx, rep, s); err != nil {
			return err
		}
	}
	return d.showTheWall(ctx, rep)
}

// play asks the question of a scene and prints what comes back. An outcome that
// is not the scene's is an error: the demo does not show what is not so.
func play(ctx context.Context, c *client, s scene) error {
	fmt.Printf("\n%s\n%s\n", block(2, dim, s.shows), block(2, bold, "“"+s.question+"”"))
	r, err := c.ask(ctx, s.question)
	if err != nil {
		return err
	}
	printSentences(5, r)
	fmt.Println(block(5, r.mark(), outcomes[r.Outcome]))
	fmt.Println(block(5, dim, footer(r)))
	if r.Outcome != s.outcome {
		return fmt.Errorf("the demo expected %q to be %s, but it was %s", s.question, s.outcome, r.Outcome)
	}
	return nil
}

// showTheWall asks for the other brand's price, lets the other brand's rep ask the same, and then
// tries the other brand's passage by its id.
func (d *demo) showTheWall(ctx context.Context, rep *client) error {
	if err := play(ctx, rep, foreign); err != nil {
		return err
	}
	other, err := d.signIn(ctx, "rep", theirs)
	if err != nil {
		return err
	}
	if err := play(ctx, other, scene{"The same question, from the other brand's rep", foreign.question, "answered"}); err != nil {
		return err
	}
	return d.tryForeignID(ctx)
}

func (d *demo) tryForeignID(ctx context.Context) error {
	their, err := d.signIn(ctx, "admin", theirs)
	if err != nil {
		return err
	}
	var stale struct {
		Chunks []struct {
			ChunkID string `json:"chunk_id"`
		} `json:"chunks"`
	}
	if err := their.call(ctx, http.MethodGet, "/v1/review/stale?limit=1", nil, &stale); err != nil {
		return err
	}
	if len(stale.Chunks) == 0 {
		return errors.New("the other brand has no stale price to try")
	}
	our, err := d.signIn(ctx, "admin", ours)
	if err != nil {
		return err
	}
	for _, id := range []string{stale.Chunks[0].ChunkID, "00000000-0000-4000-8000-000000000000"} {
		err := our.call(ctx, http.MethodPost, "/v1/review/chunks/"+id+"/verify", nil, nil)
		var no *refusal
		if !errors.As(err, &no) || no.status != http.StatusNotFound {
			return fmt.Errorf("another brand's passage was not refused: %v", err)
		}
	}
	fmt.Println()
	d.begun = time.Now()
	d.did("Our admin tried their passage by its id: 404, word for word as for an id that does not exist")
	return nil
}

func printNext() {
	fmt.Printf(`
  %s
    make serve                              keep it running, with both brands, and ask yourself
    bin/porchlight tenant add <folder>      add a brand: a folder with brand.yaml and documents
    GEMINI_API_KEY=… make serve             let models write the answers; without it they are quoted

`, bold.Render("Next"))
}
