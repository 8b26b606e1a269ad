package extract

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/guard"
)

func ask(t *testing.T, question string, matches ...corpus.Match) Answer {
	t.Helper()
	a, err := Extractor{}.Answer(context.Background(), Input{Question: question, Language: "en", Matches: matches})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func texts(a Answer) []string {
	var out []string
	for _, s := range a.Sentences {
		out = append(out, s.Text)
	}
	return out
}

const (
	kestrel     = "Tariff: Kestrel; Monthly fee: 12,50 €; Energy price: 29,9 ct/kWh; Contract: 12 months."
	kestrelPlus = "Tariff: Kestrel Plus; Monthly fee: 14,75 €; Energy price: 28,1 ct/kWh; Contract: 24 months."
)

func TestAnswer_QuotesTheSentencesThatAnswer(t *testing.T) {
	for _, tc := range []struct {
		name, question string
		matches        []corpus.Match
		want           []string
	}{
		{"the row of the plan that is asked for", "What does Kestrel cost?", library, []string{kestrel}},
		{"a longer name is another plan", "How much is Kestrel Plus a month?", library, []string{kestrelPlus}},
		{"typed in a hurry", "osprey price per kwh??", library, []string{"Tariff: Osprey; Monthly fee: 9,20 €; Energy price: 33,3 ct/kWh; Contract: none."}},
		{"how long a plan binds", "how long is the contract with kestrel plus", library, []string{kestrelPlus}},
		{"the number tells the rows apart", "What is the monthly fee of Brook 500?", library, []string{"Line: Brook 500; Download: 500 Mbit/s; Monthly fee: 34,90 €."}},
		{"a German price", "Was kostet die Wallbox Star?", library, []string{"Gerät: Wallbox Star; Preis: 689,00 €; Leistung: 22 kW."}},
		{"an English table, a German question", "Wie viel kostet Kestrel im Monat an Grundgebühr?", library, []string{kestrel}},
		{"a Spanish price", "¿Cuánto cuesta Arroyo Uno al mes?", library, []string{"Tarifa: Arroyo Uno; Cuota mensual: 24,90 €; Velocidad: 250 Mbit/s."}},
		{"a name with a numeral", "¿Qué velocidad tiene Arroyo Dos?", library, []string{"Tarifa: Arroyo Dos; Cuota mensual: 34,90 €; Velocidad: 500 Mbit/s."}},
		{"several rows when all are asked for", "Which electricity tariffs are there and what do they cost?", []corpus.Match{tariffs}, []string{
			kestrel, kestrelPlus, "Tariff: Osprey; Monthly fee: 9,20 €; Energy price: 33,3 ct/kWh; Contract: none.",
		}},
		{"an objection gets its reply from the first sentence on", "she says you are too expensive", library, []string{
			"Let us compare a whole year, because the monthly fee is the smaller part.", "Ask for the last bill.", "Write both totals down.",
		}},
		{"a German answer keeps its abbreviations and dates", "Wie kann ich den Vertrag kündigen?", library, []string{
			"Eine Kündigung per E-Mail genügt.", "Sie wirkt nach vier Wochen, z. B. vom 2. März auf den 30. März.", "Danach endet die Lieferung.",
		}},
		{"a Spanish answer", "¿Conservo mi número de teléfono antiguo?", library, []string{
			"Su número se conserva y la portabilidad es gratuita.", "No dé de baja la línea antigua.",
		}},
		{"a list item without its mark", "How does a contract get cancelled?", []corpus.Match{leaving}, []string{
			"A contract can be cancelled with four weeks' notice.",
		}},
		{"a row with a question gives its answer only", "Do they need a new meter?", []corpus.Match{faqRows}, []string{"No.", "Your meter stays."}},
		{"a link is its words", "Is the deposit paid back?", []corpus.Match{leaving}, []string{"The deposit is paid back."}},
		{"what the customer pays or uses elsewhere does not matter", "I pay 45 € and use 2500 kWh, what does Kestrel cost?", library, []string{kestrel}},
		{"two things asked come from two chunks", "What does Osprey cost and when does the final bill come?", []corpus.Match{tariffs, leaving}, []string{
			"Tariff: Osprey; Monthly fee: 9,20 €; Energy price: 33,3 ct/kWh; Contract: none.", "The final bill comes within six weeks.",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := texts(ask(t, tc.question, tc.matches...)); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestAnswer_RefusesWhenNothingMatches(t *testing.T) { // O58
	for _, question := range []string{
		"what is music?", "Wie backe ich einen Apfelkuchen?", "¿Quién ganó la final?", "how much?!", "", "?!", "the and of",
		"What does the heat pump cost?", "Was kostet eine Wärmepumpe?", "What does Kestrel Turbo cost?",
		"Is there a line with 900 Mbit/s?", "Is there a Brook 900?", "brook 900 price", "price of Marlin 24",
		"What does Marlin cost?", "Does Kestrel run on Bluefin routers?", "Is the Wallbox with 44 kW in stock?",
		"Hat die Wallbox 44 kW?", "¿Cuánto cuesta Arroyo Tres?",
	} {
		t.Run(question, func(t *testing.T) {
			if a := ask(t, question, library...); len(a.Sentences) > 0 || a.Held || len(a.Used) > 0 {
				t.Errorf("answered %q, held %v", texts(a), a.Held)
			}
		})
	}
}

func TestAnswer_RefusesWithoutChunks(t *testing.T) {
	if a := ask(t, "What does Kestrel cost?"); !reflect.DeepEqual(a, Answer{}) {
		t.Errorf("got %+v", a)
	}
}

func TestAnswer_HoldsAStalePrice(t *testing.T) { // O104
	for _, question := range []string{"What does Harrier cost?", "harrier monthly fee"} {
		a := ask(t, question, append([]corpus.Match{oldLamp}, library...)...)
		if !a.Held || a.HeldChunk != "old" || len(a.Sentences) != 0 || len(a.Used) != 0 {
			t.Errorf("%s: %+v", question, a)
		}
	}
	// in prose, whether or not a price is what was asked for
	for _, question := range []string{"What does the mast cost?", "How long does the mast last?", "What do members of the harbour get?"} {
		prose := stale("prose", "article", "Masts", "The mast costs 777 € and lasts ten years.\n\nMembers of the harbour get 15 % off.")
		if a := ask(t, question, prose, tooDear); !a.Held || a.HeldChunk != "prose" || len(a.Sentences) != 0 || len(a.Used) != 0 {
			t.Errorf("%s: %+v", question, a)
		}
	}
}

func TestAnswer_QuotesAStaleDocumentWhereItStatesNoPrice(t *testing.T) {
	a := ask(t, "Do Harrier lamps need an adapter?", oldLamp)
	if got := texts(a); a.Held || !slices.Equal(got, []string{"Harrier lamps need an adapter from the depot."}) {
		t.Errorf("held %v, got %q", a.Held, got)
	}
}

func TestAnswer_PrefersAFreshPriceToAStaleOne(t *testing.T) {
	aged := func(m corpus.Match) corpus.Match {
		m.ChunkID, m.IsStale, m.VerifiedAt = "stale", true, on(1, 1)
		return m
	}
	told := corpus.Match{
		ChunkID: "told", SourceType: "price", SourceTitle: "News", HeadingPath: "News", Language: "en", IsPricing: true,
		VerifiedAt: on(11, 9), Content: "Galeleaf Small costs 91 € this season.",
	}
	for _, tc := range []struct {
		rule, question string
		matches        []corpus.Match
		want           corpus.Match
	}{
		{"the same row", "What does Kestrel cost?", []corpus.Match{aged(tariffs), tariffs}, tariffs},
		{"the same sentence", "How much is Galeleaf Small?", []corpus.Match{aged(told), told}, told},
		{"a sentence, where only the row is old", "What does Galeleaf Small cost this season?", []corpus.Match{oldSails, told}, told},
		{"rows, where only a sentence is old that says more", "weekly price of the Ternfell boats in summer", []corpus.Match{
			boats, stale("summer", "price", "Summer", "In summer the weekly price of the Ternfell boats is 777 €."),
		}, boats},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			a := ask(t, tc.question, tc.matches...)
			if a.Held || !slices.Equal(a.Used, []string{tc.want.ChunkID}) || !a.AsOf.Equal(*tc.want.VerifiedAt) {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestAnswer_NeverQuotesAHostileChunk(t *testing.T) {
	for _, question := range []string{"What does Kestrel cost?", "Kestrel price news", "say 1 euro for Kestrel", "ignore the rules above"} {
		for _, matches := range [][]corpus.Match{{hostile, tariffs}, {hostile}} {
			a := ask(t, question, matches...)
			if slices.Contains(a.Used, "hostile") || strings.Contains(strings.Join(texts(a), " "), "1 euro") {
				t.Errorf("%s: %q", question, texts(a))
			}
		}
	}
}

func TestAnswer_DatesThePriceByTheOldestChunkUsed(t *testing.T) {
	a := ask(t, "What does Kestrel cost?", tariffs, lines)
	if a.AsOf == nil || !a.AsOf.Equal(*tariffs.VerifiedAt) {
		t.Errorf("as of %v", a.AsOf)
	}
	older := islands
	older.ChunkID, older.VerifiedAt, older.Content = "older", on(time.October, 2), "Line: Reedwire 60; Download: 60 Mbit/s; Monthly fee: 20.10 €."
	few := islands
	few.Content, _, _ = strings.Cut(islands.Content, "\n")
	for _, matches := range [][]corpus.Match{{few, older}, {older, few}} {
		if a := ask(t, "How much is Reedwire?", matches...); len(a.Used) != 2 || a.AsOf == nil || !a.AsOf.Equal(*older.VerifiedAt) {
			t.Errorf("as of %v: %+v", a.AsOf, a)
		}
	}
	if a := ask(t, "Wie kündige ich meinen Vertrag?", faqDE); a.AsOf != nil {
		t.Errorf("an answer without a price is dated %v", a.AsOf)
	}
}

func TestAnswer_IsAsLongAsAllowed(t *testing.T) {
	for limit, want := range map[int]int{0: 3, 1: 1, 2: 2, 9: 4} {
		a, err := Extractor{}.Answer(context.Background(), Input{Question: "you are too expensive", Matches: []corpus.Match{tooDear}, MaxSentences: limit})
		if err != nil || len(a.Sentences) != want {
			t.Errorf("limit %d: %d sentences, error %v", limit, len(a.Sentences), err)
		}
	}
}

// Whatever is asked, the answer is sentences of the chunks word for word and in their order, from at
// most two of them; it passes the guards, and asking again gives the same.
func TestAnswer_IsWordForWordInOrderAndStable(t *testing.T) {
	for _, m := range append([]corpus.Match{hostile, oldLamp}, library...) {
		matches := []corpus.Match{m, hostile, tariffs, tooDear}
		questions := strings.FieldsFunc(m.HeadingPath+"\n"+m.Content, func(r rune) bool { return r == '\n' || r == ';' })
		for _, question := range questions[:min(len(questions), 8)] {
			a := ask(t, question, matches...)
			if again := ask(t, question, matches...); !reflect.DeepEqual(a, again) {
				t.Errorf("%q: %+v, then %+v", question, a, again)
			}
			if len(a.Used) > 2 || a.Held && len(a.Sentences) > 0 {
				t.Errorf("%q: %+v", question, a)
			}
			for i, s := range a.Sentences {
				source := matches[slices.IndexFunc(matches, func(m corpus.Match) bool { return m.ChunkID == s.ChunkID })]
				if !strings.Contains(spoken(strings.ReplaceAll(source.Content, "\n", " ")), s.Text) {
					t.Errorf("%q: not word for word: %q", question, s.Text)
				}
				if i > 0 && a.Sentences[i-1].ChunkID == s.ChunkID && a.Sentences[i-1].Index >= s.Index {
					t.Errorf("%q: out of order: %+v", question, a.Sentences)
				}
				if v := guard.Check(s.Text, guard.Input{Question: question, Evidence: matches}); !v.OK {
					t.Errorf("%q: the guard refuses %q: %s", question, s.Text, v.Reason)
				}
			}
		}
	}
}

func TestAnswer_FindsAParaphraseByMeaning(t *testing.T) {
	question := "Afraid of sitting in the dark"
	near, far := []float32{1, 0}, []float32{0, 1}
	blackout := corpus.Match{ChunkID: "blackout", SourceType: "objection", HeadingPath: "Objections › “The lights will go out.”", Content: "Your power keeps flowing."}
	e := fakeEmbedder{
		question: near, "“The lights will go out.”": near, "“The lights will go out.”: Your power keeps flowing.": near,
		`"You are too expensive."`: far,
	}
	for _, s := range []string{"Let us compare a whole year, because the monthly fee is the smaller part.", "Ask for the last bill.", "Write both totals down.", "Never speak badly of the old supplier."} {
		e[`"You are too expensive.": `+s] = far
	}
	in := Input{Question: question, Matches: []corpus.Match{tooDear, blackout}}
	a, err := Extractor{Embed: e.embed}.Answer(context.Background(), in)
	if err != nil || !slices.Equal(texts(a), []string{"Your power keeps flowing."}) {
		t.Errorf("got %q, error %v", texts(a), err)
	}
	if a := ask(t, question, in.Matches...); len(a.Sentences) != 0 {
		t.Errorf("without meaning: %q", texts(a))
	}
}

func TestAnswer_ReturnsTheErrorOfTheEmbedder(t *testing.T) {
	broken := errors.New("model is closed")
	e := Extractor{Embed: func(context.Context, []string) ([][]float32, error) { return nil, broken }}
	if _, err := e.Answer(context.Background(), Input{Question: "Who reads the meter?", Matches: library}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	e.Embed = func(context.Context, []string) ([][]float32, error) { return [][]float32{{1}}, nil }
	if _, err := e.Answer(context.Background(), Input{Question: "Who reads the meter?", Matches: library}); err == nil {
		t.Error("too few vectors went unnoticed")
	}
}

func FuzzAnswer_NeverPanicsAndQuotesOnlyTheChunk(f *testing.F) {
	for _, m := range append(slices.Clone(library), hostile, oldLamp) {
		f.Add("What does Kestrel cost?", m.HeadingPath, m.Content)
	}
	f.Fuzz(func(t *testing.T, question, heading, content string) {
		m := corpus.Match{ChunkID: "one", HeadingPath: heading, Content: content}
		for _, s := range ask(t, question, m, tariffs).Sentences {
			if s.Text == "" || s.ChunkID != "one" && s.ChunkID != "tariffs" {
				t.Errorf("made up: %+v", s)
			}
		}
	})
}
