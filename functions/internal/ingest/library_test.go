package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFolder_ListsDocumentsOnly(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"brand.yaml", "redaction.yaml", "questions.yaml", "canaries.txt", "README.md", ".hidden", "prices/~$homes.xlsx", ".git/config",
		"prices/.draft.md", "prices/homes.md", "prices/README.md", "faq/deutsch.md", "a.pdf",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte("x")}
	}
	fsys["prices/link.md"] = &fstest.MapFile{Data: []byte("homes.md"), Mode: fs.ModeSymlink}
	got, err := NewFolder(fsys).List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.pdf", "faq/deutsch.md", "prices/README.md", "prices/homes.md"}
	if !slices.Equal(got, want) {
		t.Errorf("List() = %q, want %q", got, want)
	}
}

func TestFolder_OpensOnlyWhatItLists(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	write(t, filepath.Join(outside, "secret.md"), "secret")
	write(t, filepath.Join(dir, "brand.yaml"), "slug: x")
	write(t, filepath.Join(dir, "prices", "homes.md"), "homes")
	link(t, filepath.Join(outside, "secret.md"), filepath.Join(dir, "prices", "out.md"))
	link(t, outside, filepath.Join(dir, "outside"))
	link(t, filepath.Join(dir, "prices"), filepath.Join(dir, "alias"))
	fsys, root, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder := NewFolder(fsys)

	if keys, err := folder.List(context.Background()); err != nil || !slices.Equal(keys, []string{"prices/homes.md"}) {
		t.Errorf("List() = %q, %v", keys, err)
	}
	file, err := folder.Open(context.Background(), "prices/homes.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if b, err := io.ReadAll(file); err != nil || string(b) != "homes" {
		t.Errorf("read %q, %v", b, err)
	}
	for _, key := range []string{
		"prices/out.md", "outside/secret.md", "alias/homes.md", "../secret.md", "prices/../brand.yaml",
		"/etc/passwd", "brand.yaml", "prices", "prices/none.md", "prices/homes.md/x", "", ".", "prices/\xff.md",
	} {
		if file, err := folder.Open(context.Background(), key); err == nil {
			file.Close()
			t.Errorf("Open(%q) succeeded", key)
		}
	}
}

func TestFolder_StopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	folder := NewFolder(fstest.MapFS{"a.md": {Data: []byte("x")}})
	if _, err := folder.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("List: %v", err)
	}
	if _, err := folder.Open(ctx, "a.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
}

func TestFolder_ListsNothingWhenAPathIsTooLongToStore(t *testing.T) {
	folder := NewFolder(fstest.MapFS{strings.Repeat("long/", 100) + "a.md": {}, "b.md": {}})
	if keys, err := folder.List(context.Background()); err == nil || keys != nil {
		t.Errorf("List() = %q, %v", keys, err)
	}
}

func TestOpenFolder_RefusesADirectoryThatIsNotThere(t *testing.T) {
	if _, _, err := OpenFolder(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}
