package turn

import "fmt"

// tellSources lists the documents behind the answer and offers to open them. Ids and labels come
// from the database; nothing in an action was written by a model.
func (r *run) tellSources() error {
	sources, actions := []Source{}, []Action{}
	seen := map[string]bool{}
	open := wordsOf(r.begun.Language).open
	for _, m := range r.done.Used {
		if seen[m.SourceID] {
			continue
		}
		seen[m.SourceID] = true
		sources = append(sources, Source{
			SourceID: m.SourceID, Title: m.SourceTitle, Type: m.SourceType, URL: m.SourceURL,
			Heading: m.HeadingPath, VerifiedAt: day(m.VerifiedAt), IsStale: m.IsStale,
		})
		actions = append(actions, Action{
			Type: "open_source", SourceID: m.SourceID, Label: fmt.Sprintf(open, m.SourceTitle),
		})
	}
	if err := r.emit(Cited(sources)); err != nil {
		return fmt.Errorf("tell the sources: %w", err)
	}
	if err := r.emit(Offered(actions)); err != nil {
		return fmt.Errorf("tell the actions: %w", err)
	}
	return nil
}
