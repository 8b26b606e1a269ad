package turn

import "porchlight/functions/internal/problem"

// Question is what a caller asks, as it was sent. Only its shape was checked: emptiness, length and
// characters are for the turn to judge, because a refused question is logged as a turn too.
type Question struct {
	Text           string
	TurnID         string // uuid, lower case; empty: the turn makes one
	ConversationID string // uuid, lower case; empty: a conversation of its own
	Language       string // ISO 639-1, lower case, what the client would rather read; empty: not said
}

// The types of events, in the order in which a turn tells them.
const (
	TypeTurn     = "turn"
	TypeSentence = "sentence"
	TypeReset    = "reset"
	TypeSources  = "sources"
	TypeActions  = "actions"
	TypeDone     = "done"
	TypeError    = "error"
)

// Event is one line of the stream that answers a question. Type says which of the other fields are
// set; the functions below make each kind. A turn that ends well ends with "done"; one that fails
// returns its error, and web writes the "error" line.
type Event struct {
	Type    string   `json:"type"`
	TurnID  string   `json:"turn_id,omitempty"`
	Text    string   `json:"text,omitempty"`
	Sources []Source `json:"sources,omitzero"`
	Actions []Action `json:"actions,omitzero"`
	*Done
	Code    problem.Code `json:"code,omitempty"`
	Message string       `json:"message,omitempty"`
}

// Source is a document that the answer rests on.
type Source struct {
	SourceID   string  `json:"source_id"`
	Title      string  `json:"title"`
	Type       string  `json:"type"`
	URL        string  `json:"url"`         // empty: only the library has it
	Heading    string  `json:"heading"`     // headings above the passage; may be empty
	VerifiedAt *string `json:"verified_at"` // YYYY-MM-DD; nil: nobody has verified it
	IsStale    bool    `json:"is_stale"`    // a price that nobody verified within the brand's interval
}

// Action is something that the reader may do next. Type is one of a closed list and SourceID was
// made by the server: nothing in it comes from a model.
type Action struct {
	Type     string `json:"type"` // "open_source"
	SourceID string `json:"source_id"`
	Label    string `json:"label"`
}

// Done says how a turn ended.
type Done struct {
	Outcome string  `json:"outcome"` // "answered", "no_match", "held", …
	Model   string  `json:"model"`   // empty: nothing was generated
	Index   string  `json:"index"`   // "primary", "fallback" or "local"; empty: nothing was searched
	AsOf    *string `json:"as_of"`   // YYYY-MM-DD, the oldest fact in the answer; nil: no dated fact
	MS      Millis  `json:"ms"`
}

// Millis is the time that each step took, in milliseconds.
type Millis struct {
	Embed  int64 `json:"embed"`
	Match  int64 `json:"match"`
	Answer int64 `json:"answer"`
	Store  int64 `json:"store"`
	Total  int64 `json:"total"`
}

// Began is the first event: the id under which the turn can be asked for again.
func Began(turnID string) Event { return Event{Type: TypeTurn, TurnID: turnID} }

// Sentence is a piece of the answer that passed every guard.
func Sentence(text string) Event { return Event{Type: TypeSentence, Text: text} }

// Reset tells the reader to forget the sentences so far: another model starts over.
func Reset() Event { return Event{Type: TypeReset} }

// Cited lists the sources of the answer; none is an empty list, not a missing one.
func Cited(sources []Source) Event {
	return Event{Type: TypeSources, Sources: append([]Source{}, sources...)}
}

// Offered lists the actions; none is an empty list, not a missing one.
func Offered(actions []Action) Event {
	return Event{Type: TypeActions, Actions: append([]Action{}, actions...)}
}

// Ended is the last event of a turn that ended well, refusals in the brand's own words included.
func Ended(d Done) Event { return Event{Type: TypeDone, Done: &d} }

// Failed is the last line of a stream that can't go on. Web alone writes it.
func Failed(code problem.Code, message string) Event {
	return Event{Type: TypeError, Code: code, Message: message}
}
