package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// scene is a question to the two brands and what must and must not come back.
type scene struct {
	name, brand, question string
	language              string // Accept-Language; empty: not sent
	outcome               string
	says, not             []string
	source                string // a title among the sources
}

func TestAsk_AnswersFromTheBrandsOwnDocuments(t *testing.T) {
	t.Parallel()
	for _, s := range []scene{
		{
			name: "a price with its date and source", brand: glowmere, question: "How much is Hearthfix 12 a month?",
			outcome: "answered", says: []string{"€11.40"}, source: "Home electricity tariffs",
		},
		{
			name: "the other brand's price, from the other brand", brand: skeinwick, question: "What is the monthly fee for Threadlight 300?",
			outcome: "answered", says: []string{"€32.75"}, source: "Home internet plans",
		},
		{
			name: "a row of a CSV table, with its decimal comma", brand: glowmere, question: "nite price for nightjar drive, one car",
			outcome: "answered", says: []string{"19,70 ct/kWh"}, not: []string{"1 euro"},
		},
		{
			name: "an objection", brand: glowmere, question: "They like solar but the battery is too expensive for them",
			outcome: "answered", says: []string{"You can start without a battery"},
		},
		{
			name: "the FAQ in German", brand: glowmere, question: "Ich wohne zur Miete und will in der Tiefgarage einen Ladepunkt, geht das?",
			outcome: "answered", says: []string{"schriftliche Zustimmung des Vermieters"}, source: "Häufige Fragen",
		},
		{
			name: "the FAQ in Spanish", brand: glowmere, question: "¿Puedo hablar por teléfono con alguien en español?",
			outcome: "answered", says: []string{"Los martes y los jueves"}, not: []string{"intérprete"}, source: "Preguntas frecuentes",
		},
		{
			name: "a stale price is held, without the number", brand: glowmere, question: "What does a Plugfinch 11 cost to buy?",
			outcome: "held", says: []string{"2 March 2026", "90 days"}, not: []string{"749", "16.90", "868"}, source: "Wallbox hardware and rental, spring list",
		},
		{
			name: "and says so in the language of the question", brand: glowmere, question: "Was kostet ein Plugfinch 11?", language: "en",
			outcome: "held", says: []string{"2. März 2026", "90 Tage"}, not: []string{"749"},
		},
		{ // O58
			name: "a question outside the documents gets the fallback, and nothing is generated", brand: glowmere, question: "who won the football world cup in 1998",
			outcome: "no_match", says: []string{"I have nothing on that in the Glowmere documents"}, not: []string{"France"},
		},
		{
			name: "the fallback in German, like the question", brand: glowmere, question: "Wie backe ich einen Apfelkuchen?", language: "en",
			outcome: "no_match", says: []string{"Dazu steht nichts in den Unterlagen von Glowmere"},
		},
		{
			name: "the fallback in the language that the client prefers, where the question has none", brand: skeinwick, question: "Canberra, Australia?", language: "es-MX,es;q=0.9,en;q=0.5",
			outcome: "no_match", says: []string{"Los documentos de Skeinwick no dicen nada de eso"}, not: []string{"capital"},
		},
		{
			name: "the brand's own language where its words are missing in another", brand: skeinwick, question: "Canberra, Australia?", language: "fr",
			outcome: "no_match", says: []string{"The Skeinwick documents say nothing about that"},
		},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			a := doorstep.rep(t, s.brand).ask(s.question, "Accept-Language: "+s.language)
			checkScene(t, s, a)
			if a.Index != "local" {
				t.Errorf("index %q", a.Index)
			}
		})
	}
}

func checkScene(t *testing.T, s scene, a answer) {
	t.Helper()
	if a.Outcome != s.outcome {
		t.Errorf("outcome %s, want %s: %s", a.Outcome, s.outcome, a.said())
	}
	for _, text := range s.says {
		if !strings.Contains(a.said(), text) {
			t.Errorf("%q is not in %q", text, a.said())
		}
	}
	if s.source != "" && !strings.Contains(a.titles(), s.source) {
		t.Errorf("sources %s, want %s", a.titles(), s.source)
	}
	a.mustNotSay(t, s.not...)
}

func TestAsk_APriceCarriesTheDateOfItsSource(t *testing.T) {
	t.Parallel()
	a := doorstep.rep(t, glowmere).ask("How much is Hearthfix 12 a month?")
	if a.AsOf == nil || a.Model != "extractive" || len(a.Sources) == 0 {
		t.Fatalf("no date, source or model: %s", a.body)
	}
	s := a.Sources[0]
	if s.VerifiedAt == nil || *s.VerifiedAt != *a.AsOf || s.IsStale || s.Type != "price" ||
		s.URL != "https://glowmere-energy.example/tariffs/home" {
		t.Errorf("as of %s, source %+v", *a.AsOf, s)
	}
}

func TestAsk_IsTheSameAsOneJSONBody(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	for _, question := range []string{"How much is Hearthfix 12 a month?", "What does a Plugfinch 11 cost to buy?", "who won the football world cup in 1998"} {
		stream := rep.ask(question)
		doorstep.told.add(question)
		r := rep.post("/v1/ask", encode(t, map[string]string{"question": question}), "Accept: application/json")
		r.want(t, http.StatusOK, "")
		if kind := r.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
			t.Errorf("Content-Type %q", kind)
		}
		var whole struct {
			facts
			TurnID string `json:"turn_id"`
			Answer string `json:"answer"`
		}
		decode(t, r.body, &whole)
		if whole.TurnID == "" || whole.TurnID == stream.turnID {
			t.Errorf("turn %q", whole.TurnID)
		}
		whole.MS, stream.MS = nil, nil
		if got, want := encode(t, whole.facts), encode(t, stream.facts); got != want || whole.Answer != stream.said() {
			t.Errorf("as JSON %s %q\nas stream %s %q", got, whole.Answer, want, stream.said())
		}
	}
}

// A decomposed letter, a soft hyphen and a no-break space are the same question. O30
func TestAsk_SpellingsOfOneLetterAreOneQuestion(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	composed := rep.ask("¿Puedo hablar por tel\u00e9fono con alguien en espa\u00f1ol?")
	decomposed := rep.ask("\u00bfPuedo hablar por tele\u0301fono con al\u00adguien en espan\u0303ol?\r\n")
	if composed.said() != decomposed.said() || encode(t, composed.Sources) != encode(t, decomposed.Sources) {
		t.Errorf("composed: %s\ndecomposed: %s", composed.said(), decomposed.said())
	}
}

func TestAsk_KeepsAConversationOfOnesOwn(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	first := rep.ask("How much is Hearthfix 12 a month?")
	rep.askWith(map[string]string{"question": "And Tideflex a month?", "conversation_id": first.turnID})
	got := doorstep.text(t, `select count(*)::text from app.turns where conversation_id = $1 and status <> 'running'`, first.turnID)
	if got != "2" {
		t.Errorf("%s turns in the conversation, want 2", got)
	}
}
