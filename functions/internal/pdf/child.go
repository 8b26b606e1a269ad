package pdf

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// childArgument as the first argument makes a program the reader of one PDF.
const childArgument = "read-one-pdf"

// memoryPages of 64 KB are what PDFium may use: 256 MB.
const memoryPages = 4096

// Child reads the PDF on in and writes its text to out when the arguments of the program say so, and
// returns whether they did. A main calls it before anything else and ends when it is true.
func Child(args []string, in io.Reader, out io.Writer) bool {
	if len(args) != 3 || args[1] != childArgument {
		return false
	}
	// Should the parent be gone, nobody else ends this process.
	time.AfterFunc(maxStart+maxTime+5*time.Second, func() { os.Exit(1) })
	say := json.NewEncoder(out)
	say.SetEscapeHTML(false)
	library, err := start(args[2])
	if err != nil {
		_ = say.Encode(answer{Reason: Unavailable, Detail: "PDFium does not start"})
		return true
	}
	debug.FreeOSMemory() // what the compiler used
	// The parent ends this process when it no longer listens, so a failed write needs no handling.
	_ = say.Encode(answer{Ready: true})
	last := answer{Done: true}
	if r := readAll(library, in, func(page string) { _ = say.Encode(answer{Page: page}) }); r != nil {
		last = answer{Reason: r.Reason, Detail: r.Detail}
	}
	_ = say.Encode(last)
	return true
}

// start compiles PDFium, or takes it from the cache. It sees no file, no environment and no network.
func start(cache string) (pdfium.Pdfium, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(memoryPages)
	if cache != "" {
		if err := checkPrivate(cache); err != nil {
			return nil, err
		}
		compiled, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(compiled)
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, err
	}
	return pool.GetInstance(maxTime)
}

// checkPrivate makes the folder, or wants one that nobody else writes to.
func checkPrivate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	if err == nil && (!info.IsDir() || info.Mode().Perm()&0o022 != 0) {
		err = errors.New("the cache is no private folder")
	}
	return err
}

// readAll hands over every page, or says why not.
func readAll(library pdfium.Pdfium, in io.Reader, each func(page string)) *Refusal {
	file, err := io.ReadAll(in)
	if err != nil {
		return refuse(Unreadable, "its bytes did not arrive")
	}
	document, err := library.OpenDocument(&requests.OpenDocument{File: &file})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return refuse(Encrypted, "save it without a password")
	case err != nil:
		return refuse(Damaged, "it is no PDF that can be opened")
	}
	count, err := library.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: document.Document})
	switch {
	case err != nil || count.PageCount < 1:
		return refuse(Damaged, "it has no pages")
	case count.PageCount > maxPages:
		return refuse(TooLarge, "more than %d pages", maxPages)
	}
	return readPages(library, document.Document, count.PageCount, each)
}

func readPages(library pdfium.Pdfium, document references.FPDF_DOCUMENT, count int, each func(page string)) *Refusal {
	letters, unknown := 0, 0
	for i := range count {
		page := requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: i}}
		raw, err := library.GetPageText(&requests.GetPageText{Page: page})
		if err != nil {
			return refuse(Damaged, "page %d can't be read", i+1)
		}
		text := clean(raw.Text)
		known, not := legible(text)
		letters, unknown = letters+known, unknown+not
		each(text)
	}
	switch {
	case letters+unknown == 0:
		return refuse(NoText, "it has no text layer; run a text recognition over it")
	case unknown*100 > letters:
		return refuse(Damaged, "its fonts do not say which letters they show")
	}
	return nil
}
