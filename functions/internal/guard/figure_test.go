package guard

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestStatesPrice_RecognisesAmountsInWordsAndWithDashes(t *testing.T) {
	for text, want := range map[string]bool{
		"The lampcheck costs twenty euros.":       true,
		"Das kostet fünfundvierzig Euro.":         true,
		"Cuesta treinta y cinco euros al mes.":    true,
		"Cuesta mil euros.":                       true,
		"Das kostet tausend Euro.":                true,
		"A fee of ninety-nine cents applies.":     true,
		"It costs a hundred and twenty pounds.":   true,
		"Kostet zwanzig Schweizer Franken.":       true,
		"The moss removal costs 45,- for a wall.": true,
		"Je Wand 45,–":                            true,
		"45.-- netto":                             true,
		"Es kostet 45,-.":                         true,
		"It costs 249 kr a month.":                true,
		"The visit costs 20 ₺.":                   true,
		"每月 500 欧元":                               true,
		"월 12000원":                                true,
		"500 يورو":                                true,
		"Lamp: Reed; Fee (CHF): 12; Watts: 5.":    true,
		"Lamp: Reed; Fee in kr/USD : 12.":         true,
		"Take two or three boxes.":                false,
		"See pages 2,-3 and 4.":                   false,
		"Mil gracias por la visita.":              false,
		"Version 4.-beta is out.":                 false,
		"The crew needs twenty minutes.":          false,
		"In twenty European countries.":           false,
		"Paid in EUR; Lamps: 12.":                 false,
	} {
		if got := StatesPrice(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// What the database takes for a price has to be verified by a person. When that is late the chunk is stale,
// and of a stale chunk only the sentences that state no price are said: so none of these may be missed.
func TestStatesPrice_MissesNoneThatTheDatabaseTakes(t *testing.T) {
	examples, err := os.ReadFile("../../../tests/sql/00_foundation/02_text.sql")
	if err != nil {
		t.Fatal(err)
	}
	prices := regexp.MustCompile(`(?m)^    \('(.*)', true\),?$`).FindAllStringSubmatch(string(examples), -1)
	if len(prices) < 20 {
		t.Fatalf("only %d examples", len(prices))
	}
	for _, parts := range prices {
		if text := strings.ReplaceAll(parts[1], "''", "'"); !StatesPrice(text) {
			t.Errorf("%q is a price for the database and none here", text)
		}
	}
}

func TestFigures_GivesTheSizeInTheBaseUnit(t *testing.T) {
	for text, want := range map[string]string{
		"a line with 1 Gbit/s": "1000", "the 1 gig line": "1000", "2.5 gigabit": "2500", "1.000 Mbit/s": "1000",
		"8 kW": "8", "7500 W": "7.5", "two years": "24", "plan 300": "300", "1.2.3": "1.2.3",
	} {
		got := Figures(text)
		if !slices.ContainsFunc(got, func(f Figure) bool { return f.Size == want }) {
			t.Errorf("%q: %+v, want size %s", text, got, want)
		}
	}
}
