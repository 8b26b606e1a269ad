package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"porchlight/tests/served"
)

// world is a server with eight brands that differ in nothing but their names, words and prices.
type world struct {
	*served.Server
	dir    string
	db     *pgx.Conn // as the superuser; one at a time
	brands []brand
}

// brand has words that stand in its documents and nowhere else.
type brand struct {
	slug, id   string
	words      []string
	price      string
	rep, admin string // access tokens
}

// question is one that every brand can answer.
const question = "What is the price of the Ember Nook?"

var markers = []string{
	"Gorsefender", "Heatherflue", "Irisandiron", "Jasminehod", "Knapweedjack", "Lavenderlog", "Mallowpoker", "Nettletongs",
}

func openWorld(ctx context.Context) (_ *world, err error) {
	w := &world{}
	if w.dir, err = os.MkdirTemp("", "porchlight-attack-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := os.Chmod(w.dir, 0o711); err != nil { // whom Postgres runs as under root passes through
		return nil, err
	}
	library := filepath.Join(w.dir, "brands")
	for i, marker := range markers {
		b := brand{slug: "brand-" + strings.ToLower(marker), price: fmt.Sprintf("€9,%d%d%d.00", i+1, i+1, i+1)}
		b.words = []string{marker, strings.TrimPrefix(b.price, "€")}
		if err := b.write(filepath.Join(library, b.slug), marker); err != nil {
			return nil, err
		}
		w.brands = append(w.brands, b)
	}
	if w.Server, err = served.Start(ctx, w.dir, library); err != nil {
		return nil, err
	}
	if err := w.LiftLimits(ctx); err != nil {
		return nil, err
	}
	if w.db, err = w.Connect(ctx); err != nil {
		return nil, err
	}
	return w, w.signIn(ctx)
}

// write writes the documents of the brand: a price that is fresh whenever this runs, and one that is not.
func (b brand) write(dir, marker string) error {
	const header = "---\ntitle: %s of %s\ntype: price\n%s---\n# %[1]s\n\n| Stove | Price |\n|---|---|\n| %[4]s | %[5]s |\n"
	documents := map[string]string{
		"brand.yaml": fmt.Sprintf("slug: %s\nname: House %s\nmembers:\n- {email: rep@%[1]s.example, role: rep}\n"+
			"- {email: admin@%[1]s.example, role: admin}\n", b.slug, marker),
		"prices/stoves.md": fmt.Sprintf(header, "Stoves", marker, "", "Ember Nook", b.price),
		"prices/old.md":    fmt.Sprintf(header, "Flues", marker, "verified_at: 2020-01-01\n", "Short flue", "€41.00"),
	}
	for key, text := range documents {
		path := filepath.Join(dir, key)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// signIn signs all people in. A document without a date was never verified: its price is, now.
func (w *world) signIn(ctx context.Context) (err error) {
	if _, err := w.db.Exec(ctx, `update app.chunks set verified_at = now() where verified_at is null`); err != nil {
		return err
	}
	for i := range w.brands {
		b := &w.brands[i]
		if b.rep, err = w.SignIn(ctx, "rep@"+b.slug+".example"); err != nil {
			return err
		}
		if b.admin, err = w.SignIn(ctx, "admin@"+b.slug+".example"); err != nil {
			return err
		}
		if err := w.db.QueryRow(ctx, `select id::text from app.tenants where slug = $1`, b.slug).Scan(&b.id); err != nil {
			return err
		}
	}
	return nil
}

// foreign counts the words of other brands in what somebody of this one was told.
func (w *world) foreign(b brand, text string) (n int) {
	for _, other := range w.brands {
		for _, word := range other.words {
			if other.slug != b.slug && strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				n++
			}
		}
	}
	return n
}

// close ends the server and removes everything.
func (w *world) close() error {
	var err error
	if w.db != nil {
		err = w.db.Close(context.Background())
	}
	if w.Server != nil {
		err = errors.Join(err, w.Stop())
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}
