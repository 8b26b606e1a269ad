package ingest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"porchlight/functions/internal/redact"
)

// Library is where the documents of one brand come from.
type Library interface {
	// List returns the key of every document, sorted, or an error when it can't name them all.
	List(ctx context.Context) ([]string, error)
	// Open returns the bytes of a document. The error is fs.ErrNotExist when there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// Folder is the library in a brand's folder. A key is the slash-separated path of a file in it, such
// as "prices/homes.md". The brand's own files (brand.yaml, redaction.yaml and those that only tests and people read)
// and everything whose name begins with a dot or with "~$" are no documents. Which of the others can be
// read, loaders says; the rest is refused by name. Links are not followed.
type Folder struct{ fsys fs.FS }

// maxKey is the most characters that are stored of a key.
const maxKey = 500

// NewFolder returns the library in fsys.
func NewFolder(fsys fs.FS) Folder { return Folder{fsys} }

// OpenFolder returns the files of the directory dir for NewFolder and ReadBrand, confined to dir even
// where a link points out of it. The caller closes it.
func OpenFolder(dir string) (fs.FS, io.Closer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open library: %w", err)
	}
	return root.FS(), root, nil
}

// List walks the folder.
func (f Folder) List(ctx context.Context) ([]string, error) {
	var keys []string
	err := fs.WalkDir(f.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isHidden(name):
			return fs.SkipDir
		case entry.Type().IsRegular() && isDocument(name):
			if utf8.RuneCountInString(name) > maxKey {
				return fmt.Errorf("%s: the path has more than %d characters", clip(name), maxKey)
			}
			// A name that is not UTF-8 can't be opened either; so spelled, it can be reported.
			keys = append(keys, strings.ToValidUTF8(name, "\uFFFD"))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list library: %w", err)
	}
	slices.Sort(keys)
	return keys, nil
}

// Open opens the document key.
func (f Folder) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !fs.ValidPath(key) || !isDocument(key) {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	// A link anywhere on the way would lead out of what List shows.
	for name, want := key, fs.FileMode(0); name != "."; name, want = path.Dir(name), fs.ModeDir {
		info, err := fs.Lstat(f.fsys, name)
		if err != nil {
			return nil, err
		}
		if info.Mode().Type() != want {
			return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
		}
	}
	return f.fsys.Open(key)
}

func isDocument(name string) bool {
	switch name {
	case BrandFile, redact.PolicyFile, "questions.yaml", "canaries.txt", "README.md":
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if isHidden(part) {
			return false
		}
	}
	return true
}

// isHidden says that a name is not one of the brand's: "~$" is what an office program calls the file of
// one that is open.
func isHidden(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~$")
}
