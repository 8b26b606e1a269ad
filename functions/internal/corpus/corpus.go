// Package corpus holds the words that every room shares: a source, its chunks, a chunk that a
// search found, and how text is normalised and hashed. It knows no database, model or HTTP.
package corpus

import (
	"crypto/sha256"
	"time"
)

// Visibility says who may read a source: "public" visitors too, "tenant" the members of the brand,
// "private" its admins only.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Tenant  Visibility = "tenant"
	Private Visibility = "private"
)

// Source is one document of a brand. (Type, Key) is its stable identity inside the brand.
type Source struct {
	Type       string // "price", "objection", "script", "policy", "faq" or "article"
	Key        string // slash-separated path inside the library, e.g. "prices/homes.md"
	Title      string
	URL        string // where a person can open it; empty when only the library has it
	Language   string // ISO 639-1, lower case
	Visibility Visibility
	VerifiedAt *time.Time // when a person last verified its facts; nil: never
	ValidFrom  *time.Time
	ValidTo    *time.Time
	Metadata   map[string]any // stable facts only; no local path, no fetch time
}

// Chunk is a passage of a source as it is stored. Content is normalised (see Normalise).
type Chunk struct {
	HeadingPath string // headings above the passage, joined by " › "; may be empty
	Content     string
}

// Hash is the SHA-256 of the heading path, a line feed and the content, in UTF-8: the identity of
// the chunk inside its source. app.chunks.content_hash is the same value, made by Postgres.
func (c Chunk) Hash() [sha256.Size]byte {
	return sha256.Sum256([]byte(c.HeadingPath + "\n" + c.Content))
}

// EmbeddingText is what an embedding model reads for the chunk.
func (c Chunk) EmbeddingText() string {
	if c.HeadingPath == "" {
		return c.Content
	}
	return c.HeadingPath + "\n" + c.Content
}

// Match is a chunk that a search of the caller's own brand returned, best first.
type Match struct {
	ChunkID     string
	SourceID    string
	SourceType  string
	SourceTitle string
	SourceURL   string
	HeadingPath string
	Content     string
	Language    string
	VerifiedAt  *time.Time // nil: nobody has verified it
	IsPricing   bool       // the chunk states a price
	IsStale     bool       // a price that nobody verified within the brand's interval
	IsRelevant  bool       // the score reaches the threshold of the index
	Similarity  float64    // cosine, -1 to 1
	Score       float64    // what the order is by
}
