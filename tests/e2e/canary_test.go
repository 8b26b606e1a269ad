package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// readCanaries reads the words that occur in the documents of one brand and in no other, by brand.
func readCanaries() (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(corpora, "*", "canaries.txt"))
	if err != nil {
		return nil, err
	}
	words := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if word := strings.TrimSpace(line); word != "" {
				words[filepath.Base(filepath.Dir(file))] = append(words[filepath.Base(filepath.Dir(file))], word)
			}
		}
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("%s holds the canaries of %d brands, want 2", corpora, len(words))
	}
	return words, nil
}

// everyBrand is the brand of a person who may see all of them.
const everyBrand = "*"

// checkCanaries fails when bytes for somebody of that brand hold a word of another one.
func checkCanaries(t *testing.T, brand, what string, sent ...string) {
	t.Helper()
	if brand == everyBrand {
		return
	}
	for other, words := range canaryList {
		if other == brand {
			continue
		}
		for _, text := range sent {
			for _, word := range words {
				if holds(text, word) {
					t.Errorf("%s: somebody of %q is told of %q, a word of %s", what, brand, word, other)
				}
			}
		}
	}
}

// holds says whether the word stands in the text, in any case, also where JSON escapes are spelled out.
func holds(text, word string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(word))
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

// checkLog looks for what no log may hold. O80
func (s *server) checkLog() error {
	log := s.log.String()
	var errs []error
	for brand, words := range canaryList {
		for _, word := range words {
			if holds(log, word) {
				errs = append(errs, fmt.Errorf("the log of %s holds %q, content of %s", s.name, word, brand))
			}
		}
	}
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
