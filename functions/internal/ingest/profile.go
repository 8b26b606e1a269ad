package ingest

import "fmt"

// Profile says how text is cut into chunks. Sizes are in characters (Unicode code points).
type Profile struct {
	Name          string
	MaxCharacters int // no chunk's content is longer
	Overlap       int // most that is repeated where a block that fits no chunk is cut
}

// The bounds of a sane profile: under the least a sentence doesn't fit, over the most no embedding
// model reads to the end.
const (
	minCharacters = 80
	maxCharacters = 8000
)

// Doorstep is the profile for what a rep asks at the door: one price, one objection, one rule a
// chunk. English runs at 4.2 to 5.5 characters a word piece, so that 900 of them and the heading path
// fit the 256 word pieces that all-MiniLM-L6-v2 reads. Tables of prices run at 3.2 to 4, German and
// Spanish at 2.8 to 3.5: of a full chunk of those the model may not see the end. (Measured with its
// tokenizer.)
func Doorstep() Profile {
	return Profile{Name: "doorstep", MaxCharacters: 900, Overlap: 120}
}

// Validate says what is wrong with the profile. An overlap of half a chunk is the most: it doubles
// the text, and one as long as a chunk would never end.
func (p Profile) Validate() error {
	switch {
	case p.Name == "":
		return fmt.Errorf("profile has no name")
	case p.MaxCharacters < minCharacters || p.MaxCharacters > maxCharacters:
		return fmt.Errorf("profile %s: %d characters, want %d to %d", p.Name, p.MaxCharacters, minCharacters, maxCharacters)
	case p.Overlap < 0 || p.Overlap > p.MaxCharacters/2:
		return fmt.Errorf("profile %s: overlap %d, want 0 to %d", p.Name, p.Overlap, p.MaxCharacters/2)
	}
	return nil
}
