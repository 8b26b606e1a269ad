package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The official client for browsers, at a pinned version, where npm can install it. Node is no
// requirement of the project: a machine without it learns from supabase-go alone.
func TestSignIn_SupabaseJSWorksUnchanged(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Log("there is no npm here: supabase-js was not tried")
		return
	}
	folder := filepath.Join(t.TempDir(), "supabase-js")
	if err := os.CopyFS(folder, os.DirFS("testdata/supabase-js")); err != nil {
		t.Fatal(err)
	}
	email := "rep@" + glowmere + ".example"
	inFolder := func(name string, arguments ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		command := exec.CommandContext(ctx, name, arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "SUPABASE_URL="+doorstep.url, "EMAIL="+email,
			"PASSWORD="+doorstep.password(email), "QUESTION=How much is Hearthfix 12 a month?")
		var stderr strings.Builder
		command.Stderr = &stderr
		stdout, err := command.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, stderr.String())
		}
		return string(stdout)
	}
	inFolder("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	var said struct {
		Email, Role, Outcome, Answer string
		Swapped                      bool
		AfterSignOut, WrongPassword  string
	}
	decode(t, inFolder("node", "sign-in.mjs"), &said)
	if said.Email != email || said.Role != "rep" || !said.Swapped || said.Outcome != "answered" || !strings.Contains(said.Answer, "€11.40") {
		t.Errorf("signed in: %+v", said)
	}
	if said.AfterSignOut != "refresh_token_not_found" || said.WrongPassword != "invalid_credentials" {
		t.Errorf("refused: %+v", said)
	}
}
