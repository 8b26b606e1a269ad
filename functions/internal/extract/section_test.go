package extract

import (
	"context"
	"slices"
	"testing"

	"porchlight/functions/internal/corpus"
)

var (
	mooring = corpus.Match{
		ChunkID: "mooring", SourceType: "policy", SourceTitle: "Ending a berth", HeadingPath: "Ending a berth › Ending early", Language: "en",
		Content: "The harbour releases a boat early when the pier is closed. The same holds after a storm. In every other case half of the season is owed.",
	}
	notes = corpus.Match{
		ChunkID: "notes", SourceType: "policy", SourceTitle: "Data", HeadingPath: "Data › How long we keep notes", Language: "en",
		Content: "Notes about a visit are deleted after 33 days.",
	}
	unsigned = corpus.Match{
		ChunkID: "unsigned", SourceType: "objection", SourceTitle: "Objections", HeadingPath: `Objections › "I sign nothing on the pier."`, Language: "en",
		Content: "You do not have to sign today: the berth is kept for you.",
	}
	leavingBerth = corpus.Match{
		ChunkID: "leave", SourceType: "policy", SourceTitle: "Ending a berth", HeadingPath: "Ending a berth › Notice", Language: "en",
		Content: "Customers cancel at the desk or by letter. The desk confirms it at once.",
	}
	surplus = corpus.Match{
		ChunkID: "surplus", SourceType: "price", SourceTitle: "Fees and the price for spare fish", HeadingPath: "Fees and the price for spare fish", Language: "en", IsPricing: true,
		Content: "The harbour charges for work and for nothing else. Cleaning and ice are free.",
	}
	fish = corpus.Match{
		ChunkID: "fish", SourceType: "price", SourceTitle: "Fees and the price for spare fish", HeadingPath: "Fees and the price for spare fish › Spare fish", Language: "en", IsPricing: true,
		Content: "The harbour pays 3.20 € a kilo for spare fish from the evening boats.",
	}
	moving = corpus.Match{
		ChunkID: "mudanza", SourceType: "faq", SourceTitle: "Preguntas", HeadingPath: "Preguntas › ¿Y si cambio de puerto?", Language: "es",
		Content: "Avise con tres semanas. Si el nuevo puerto no tiene sitio, el contrato termina con diez días de preaviso.",
	}
)

func TestAnswer_TakesTheSectionThatIsAsked(t *testing.T) {
	for _, tc := range []struct {
		rule, question string
		matches        []corpus.Match
		want           []string
	}{
		{"a section that is asked for is told from its first sentence", "Can they get out of the berth early?", []corpus.Match{mooring}, []string{
			"The harbour releases a boat early when the pier is closed.", "The same holds after a storm.", "In every other case half of the season is owed.",
		}},
		{"a time of something else is none", "How long is the customer tied?", []corpus.Match{notes}, nil},
		{"the act that is asked about counts", "Can they cancel after signing today?", []corpus.Match{unsigned, leavingBerth}, []string{
			"Customers cancel at the desk or by letter.",
		}},
		{"what is priced stands in the sentence itself", "Do you pay for spare fish?", []corpus.Match{surplus, fish}, []string{
			"The harbour pays 3.20 € a kilo for spare fish from the evening boats.",
		}},
		{"the reply to another question of an FAQ is none", "¿Cuál es el plazo de preaviso para cancelar?", []corpus.Match{moving}, nil},
		{"nothing shared in Spanish", "¿Cómo se hace una sopa de lentejas?", []corpus.Match{moving, faqES}, nil},
		{"what nobody lists of a named thing", "What do we earn on Kestrel each month?", []corpus.Match{tariffs}, nil},
		{"a commission", "What commission do I get for Kestrel Plus?", []corpus.Match{tariffs}, nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			if got := texts(ask(t, tc.question, tc.matches...)); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Near vectors alone do not answer in a language that the model knows badly: all its texts are near.
func TestAnswer_DoesNotTrustMeaningInOtherLanguages(t *testing.T) {
	e := Extractor{Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
	}}
	for _, question := range []string{"¿Cómo se hace una sopa de lentejas?", "Der Hund bellt mich an"} {
		a, err := e.Answer(context.Background(), Input{Question: question, Language: "en", Matches: []corpus.Match{moving, faqDE, faqES}})
		if err != nil || len(a.Sentences) > 0 {
			t.Errorf("%s: %q, error %v", question, texts(a), err)
		}
	}
}

func TestAnswer_EmbedsFewTexts(t *testing.T) {
	most := 0
	e := Extractor{Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		most = max(most, len(texts))
		return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
	}}
	for question, isEmbedded := range map[string]bool{"Who reads the meter?": true, "What does Kestrel cost?": false} {
		most = 0
		if _, err := e.Answer(context.Background(), Input{Question: question, Matches: library}); err != nil {
			t.Fatal(err)
		}
		if most > maxEmbedded || most > 0 != isEmbedded {
			t.Errorf("%s: %d texts", question, most)
		}
	}
}
