package extract

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/corpus"
)

// The invented brand Pebblewick rents boats and sells lines to islands.
var (
	boats = corpus.Match{
		ChunkID: "boats", SourceType: "price", SourceTitle: "Boats, season prices", HeadingPath: "Boats, season prices",
		Language: "en", IsPricing: true, VerifiedAt: on(time.November, 3),
		Content: "Boat: Ottermoor; Seats: 2; Sail: none; Weekly price: 210 €; Deposit: 90 €.\n" +
			"Boat: Ottermoor with Gullwing; Seats: 2; Sail: 6 square metres; Weekly price: 340 €; Deposit: 90 €.\n" +
			"Boat: Ternfell Short; Seats: 1; Sail: none; Weekly price: 150 €; Deposit: 60 €.\n" +
			"Boat: Ternfell Long; Seats: 3; Sail: none; Weekly price: 260 €; Deposit: 90 €.\n" +
			"Boat: Winter cover for an Ottermoor; Seats: 0; Sail: none; Weekly price: 12 €; Deposit: none.\n" +
			"Boat: Mending kit, lent by the day; Seats: 0; Sail: none; Weekly price: 9 €; Deposit: none.",
	}
	islands = corpus.Match{
		ChunkID: "islands", SourceType: "price", SourceTitle: "Island lines", HeadingPath: "Island lines › All lines",
		Language: "en", IsPricing: true, VerifiedAt: on(time.November, 8),
		Content: "Line: Reedwire 40; Download: 40 Mbit/s; Upload: 20 Mbit/s; Monthly fee: 19.10 €; For: holiday huts.\n" +
			"Line: Reedwire 200; Download: 200 Mbit/s; Upload: 40 Mbit/s; Monthly fee: 29.30 €; For: family homes.\n" +
			"Line: Reedwire 200 Ferry; Download: 200 Mbit/s; Upload: 40 Mbit/s; Monthly fee: 33.90 €; For: houseboats.\n" +
			"Line: Reedwire 2000; Download: 2 Gbit/s; Upload: 200 Mbit/s; Monthly fee: 58.70 €; For: harbour offices.",
	}
	boxes = corpus.Match{
		ChunkID: "boxes", SourceType: "price", SourceTitle: "Boxes", HeadingPath: "Boxes", Language: "en", IsPricing: true,
		VerifiedAt: on(time.November, 9),
		Content: "Item: Mosslamp router; Ports: 2 x 1 Gbit/s, 1 x 5 Gbit/s; Monthly rental: 4.40 €.\n" +
			"Item: Fernlamp router; Ports: 4 x 1 Gbit/s; Monthly rental: 6.60 €.",
	}
	islandTalk = corpus.Match{
		ChunkID: "talk", SourceType: "price", SourceTitle: "Island lines", HeadingPath: "Island lines › Which one",
		Language: "en", IsPricing: true, VerifiedAt: on(time.November, 8),
		Content: "Reedwire 200 Ferry costs €33.90 a month, runs as fast as Reedwire 200 and moves with the boat every month of the year. " +
			"Reedwire 200 costs €29.30 a month. The Harbour Bonus is a gift of €40 for homes that choose Reedwire 40.",
	}
	oldSails = corpus.Match{
		ChunkID: "sails", SourceType: "price", SourceTitle: "Sailing gear", HeadingPath: "Sailing gear", Language: "en",
		IsPricing: true, IsStale: true, VerifiedAt: on(time.January, 8),
		Content: "Sail: Galeleaf Small; Area: 4 square metres; Price: 88 €.\nSail: Galeleaf Large; Area: 9 square metres; Price: 144 €.",
	}
	leavingIsland = corpus.Match{
		ChunkID: "exit", SourceType: "policy", SourceTitle: "Ending a line", HeadingPath: "Ending a line › Leaving early", Language: "en",
		Content: "Pebblewick lets a customer go early when the ferry stops. A move to the mainland counts as well. " +
			"In every other case an exit fee of €35 is due.",
	}
	pebblewick = []corpus.Match{boats, islands, boxes, islandTalk, leavingIsland}
)

