package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// cache is compiled once for all tests.
var cache string

// TestMain makes this binary its own child, as the mains of the functions do.
func TestMain(m *testing.M) {
	if Child(os.Args, os.Stdin, os.Stdout) {
		return
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "porchlight-pdfium-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		cache = folder
		return m.Run()
	}())
}

func newReader() *Reader { return &Reader{Executable: os.Args[0], Cache: cache} }

func refused(t *testing.T, err error, reasons ...string) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || !slices.Contains(reasons, r.Reason) {
		t.Errorf("got %v, want one of %v", err, reasons)
	}
}

// build writes a PDF: one page for each content stream, with the font Helvetica.
func build(pages ...string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/StandardEncoding>>"}
	var kids []string
	for _, content := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", len(objects)+1))
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", len(objects)+2),
			content)
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), strings.Join(kids, " "))
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

func stream(content string) string {
	return fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content)
}

// bomb is a content stream of that many bytes of blanks, packed twice.
func bomb(t *testing.T, size int64) string {
	t.Helper()
	var inner, outer bytes.Buffer
	for _, step := range []struct {
		to   *bytes.Buffer
		from io.Reader
	}{{&inner, io.LimitReader(blanks{}, size)}, {&outer, &inner}} {
		w := zlib.NewWriter(step.to)
		if _, err := io.Copy(w, step.from); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream", outer.Len(), outer.String())
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// O04, O06
func TestText_KeepsWordsApartAndPagesInOrder(t *testing.T) {
	spaced := stream("BT /F 12 Tf 50 700 Td [(Tarifa)-600(plana)-600(49)-600(EUR)-600(al)-600(mes)] TJ ET")
	ligatures := stream("BT /F 12 Tf 50 700 Td (bene\\256cio \\257ow) Tj ET")
	columns := stream("BT /F 10 Tf 50 700 Td (left one) Tj 0 -14 Td (left two) Tj ET BT /F 10 Tf 320 700 Td (right one) Tj 0 -14 Td (right two) Tj ET")
	split := stream("BT /F 12 Tf 50 700 Td [(1)-5(1)5(.4)-10(0)] TJ ET")
	pages, err := newReader().Text(t.Context(), bytes.NewReader(build(spaced, stream(""), ligatures, columns, split)))
	want := []string{"Tarifa plana 49 EUR al mes", "", "beneficio flow", "left one\nleft two\nright one\nright two", "11.40"}
	if err != nil || !slices.Equal(pages, want) {
		t.Errorf("%q, %v; want %q", pages, err, want)
	}
}

// S5, O03
func TestText_RefusesWithAReason(t *testing.T) {
	hello := stream("BT /F 12 Tf 50 700 Td (Hello) Tj ET")
	many := slices.Repeat([]string{hello}, maxPages+1)
	loop := strings.Replace(string(build(hello)), "/Kids[4 0 R]", "/Kids[2 0 R]", 1)
	for _, c := range []struct {
		name    string
		file    []byte
		reasons []string
	}{
		{"nothing", nil, []string{Damaged}},
		{"no PDF", []byte("<html>Sign in</html>"), []string{Damaged}},
		{"the beginning alone", build(hello)[:40], []string{Damaged}},
		{"no text", build(stream("0 0 100 100 re f")), []string{NoText}},
		{"blanks alone", build(stream("BT /F 12 Tf 50 700 Td (   ) Tj ET")), []string{NoText}},
		{"201 pages", build(many...), []string{TooLarge}},
		{"a loop of pages", []byte(loop), []string{Damaged, NoText}},
		{"5 MB and a byte", make([]byte, MaxBytes+1), []string{TooLarge}},
		{"500 MB in a few bytes", build(bomb(t, 500<<20)), []string{TooLarge, TimedOut, Damaged, NoText}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newReader().Text(t.Context(), bytes.NewReader(c.file))
			refused(t, err, c.reasons...)
			t.Log(err)
		})
	}
	if pages, err := newReader().Text(t.Context(), bytes.NewReader(build(many[1:]...))); err != nil || len(pages) != maxPages {
		t.Errorf("200 pages: %d, %v", len(pages), err)
	}
	_, err := newReader().Text(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF))
	refused(t, err, Unreadable)
}

