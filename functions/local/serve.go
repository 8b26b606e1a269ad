package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
)

type serveCmd struct {
	Address string `help:"Where to listen." default:"127.0.0.1:8787" env:"PORCHLIGHT_ADDRESS"`
	Data    string `help:"Folder of the database." default:"${data}" env:"PORCHLIGHT_DATA"`
	Brands  string `help:"Folder with one folder a brand: each is registered and indexed at start." type:"existingdir"`
	JSON    bool   `help:"Print one JSON object when it is ready: address, brands, people."`
}

// Run serves until it is told to stop. What is already indexed is not indexed again.
func (s serveCmd) Run(ctx context.Context) (err error) {
	w, err := openWorld(ctx, worldOptions{
		dir: s.Data, address: s.Address, library: s.Brands, log: os.Stderr, say: whisper,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	brands := []served{}
	tell := printBrand // at once: a new password is shown only now, whatever comes after
	if s.JSON {
		tell = func(b served) { brands = append(brands, b) }
	}
	if err := w.addBrands(ctx, s.Brands, tell); err != nil {
		return err
	}
	if s.JSON {
		err = json.NewEncoder(os.Stdout).Encode(map[string]any{"url": w.url, "brands": brands})
	} else {
		printReady(w.url)
	}
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-w.failed:
		return fmt.Errorf("serve: %w", err)
	}
}

// served is a brand whose documents are indexed.
type served struct {
	Slug    string    `json:"slug"`
	Name    string    `json:"name"`
	Members []account `json:"members"`
	summary ingest.Summary
}

// addBrands registers and indexes the brand of each folder in dir; an empty dir means none.
func (w *world) addBrands(ctx context.Context, dir string, tell func(served)) error {
	if dir == "" {
		return w.hintAtFirstBrand(ctx)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "brand.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s holds no folder with a brand.yaml", dir)
	}
	for _, file := range files {
		folder := filepath.Dir(file)
		brand, accounts, err := w.operator.registerBrand(ctx, folder)
		if err != nil {
			return err
		}
		summary, err := w.index(ctx, brand.Slug, folder, whisper)
		if err != nil {
			return err
		}
		tell(served{brand.Slug, brand.Name, accounts, summary})
	}
	return nil
}

// hintAtFirstBrand tells somebody who starts with nothing how to go on.
func (w *world) hintAtFirstBrand(ctx context.Context) error {
	tenants, err := w.operator.store.ListTenants(ctx, store.Service(""))
	if err == nil && len(tenants) == 0 {
		fmt.Fprintln(os.Stderr, "There is no brand yet: bin/porchlight tenant add <folder>, or serve --brands <folder of folders>")
	}
	return err
}

func printBrand(b served) {
	fmt.Printf("%s (%s) ", b.Name, b.Slug)
	printSummary(b.summary)
	printAccounts(b.Members)
}

func printReady(url string) {
	fmt.Printf("\nPorchlight serves on %s, with Supabase Auth under %s/auth/v1.\n"+
		"Ask: PORCHLIGHT_URL=%s PORCHLIGHT_EMAIL=… PORCHLIGHT_PASSWORD=… porchlight ask \"…\"\nStop with Ctrl-C.\n",
		url, url, url)
}
