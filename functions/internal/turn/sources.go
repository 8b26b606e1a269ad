package turn

import (
	"fmt"

	"porchlight/functions/internal/corpus"
)

// tellSources lists the documents behind an answer and offers to open them. Ids and labels come
// from the database; nothing in an action was written by a model.
func tellSources(used []corpus.Match, language string, emit func(Event) error) error {
	sources, actions := []Source{}, []Action{}
	seen := map[string]bool{}
	open := wordsOf(language).open
	for _, m := range used {
		if seen[m.SourceID+m.SourceTitle] {
			continue
		}
		seen[m.SourceID+m.SourceTitle] = true
		sources = append(sources, Source{
			SourceID: m.SourceID, Title: m.SourceTitle, Type: m.SourceType, URL: m.SourceURL,
			Heading: m.HeadingPath, VerifiedAt: day(m.VerifiedAt), IsStale: m.IsStale,
		})
		if m.SourceID != "" { // of a stored turn: the source is gone since
			actions = append(actions, Action{
				Type: "open_source", SourceID: m.SourceID, Label: fmt.Sprintf(open, m.SourceTitle),
			})
		}
	}
	if err := emit(Cited(sources)); err != nil {
		return fmt.Errorf("tell the sources: %w", err)
	}
	if err := emit(Offered(actions)); err != nil {
		return fmt.Errorf("tell the actions: %w", err)
	}
	return nil
}