// firsts returns the names of the rows of an answer, or the first words of its sentences.
func firsts(a Answer) []string {
	var out []string
	for _, s := range a.Sentences {
		name, _, _ := strings.Cut(s.Text, "; ")
		if _, value, isRow := strings.Cut(name, ": "); isRow {
			name = value
		}
		out = append(out, name)
	}
	return out
}

func TestAnswer_PricesWhatIsAskedFor(t *testing.T) {
	for _, tc := range []struct {
		rule, question string
		want           []string
	}{
		{"an exact name goes before a longer one", "How much is Reedwire 200?", []string{"Reedwire 200"}},
		{"in German", "Was kostet Reedwire 200 im Monat?", []string{"Reedwire 200"}},
		{"in Spanish", "¿Cuánto cuesta Reedwire 200 Ferry?", []string{"Reedwire 200 Ferry"}},
		{"¿precio?", "¿Cuál es el precio de Ottermoor?", []string{"Ottermoor"}},
		{"all rows that a name begins", "How much is the Ternfell?", []string{"Ternfell Short", "Ternfell Long"}},
		{"all rows of a kind", "How much does the router cost?", []string{"Mosslamp router", "Fernlamp router"}},
		{"all rows of a kind, in German", "Was kostet der Router?", []string{"Mosslamp router", "Fernlamp router"}},
		{"up to four rows", "How much is Reedwire?", []string{"Reedwire 40", "Reedwire 200", "Reedwire 200 Ferry", "Reedwire 2000"}},
		{"none of too many", "How much is a boat?", nil},
		{"a row that denies what is wanted gives way to one that has it", "How much is the Ottermoor with a sail?", []string{"Ottermoor with Gullwing"}},
		{"and the other way round", "How much is the Ottermoor without a sail?", []string{"Ottermoor"}},
		{"what no row has is no price", "How much is the Ottermoor with an engine?", nil},
		{"an accessory is not the thing", "Ottermoor price", []string{"Ottermoor"}},
		{"nor the thing an accessory", "How much is the winter cover?", []string{"Winter cover for an Ottermoor"}},
		{"a speed in another unit", "How much is the 2 gig line?", []string{"Reedwire 2000"}},
		{"a speed of a port is not that of a line", "Monthly price of the 5 gigabit line?", nil},
		{"a number of another column does not make a name", "How much is Reedwire 20?", nil},
		{"a purpose", "They have a houseboat, what is the monthly fee?", []string{"Reedwire 200 Ferry"}},
		{"a purpose goes before the heading of all", "price of an island line for harbour offices", []string{"Reedwire 2000"}},
		{"another kind of price", "What is the exit fee for Reedwire 40?", nil},
		{"another price than the listed one", "What is the lowest price for the Ottermoor?", nil},
		{"a discount", "How much discount is there on Ottermoor?", nil},
		{"a service for the thing", "How much is an Ottermoor repair?", nil},
		{"the repair of the thing", "What does the repair of an Ottermoor cost?", nil},
		{"a thing of the same words", "What does a new house with a family cost including heating?", nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			got := firsts(ask(t, tc.question, pebblewick...))
			slices.Sort(got)
			slices.Sort(tc.want)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %q, want %q", tc.question, got, tc.want)
			}
		})
	}
}

// Where the table was not found, the sentence about exactly the thing answers, and no other.
func TestAnswer_PricesFromProseByTheExactName(t *testing.T) {
	if got := texts(ask(t, "Was kostet Reedwire 200 im Monat?", islandTalk)); !slices.Equal(got, []string{"Reedwire 200 costs €29.30 a month."}) {
		t.Errorf("got %q", got)
	}
	for _, question := range []string{
		"How much is Reedwire 40?", // only in a sentence about a bonus
		"How much is Reedwire?", "How much is Reedwire 500?",
	} {
		if a := ask(t, question, islandTalk); len(a.Sentences) > 0 {
			t.Errorf("%s: %q", question, texts(a))
		}
	}
}

