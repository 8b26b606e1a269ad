package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
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
	fmt.Printf("Next: bin/porchlight ingest --tenant %s --library %s --all\n", brand.Slug, t.Dir)
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
		fmt.Println("There is no brand yet. Register one: bin/porchlight tenant add <folder>")
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
	Add userAddCmd `cmd:"" help:"Create a user of this machine or change the password; make it a member or platform admin."`
}

type userAddCmd struct {
	database      `embed:""`
	Email         string `arg:"" help:"The address."`
	Tenant        string `help:"Slug of the brand to join."`
	Role          string `help:"Role in that brand." enum:"rep,admin" default:"rep"`
	PlatformAdmin bool   `help:"May register brands and act for any of them."`
	Password      string `help:"The password, also a new one for a known user; empty: a random one for a new user, shown once." env:"PORCHLIGHT_NEW_PASSWORD"`
	JSON          bool   `help:"Print one JSON object."`
}

// Run creates the user, or gives a known one the new password, and adds it where asked.
func (u userAddCmd) Run(ctx context.Context) error {
	op, err := u.open(ctx)
	if err != nil {
		return err
	}
	defer op.close()
	// before anything is made: a password that is made up is shown once
	if err := op.requireTenant(ctx, u.Tenant); err != nil {
		return err
	}
	a := account{Email: u.Email}
	if a.Password, err = op.createUser(ctx, u.Email, u.Password); err != nil {
		return err
	}
	if u.Tenant != "" {
		if err := op.store.AddMember(ctx, store.Service(u.Tenant), u.Email, u.Role); err != nil {
			return fmt.Errorf("join %s: %w", u.Tenant, err)
		}
		a.Role = u.Role
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
	if u.Password != "" {
		fmt.Println("The password is set.")
	}
	printAccounts([]account{a})
	return nil
}

// requireTenant says that a brand is not there, before its absence shows as a refusal; none is fine.
func (o *operator) requireTenant(ctx context.Context, slug string) error {
	tenants, err := o.store.ListTenants(ctx, store.Service(""))
	if err != nil || slug == "" || slices.ContainsFunc(tenants, func(t store.Tenant) bool { return t.Slug == slug }) {
		return err
	}
	return fmt.Errorf("there is no brand %q: porchlight tenant list shows those there are", slug)
}
