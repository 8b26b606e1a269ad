package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"porchlight/functions/internal/store"
)

type tenantCmd struct {
	Add  tenantAddCmd  `cmd:"" help:"Register a brand from its folder (brand.yaml), or update it."`
	List tenantListCmd `cmd:"" help:"List the brands."`
}

type tenantAddCmd struct {
	database `embed:""`
	JSON     bool   `help:"Print one JSON object."`
	Dir      string `arg:"" type:"existingdir" help:"The folder with brand.yaml and the documents."`
}

// Run registers the brand and says how its people sign in.
func (t tenantAddCmd) Run(ctx context.Context) error {
	op, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer op.close()
	brand, accounts, err := op.registerBrand(ctx, t.Dir)
	if err != nil {
		return err
	}
	if t.JSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"slug": brand.Slug, "name": brand.Name, "members": accounts})
	}
	fmt.Printf("%s is registered as %s.\n", brand.Name, brand.Slug)
	printAccounts(accounts)
	fmt.Printf("Next: porchlight ingest --tenant %s --library %s --all\n", brand.Slug, t.Dir)
	return nil
}

func printAccounts(accounts []account) {
	for _, a := range accounts {
		switch {
		case a.Missing:
			fmt.Printf("  %-5s %s  has not signed up yet: run this again afterwards\n", a.Role, a.Email)
		case a.Password != "":
			fmt.Printf("  %-5s %s  password: %s  (shown once)\n", a.Role, a.Email, a.Password)
		default:
			fmt.Printf("  %-5s %s\n", a.Role, a.Email)
		}
	}
}

type tenantListCmd struct {
	database `embed:""`
	JSON     bool `help:"Print a JSON list."`
}

// Run lists the brands with counts.
func (t tenantListCmd) Run(ctx context.Context) error {
	op, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer op.close()
	tenants, err := op.store.ListTenants(ctx, store.Service(""))
	if err != nil {
		return err
	}
	if t.JSON {
		return json.NewEncoder(os.Stdout).Encode(append([]store.Tenant{}, tenants...))
	}
	if len(tenants) == 0 {
		fmt.Println("There is no brand yet. Register one: porchlight tenant add <folder>")
		return nil
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLUG\tNAME\tSTATUS\tMEMBERS\tSOURCES\tCHUNKS")
	for _, b := range tenants {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\n", b.Slug, b.Name, b.Status, b.Members, b.Sources, b.Chunks)
	}
	return table.Flush()
}

type userCmd struct {
	Add userAddCmd `cmd:"" help:"Create a user of this machine, and make it a member or platform admin."`
}

type userAddCmd struct {
	database      `embed:""`
	Email         string `arg:"" help:"The address."`
	Tenant        string `help:"Slug of the brand to join."`
	Role          string `help:"Role in that brand." enum:"rep,admin" default:"rep"`
	PlatformAdmin bool   `help:"May register brands and act for any of them."`
	Password      string `help:"The password; empty: a random one, shown once." env:"PORCHLIGHT_NEW_PASSWORD"`
	JSON          bool   `help:"Print one JSON object."`
}

// Run creates the user, or gives a known one the password, and adds it where asked.
func (u userAddCmd) Run(ctx context.Context) error {
	op, err := u.open(ctx)
	if err != nil {
		return err
	}
	defer op.close()
	a := account{Email: u.Email, Role: u.Role}
	if a.Password, err = op.createUser(ctx, u.Email, u.Password); err != nil {
		return err
	}
	if u.Tenant != "" {
		if err := op.store.AddMember(ctx, store.Service(u.Tenant), u.Email, u.Role); err != nil {
			return fmt.Errorf("join %s: %w", u.Tenant, err)
		}
	}
	if u.PlatformAdmin {
		if err := op.store.AddPlatformAdmin(ctx, store.Service(""), u.Email); err != nil {
			return fmt.Errorf("make platform admin: %w", err)
		}
		a.Role = "platform admin"
	}
	if u.JSON {
		return json.NewEncoder(os.Stdout).Encode(a)
	}
	printAccounts([]account{a})
	return nil
}
