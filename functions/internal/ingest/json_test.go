package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSON_FlattensWithLabels(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a price list", `[{"plan":"Flex","fee":12.50,"term":null},{"plan":"Fix","fee":10,"new":true}]`, []string{"plan: Flex; fee: 12.50.", "plan: Fix; fee: 10; new: true."}},
		{"numbers to the last digit", `{"sku":9007199254740993,"price":1299.00,"big":1E400,"share":-0.50,"code":"0042"}`, []string{"sku: 9007199254740993; price: 1299.00; big: 1E400; share: -0.50; code: 0042."}}, // O15
		{"nested values", `[{"plan":"Flex","price":{"amount":12.50,"unit":{"of":"EUR"}},"tags":["a","b",""]}]`, []string{"plan: Flex; price amount: 12.50; price unit of: EUR; tags: a, b."}},
		{"documents", `[{"title":"Roofs","published":"2026-11-20","topic":"Solar","text":"One.\n\nTwo."},{"title":"Walls","text":"Three."}]`, []string{"# Roofs", "published: 2026-11-20; topic: Solar.", "One.", "Two.", "# Walls", "Three."}},
		{"objections", `{"objections":[{"objection":"Too dear.","response":"It pays back.","stage":"close"},{"objection":"Later.","response":"The price holds until May."}]}`, []string{"# objections", "# objections › Too dear.", "stage: close.", "It pays back.", "# objections › Later.", "The price holds until May."}},
		{"names of any spelling", `[{"chunk_heading":"A","chunkText":"B"},{"Frage":"C","Antwort":"D"}]`, []string{"# A", "B", "# C", "D"}},
		{"lists under names", `{"region":"North","plans":[{"name":"Flex","fee":1}],"fees":{"Flex":{"month":1.0,"year":12},"Fix":{"month":2}}}`, []string{"region: North.", "# plans", "name: Flex; fee: 1.", "# fees", "Flex; month: 1.0; year: 12.", "Fix; month: 2."}},
		{"products with a description", `[{"name":"Gate 5","price":99.00,"description":"A router."}]`, []string{"name: Gate 5; price: 99.00; description: A router."}},
		{"a text in HTML", `[{"title":"A","body":"<p>It costs <b>12 €</b>.</p><p style='display:none'>1 €</p><ul><li>x</ul>"}]`, []string{"# A", "It costs 12 €.", "- x"}},
		{"less than is no tag", `["<24h> & more"]`, []string{"- <24h> & more"}},
		{"a long text without a known name", `{"note":"` + strings.Repeat("word ", 60) + `end"}`, []string{"note:", strings.Repeat("word ", 60) + "end"}},
		{"a text alone", `"Only this.\nAnd that."`, []string{"Only this.\nAnd that."}},
		{"a name twice", `{"fee":1,"fee":2}`, []string{"fee: 1; fee: 2."}},
		{"a zero character", `{"Tari\u0000fa":"Pla\u0000na"}`, []string{"Tarifa: Plana."}}, // O01
		{"sections of sections", `{"title":"Guide","sections":[{"heading":"A","content":"One.","sections":[{"heading":"B","content":"Two."}]},{"heading":"C","content":"Three."}]}`, []string{"# Guide", "# Guide › sections", "# Guide › sections › A", "One.", "# Guide › sections › A › sections", "# Guide › sections › A › sections › B", "Two.", "# Guide › sections › C", "Three."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustLoad(t, "a.json", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSON_TellsFactsAtTheTop(t *testing.T) {
	doc := mustLoad(t, "prices/a.json", `{"title":"Home plans","type":"FeatureCollection","language":"de","verified_at":"2026-11-20","plans":[{"plan":"Flex","fee":1}]}`)
	if s := doc.Source; s.Title != "Home plans" || s.Language != "de" || s.Type != "price" || s.VerifiedAt == nil {
		t.Errorf("%+v", s)
	}
	want := []string{"# Home plans", "type: FeatureCollection.", "# Home plans › plans", "plan: Flex; fee: 1."}
	if diff := cmp.Diff(want, texts(doc)); diff != "" {
		t.Error(diff)
	}
}

func TestJSON_RefusesWithTheReason(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no bytes", " ", "empty"},
		{"nothing in it", `{"a":[null,{"b":""}]}`, "no_readable_content: it holds no text and no numbers"},
		{"cut off", "{\n\"a\":\n[1,", "malformed: line 3: it is not JSON"},
		{"a comma too many", "[\n1,\n]", "malformed: line 3: it is not JSON"},
		{"two values", "{}\n{}", "malformed: line 2: it is not JSON"},
		{"half a surrogate pair", `["12 \ud83d"]`, "undecodable: U+FFFD stands where a character was lost; save it as UTF-8"},
		{"too deep", strings.Repeat("[", 70) + "1" + strings.Repeat("]", 70), "malformed: line 1: values are nested more than 64 deep"},
		{"far too deep", strings.Repeat(`{"a":`, 800_000), "malformed: line 1: it is not JSON"},
		{"a date that is none", `{"verified_at":"yesterday","a":1}`, "malformed: verified_at is not a date like 2026-11-20"},
		{"a date that is spelled wrong", `{"verifiedAt":"2026-11-20","a":1}`, `malformed: unknown fact "verifiedAt": is it verified_at?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.json", strings.NewReader(tt.text), Defaults{})
			if refusal, ok := err.(*Refusal); !ok || refusal.Why() != tt.want || refusal.Err != nil {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{`[{"title":"a","text":"b"}]`, `{"a":{"b":{"c":1}},"d":[1,"x"]}`, `"x"`, `[[1,[2]],{"name":"\ud800"}]`, `{"title":"a","a":{"x":{"y":1},"z":{"y":2}}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Load("a.json", strings.NewReader(text), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", text, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
	})
}
