package e2e

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// canaries are words that occur in the documents of one brand and in no other, by brand.
type canaries struct {
	mutex sync.Mutex
	words map[string][]string
}

// readCanaries reads those of the brands of tests/corpora.
func readCanaries() (*canaries, error) {
	files, err := filepath.Glob(filepath.Join(corpora, "*", "canaries.txt"))
	if err != nil {
		return nil, err
	}
	c := &canaries{words: map[string][]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if word := strings.TrimSpace(line); word != "" {
				c.add(filepath.Base(filepath.Dir(file)), word)
			}
		}
	}
	if len(c.words) != 2 {
		return nil, fmt.Errorf("%s holds the canaries of %d brands, want 2", corpora, len(c.words))
	}
	return c, nil
}

// add names words of a brand that a test made. They should be long, and nobody else's.
func (c *canaries) add(brand string, words ...string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.words[brand] = append(c.words[brand], words...)
}

func (c *canaries) all() map[string][]string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.words)
}

// everyBrand is the brand of a person who may see all of them.
const everyBrand = "*"

// foreign returns the words in the text that somebody of that brand, or of those brands, may not hear.
func (c *canaries) foreign(brand, text string) (found []string) {
	if brand == everyBrand {
		return nil
	}
	text = strings.ToLower(text)
	for other, words := range c.all() {
		if slices.Contains(strings.Fields(brand), other) {
			continue
		}
		for _, word := range words {
			if strings.Contains(text, strings.ToLower(word)) {
				found = append(found, fmt.Sprintf("%q, a word of %s", word, other))
			}
		}
	}
	return found
}

// checkCanaries fails when bytes for somebody of that brand hold a word of another one.
func checkCanaries(t *testing.T, brand, what string, sent ...string) {
	t.Helper()
	for _, word := range canary.foreign(brand, strings.Join(sent, "\n")) {
		t.Errorf("%s: somebody of %q is told of %s", what, brand, word)
	}
}

// holds says whether the word stands in the text, in any case, also where JSON escapes are spelled out.
func holds(text, word string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(word))
}

// search looks through all that was recorded for words that were not for the ears they came to. It says
// how much it looked through; the error names each place once.
func (r *recorder) search(c *canaries) (summary string, err error) {
	r.mutex.Lock()
	list := slices.Clone(r.list)
	r.mutex.Unlock()
	kinds, places, all := map[string]int{}, map[string]int{}, c.all()
	bytes, words, foreign := 0, 0, 0
	for _, x := range list {
		kinds[x.kind]++
		bytes += len(x.text)
		for _, word := range c.foreign(x.brand, x.text) {
			foreign++
			places[fmt.Sprintf("%s for %q: %s", x.what, x.brand, word)]++
		}
	}
	for _, list := range all {
		words += len(list)
	}
	var errs []error
	for _, place := range slices.Sorted(maps.Keys(places)) {
		errs = append(errs, fmt.Errorf("%s, %d times", place, places[place]))
	}
	summary = fmt.Sprintf("canaries: %d words of %d brands, %d bytes in %d %s, %d %s, %d %s: %d foreign words",
		words, len(all), bytes, kinds[ofResponse], ofResponse, kinds[ofProcess], ofProcess, kinds[ofRow], ofRow, foreign)
	return summary, errors.Join(errs...)
}

// The net has no hole: what a person is told is recorded under their brand, and a word that is not for
// them is found in a body, a header, a token, a log and a row.
func TestCanaries_AreFoundWhereverTheyAreTold(t *testing.T) {
	t.Parallel()
	a := doorstep.rep(t, glowmere).ask("How much is Hearthfix 12 a month?")
	records.mutex.Lock()
	isRecorded := slices.ContainsFunc(records.list, func(x record) bool {
		return x.kind == ofResponse && x.brand == glowmere && strings.Contains(x.text, a.body)
	})
	records.mutex.Unlock()
	if !isRecorded {
		t.Error("an answer was not recorded")
	}
	rep := doorstep.rep(t, skeinwick)
	leaky := newRecorder(answering{"X-Note: bobbin", "hearthfix"})
	client := &http.Client{Transport: leaky}
	response, err := client.Do(rep.request(t.Context(), http.MethodGet, "/v1/leak", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	_ = response.Body.Close()
	leaky.add(ofProcess, "", "a log", "BOBBIN")
	leaky.add(ofRow, glowmere, "a row", `{"answer": "Hearthfix and Threadlight"}`)
	leaky.add(ofProcess, glowmere, "a token", rep.token)
	leaky.add(ofProcess, everyBrand, "the operator's screen", "Hearthfix and Threadlight")
	_, err = leaky.search(canary)
	if err == nil {
		t.Fatal("nothing is found")
	}
	for _, want := range []string{
		`GET /v1/leak for "skeinwick-fibre": "Hearthfix"`, `a log for "": "Bobbin"`,
		`a row for "glowmere-energy": "Threadlight"`, `a token for "glowmere-energy": "Skeinwick"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d places, want 4:\n%v", n, err)
	}
}

// answering is a server that says the same to everybody.
type answering struct{ header, body string }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	name, value, _ := strings.Cut(a.header, ": ")
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{name: {value}}, Body: io.NopCloser(strings.NewReader(a.body)),
	}, nil
}

// secrets are what a server has been told and must not write down: questions, passwords, tokens.
type secrets struct {
	mutex sync.Mutex
	texts []string
}

func (s *secrets) add(texts ...string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.texts = append(s.texts, texts...)
}

// all returns those that are long enough not to stand in a log by chance.
func (s *secrets) all() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var long []string
	for _, text := range s.texts {
		if text = strings.TrimSpace(text); len(text) >= 8 {
			long = append(long, text)
		}
	}
	return long
}

// checkLog looks for what no log may hold; the search for canaries comes at the end of the run. O80
func (s *server) checkLog() error {
	log := s.log.String()
	records.add(ofProcess, "", "the log of "+s.name, log)
	var errs []error
	forbidden := append(s.told.all(), "eyJ", "Bearer ", "AIza", "postgres://", "goroutine ")
	for _, password := range s.passwords {
		forbidden = append(forbidden, password)
	}
	for _, text := range forbidden {
		if strings.Contains(log, text) {
			errs = append(errs, fmt.Errorf("the log of %s holds %q", s.name, text))
		}
	}
	return errors.Join(errs...)
}