func TestAnswer_HoldsAStaleFamilyEvenWhereItsNameIsLoose(t *testing.T) {
	care := corpus.Match{
		ChunkID: "care", SourceType: "policy", SourceTitle: "Sail care", HeadingPath: "Sail care › Repair", Language: "en",
		Content: "Repair of a sail takes a week on the northern pier. Regatta crews bring old sails in spring.",
	}
	oldBoats := boats
	oldBoats.IsStale = true
	for _, tc := range []struct {
		question string
		old      corpus.Match
		isHeld   bool
	}{
		{"How much is Galeleaf?", oldSails, true},
		{"¿Cuánto cuesta un Galeleaf Small?", oldSails, true},
		{"Galeleaf gear price", oldSails, true},
		{"Was kostet Galeleaf Large?", oldSails, true},
		{"How much is the Galeleaf for a regatta crew in spring?", oldSails, true}, // a small share of the question
		{"How much is the Galeleaf Small repair?", oldSails, true},                 // of a fresh one it would be no answer
		{"How much is the boat for houseboats?", oldBoats, true},                   // no row decides
		{"How much is the Ottermoor with an engine?", oldBoats, false},             // what no row has is no old price
		{"How much is the winter cover with an engine?", oldBoats, false},
		{"How much is the sail repair?", boats, false}, // nor do fresh rows answer where none decides
	} {
		a := ask(t, tc.question, tc.old, care)
		if a.Held != tc.isHeld || a.Held && a.HeldChunk != tc.old.ChunkID || len(a.Sentences) > 0 {
			t.Errorf("%s: %+v", tc.question, a)
		}
	}
}

// Below the threshold of the search only the price of a thing by its name counts.
func TestAnswer_TakesNamedPricesFromBelowTheThreshold(t *testing.T) {
	below := func(question string, others ...corpus.Match) Answer {
		t.Helper()
		a, err := Extractor{}.Answer(context.Background(), Input{Question: question, Matches: []corpus.Match{faqES}, Others: others})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if got := firsts(below("¿Cuánto cuesta Reedwire 40?", islands)); !slices.Equal(got, []string{"Reedwire 40"}) {
		t.Errorf("a row: %q", got)
	}
	if got := texts(below("¿Cuánto cuesta Reedwire 200?", islandTalk)); !slices.Equal(got, []string{"Reedwire 200 costs €29.30 a month."}) {
		t.Errorf("a sentence: %q", got)
	}
	if a := below("¿Cuánto cuesta Galeleaf Small?", oldSails); !a.Held {
		t.Errorf("an old row: %+v", a)
	}
	oldTalk := islandTalk
	oldTalk.IsStale = true
	if a := below("¿Cuánto cuesta Reedwire 200?", oldTalk); !a.Held || a.HeldChunk != "talk" || len(a.Sentences) > 0 {
		t.Errorf("an old sentence: %+v", a)
	}
	for _, question := range []string{"What is the fee for family homes?", "How do I leave early?", "What does leaving early cost?"} {
		if a := below(question, islands, leavingIsland); len(a.Sentences) > 0 || a.Held {
			t.Errorf("%s: %q", question, texts(a))
		}
	} // what reaches the threshold goes before
	other := islandTalk
	other.ChunkID, other.Content = "other", "Reedwire 200 costs €31.60 a month."
	a, err := Extractor{}.Answer(context.Background(), Input{
		Question: "How much is Reedwire 200 a month?", Matches: []corpus.Match{islandTalk}, Others: []corpus.Match{other},
	})
	if err != nil || !slices.Equal(a.Used, []string{"talk"}) {
		t.Errorf("beside one that reaches it: %+v (%v)", a, err)
	}
	// and nothing from below it is added
	other.Content = "The delivery of an Ottermoor costs 66 €."
	a, err = Extractor{}.Answer(context.Background(), Input{
		Question: "How much is an Ottermoor and the delivery?", Matches: []corpus.Match{boats}, Others: []corpus.Match{other},
	})
	if err != nil || !slices.Equal(a.Used, []string{"boats"}) {
		t.Errorf("as a second part: %+v (%v)", a, err)
	}
}

func TestReadRow_TellsAThingFromWhatItBelongsTo(t *testing.T) {
	r := readRow("Boat: Winter cover for an Ottermoor; Sail: none; Seats: 2; Speed: 2 Gbit/s.")
	if !r.head["cover"] || r.head["ottermoor"] || !r.of["ottermoor"] {
		t.Errorf("head %v, of %v", r.head, r.of)
	}
	if !r.cells[0].denies || r.cells[1].denies || r.cells[2].number != "#2000" {
		t.Errorf("cells %+v", r.cells)
	}
}