// pretend is a Reader whose child is a shell script.
func pretend(t *testing.T, script string) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "child")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Reader{Executable: path, time: time.Second, memory: 64 << 20}
}

// S5: what a child does, the parent goes on.
func TestText_OutlivesItsChild(t *testing.T) {
	const ready = `echo '{"ready":true}'` + "\n"
	for _, c := range []struct{ name, script, reason string }{
		{"hangs", ready + "exec sleep 60", TimedOut},
		{"hangs with a page", ready + `echo '{"page":"half"}'` + "\nexec sleep 60", TimedOut},
		{"eats memory", ready + "exec tail /dev/zero", TooLarge},
		{"dies", ready + "kill -9 $$", Damaged},
		{"dies with a page", ready + `echo '{"page":"half"}'; exit 0`, Damaged},
		{"dies before it begins", "exit 3", Unavailable},
		{"says something else", ready + "echo panic: half a page", Damaged},
		{"talks without end", ready + `exec yes '{"page":"` + strings.Repeat("x", 9000) + `"}'`, TooLarge},
		{"talks without end in one line", ready + `printf '{"page":"'; exec tr '\0' x </dev/zero`, TooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			pages, err := pretend(t, c.script).Text(t.Context(), bytes.NewReader(make([]byte, MaxBytes)))
			runtime.ReadMemStats(&after)
			refused(t, err, c.reason)
			if pages != nil {
				t.Errorf("%d pages of a file that was refused", len(pages))
			}
			if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
				t.Errorf("the parent grew by %d MB", grown>>20)
			}
		})
	}
	_, err := (&Reader{Executable: filepath.Join(t.TempDir(), "none")}).Text(t.Context(), strings.NewReader(""))
	refused(t, err, Unavailable)
}

func TestText_EndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := pretend(t, "exec sleep 60").Text(ctx, strings.NewReader(""))
	if refused(t, err, Cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is no context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = pretend(t, "exec sleep 60").Text(ctx, strings.NewReader(""))
	refused(t, err, TimedOut)
}

func TestChild_GetsNoEnvironment(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "kanarienvogel")
	pages, err := pretend(t, `printf '{"ready":true}{"page":"%s"}{"done":true}' "$GEMINI_API_KEY"`).Text(t.Context(), strings.NewReader(""))
	if err != nil || !slices.Equal(pages, []string{""}) {
		t.Errorf("%q, %v", pages, err)
	}
}

func TestChild_IsOneOnlyWhenItIsAsked(t *testing.T) {
	for _, args := range [][]string{{"porchlight"}, {"porchlight", "serve"}, {"porchlight", childArgument}, {"p", "serve", childArgument}} {
		if Child(args, strings.NewReader(""), io.Discard) {
			t.Errorf("%v makes a child", args)
		}
	}
}

// What lies in the cache is run.
func TestChild_TakesNothingFromAFolderThatOthersWriteTo(t *testing.T) {
	open, link := filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Symlink(cache, link)); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{open, link} {
		_, err := (&Reader{Executable: os.Args[0], Cache: folder}).Text(t.Context(), strings.NewReader(""))
		refused(t, err, Unavailable)
	}
}

func TestClean_LeavesCharactersAlone(t *testing.T) {
	for raw, want := range map[string]string{
		"Tarifa\x00 Pla\x00na":              "Tarifa Plana", // O01
		"o\uFB03cial \uFB05":                "official st",
		"½ m² ①":                            "½ m² ①",
		"\uFE91\uFEF4\uFE96":                "بيت",
		"inter\x02national non\x02normal":   "international nonnormal",
		"FAA\x02approved 737\x028 Wi\x02Fi": "FAA-approved 737-8 Wi-Fi",
		"stra\uFFFEße":                      "straße",
		"a\r\nb\rc\n\n":                     "a\nb\nc",
		"\uF0B7 item\uFFFF":                 " item",
		"Short end.\nA line that is much longer than the first\none.": "Short end.\n\nA line that is much longer than the first\none.",
	} {
		if got := clean(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
