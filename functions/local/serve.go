package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

type serveCmd struct {
	Address string `help:"Where to listen." default:"127.0.0.1:8787" env:"PORCHLIGHT_ADDRESS"`
	Data    string `help:"Folder of the database." default:"${data}" env:"PORCHLIGHT_DATA"`
	Brands  string `help:"Folder with one folder a brand: each is registered and indexed at start." type:"existingdir"`
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
	if s.Brands != "" {
		if err := w.addBrands(ctx, s.Brands); err != nil {
			return err
		}
	}
	fmt.Printf("\nPorchlight serves on %s, with Supabase Auth under %s/auth/v1.\n"+
		"Ask: PORCHLIGHT_URL=%s PORCHLIGHT_EMAIL=… PORCHLIGHT_PASSWORD=… porchlight ask \"…\"\nStop with Ctrl-C.\n",
		w.url, w.url, w.url)
	select {
	case <-ctx.Done():
		return nil
	case err := <-w.failed:
		return fmt.Errorf("serve: %w", err)
	}
}

func (w *world) addBrands(ctx context.Context, dir string) error {
	folders, err := filepath.Glob(filepath.Join(dir, "*", "brand.yaml"))
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return fmt.Errorf("%s holds no folder with a brand.yaml", dir)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		brand, accounts, err := w.operator.registerBrand(ctx, folder)
		if err != nil {
			return err
		}
		summary, err := w.index(ctx, brand.Slug, folder, whisper)
		if err != nil {
			return err
		}
		fmt.Printf("%s (%s) ", brand.Name, brand.Slug)
		printSummary(summary)
		printAccounts(accounts)
	}
	return nil
}
