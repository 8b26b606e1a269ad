package extract

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/guard"
)

// stale is a document of Pebblewick in which every price is 777 € and was verified too long ago.
func stale(id, sourceType, heading, content string) corpus.Match {
	title, _, _ := strings.Cut(heading, " › ")
	return corpus.Match{
		ChunkID: id, SourceType: sourceType, SourceTitle: title, HeadingPath: heading, Language: "en",
		IsPricing: true, IsStale: true, VerifiedAt: on(time.January, 8), Content: content,
	}
}

var (
	oldMast = stale("mast", "faq", "Questions › Do Galeleaf sails need a mast?",
		"Galeleaf sails need a mast of ash. It is fitted on the pier. The mast costs 777 € and lasts ten years.")
	oldRope = stale("rope", "price", "Sailing rope", "Sail: Galeleaf Small; Rope: hemp; Price: on request.\n"+
		"Sail: Galeleaf Large; Rope: hemp; Price: 777 €.\nSail: Galeleaf Storm; Rope: hemp; Price: on request.")
	oldColumns  = stale("columns", "price", "Sailing gear", "Sail: Galeleaf Small; Price (€): 777; Rope: hemp.\nSail: Galeleaf Large; EUR a day: 777; Rope: hemp.")
	oldDuties   = stale("duties", "policy", "Rope rules › Care", "- Dry the rope on the pier.\n- A new rope is 777 €.\n- Hemp rope lasts two seasons.")
	oldMasts    = stale("masts", "article", "Masts", "These masts are offered:\n- Ash mast, 777 €\n- Pine mast, on request\n\nThe ash mast bends.")
	oldTooDear  = stale("dear-sails", "objection", `Objections › "Sails are too dear."`, "Let us count a whole season. A Galeleaf costs 777 € once. Ask what they pay for fuel.")
	oldAnswers  = stale("answers", "faq", "Answers", "Question: Does the pier rent sails?; Answer: Yes. A day costs 777 €.\nQuestion: Who dries the rope?; Answer: You do. Drying is 777 € at the desk.")
	oldDelivery = stale("delivery", "policy", "Delivery", "The delivery of an Ottermoor costs 777 €.")
	pier        = corpus.Match{
		ChunkID: "pier", SourceType: "policy", SourceTitle: "Pier", HeadingPath: "Pier › Opening hours", Language: "en",
		Content: "The pier opens at nine every morning.",
	}
	oldTag = stale("tag", "price", "Gear › From 777 €", "Galeleaf Small (hemp rope)\n777 €\n\nGaleleaf Large, 777,-")
)

// O104: an old price is not said in company either: after a sentence of its document that states none, in a
// row beside the row that answers, or as the second part of an answer.
func TestAnswer_NeverSaysAStalePriceBesideAnotherSentence(t *testing.T) {
	for _, tc := range []struct {
		rule, question string
		matches        []corpus.Match
		want           []string
	}{
		{"the sentences before it are said", "Do Galeleaf sails need a mast?", []corpus.Match{oldMast}, []string{
			"Galeleaf sails need a mast of ash.", "It is fitted on the pier.",
		}},
		{"the rows around it are said", "Which rope do the Galeleaf sails have?", []corpus.Match{oldRope}, []string{
			"Sail: Galeleaf Small; Rope: hemp; Price: on request.", "Sail: Galeleaf Storm; Rope: hemp; Price: on request.",
		}},
		{"it is no second part of an answer from a table", "How much is an Ottermoor and the delivery?", []corpus.Match{boats, oldDelivery}, []string{
			"Boat: Ottermoor; Seats: 2; Sail: none; Weekly price: 210 €; Deposit: 90 €.",
		}},
		{"nor of one in prose", "When does the pier open in the morning and what does the delivery cost?", []corpus.Match{pier, oldDelivery}, []string{
			"The pier opens at nine every morning.",
		}},
		{"nor one of several rows", "How much is the Ternfell?", []corpus.Match{
			stale("old-boats", "price", "Boats", "Boat: Ternfell Wide; Seats: 2; Sail: none; Weekly price: 777 €."), boats,
		}, []string{
			"Boat: Ternfell Short; Seats: 1; Sail: none; Weekly price: 150 €; Deposit: 60 €.",
			"Boat: Ternfell Long; Seats: 3; Sail: none; Weekly price: 260 €; Deposit: 90 €.",
		}},
		{"the column may have the currency", "Which rope does the Galeleaf Small have?", []corpus.Match{oldColumns}, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := texts(ask(t, tc.question, tc.matches...)); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// The same whatever is asked, with and without meaning, above and below the threshold.
func TestAnswer_NeverSaysAStalePriceWhateverIsAsked(t *testing.T) {
	near := func(_ context.Context, texts []string) ([][]float32, error) {
		return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
	}
	few := boats
	few.Content, _, _ = strings.Cut(boats.Content, "\n")
	for _, old := range []corpus.Match{oldMast, oldRope, oldColumns, oldDuties, oldMasts, oldTooDear, oldAnswers, oldTag, oldDelivery} {
		words := guard.Words(old.HeadingPath + " " + old.Content)
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			for _, in := range []Input{
				{Question: word, Matches: []corpus.Match{old}},
				{Question: "Which " + word + " do the sails have?", Matches: []corpus.Match{few, old}},
				{Question: "How much is an Ottermoor and the " + word + "?", Matches: []corpus.Match{few, old}},
				{Question: "How much is " + word + "?", Matches: []corpus.Match{few}, Others: []corpus.Match{old}},
			} {
				for _, e := range []Extractor{{}, {Embed: near}} {
					a, err := e.Answer(context.Background(), in)
					if said := strings.Join(texts(a), " "); err != nil || strings.Contains(said, "777") {
						t.Errorf("%s: %q (%v)", in.Question, said, err)
					}
				}
			}
		}
	}
}
