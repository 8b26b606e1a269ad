package main

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/local/auth"
)

// account is a person of a brand who can sign in.
type account struct {
	Email    string `json:"email"`
	Role     string `json:"role"`
	Password string `json:"password,omitempty"` // only when it was made just now
	Missing  bool   `json:"missing,omitempty"`  // on a hosted project: not signed up yet
}

// registerBrand reads the brand's folder, registers the brand and its people. Who is not known yet
// gets a random password; on a hosted project people sign up with Supabase Auth first.
func (o *operator) registerBrand(ctx context.Context, dir string) (ingest.Brand, []account, error) {
	brand, err := readBrand(dir)
	if err != nil {
		return brand, nil, err
	}
	if _, err := o.store.RegisterTenant(ctx, store.Service(""), brand); err != nil {
		return brand, nil, fmt.Errorf("brand %s: %w", brand.Slug, err)
	}
	var accounts []account
	for _, m := range brand.Members {
		a, err := o.addPerson(ctx, brand.Slug, m.Email, m.Role)
		if err != nil {
			return brand, accounts, fmt.Errorf("brand %s: member %s: %w", brand.Slug, m.Email, err)
		}
		accounts = append(accounts, a)
	}
	return brand, accounts, nil
}

func readBrand(dir string) (ingest.Brand, error) {
	fsys, folder, err := ingest.OpenFolder(dir)
	if err != nil {
		return ingest.Brand{}, err
	}
	defer folder.Close()
	brand, err := ingest.ReadBrand(fsys)
	if err != nil {
		return brand, fmt.Errorf("%s: %w", filepath.Clean(dir), err)
	}
	return brand, nil
}

func (o *operator) addPerson(ctx context.Context, slug, email, role string) (account, error) {
	a := account{Email: email, Role: role}
	var err error
	if a.Password, err = o.createUser(ctx, email, ""); err != nil {
		return a, err
	}
	err = o.store.AddMember(ctx, store.Service(slug), email, role)
	if is(err, problem.NotFound) {
		a.Missing = true
		return a, nil
	}
	return a, err
}

// createUser makes the user where this machine keeps the users, unless the address is known already
// and no password is given. It returns the password when it made one up.
func (o *operator) createUser(ctx context.Context, email, password string) (string, error) {
	if o.auth == nil {
		return "", nil
	}
	made := ""
	if password == "" {
		if _, err := o.auth.FindUser(ctx, email); !is(err, problem.NotFound) {
			return "", err
		}
		made = newPassword()
		password = made
	}
	hash, err := auth.HashPassword(password)
	if err != nil {
		return "", err
	}
	if _, err = o.auth.CreateUser(ctx, email, hash); is(err, problem.BadRequest) {
		return "", fmt.Errorf("%q is not an e-mail address", email)
	}
	return made, err
}

// newPassword has 80 random bits in letters that can be typed on a phone.
func newPassword() string {
	random := make([]byte, 10)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	text := strings.ToLower(base32.StdEncoding.EncodeToString(random))
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

func is(err error, code problem.Code) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Code == code
}
