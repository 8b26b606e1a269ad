package ingest

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
)

func brandFile(text string) fs.FS { return fstest.MapFS{BrandFile: {Data: []byte(text)}} }

func TestReadBrand_ReadsEveryField(t *testing.T) {
	got, err := ReadBrand(brandFile(`
slug: amber-grid
name: Amber Grid
language: de
time_zone: Europe/Berlin
personas:
  de: {persona: "Du hilfst.", fallback: "Nichts gefunden."}
  es: {persona: "Ayudas.", fallback: "Nada."}
quota_pool: demo
limits: {turns_per_day: 5, turns_per_minute: 2, removal_percent: 0, verified_within_days: 30, question_characters: 100}
members:
  - {email: ana@amber-grid.example, role: rep}
  - {email: bo@amber-grid.example, role: admin}
sources: {tarife/: price, prices: article}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Brand{
		Slug: "amber-grid", Name: "Amber Grid", Language: "de", TimeZone: "Europe/Berlin", Pool: "demo",
		Personas: map[string]Persona{"de": {"Du hilfst.", "Nichts gefunden."}, "es": {"Ayudas.", "Nada."}},
		Limits:   Limits{5, 2, 0, 30, 100},
		Members:  []Member{{"ana@amber-grid.example", "rep"}, {"bo@amber-grid.example", "admin"}},
		Sources: map[string]string{
			"tarife": "price", "prices": "article", "objections": "objection", "scripts": "script",
			"policies": "policy", "faq": "faq", "articles": "article",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadBrand_FillsInWhatIsNotSaid(t *testing.T) {
	got, err := ReadBrand(brandFile("slug: amber\nname: Amber\nlimits: {turns_per_day: 7}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Language != "en" || got.TimeZone != "UTC" || got.Pool != "shared" || got.Limits != (Limits{7, 10, 20, 90, 2000}) {
		t.Errorf("got %+v", got)
	}
	if p := got.Personas["en"]; !strings.Contains(p.Persona, "Amber") || p.Fallback == "" {
		t.Errorf("persona %+v", p)
	}
	want := Defaults{Language: "en", Visibility: corpus.Tenant, Types: usualFolders()}
	if diff := cmp.Diff(want, got.Defaults()); diff != "" {
		t.Error(diff)
	}
}

func TestReadBrand_WritesTheFallbackInTheLanguageOfThePersona(t *testing.T) {
	got, err := ReadBrand(brandFile("slug: a\nname: A\npersonas: {de: {persona: x}, es: {persona: y}, fr: {persona: z}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{"de": "Unterlagen", "es": "documentos", "fr": "documents", "en": "documents"} {
		if !strings.Contains(got.Personas[language].Fallback, want) {
			t.Errorf("%s: %q", language, got.Personas[language].Fallback)
		}
	}
}

func TestReadBrand_NamesFileLineAndField(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown field", "slug: a\nname: A\nlanguag: en\n", `brand.yaml: line 3: unknown field "languag"`},
		{"unknown nested field", "slug: a\nlimits:\n  turns: 5\n", `brand.yaml: line 3: unknown field "turns"`},
		{"unknown member field", "slug: a\nmembers:\n  - email: a@b.example\n    rolle: rep\n", `brand.yaml: line 4: unknown field "rolle"`},
		{"wrong type", "slug: a\nlimits:\n  turns_per_day: many\n", `brand.yaml: line 3: field "turns_per_day" has the wrong type`},
		{"list for text", "slug: [a]\n", `brand.yaml: line 1: field "slug" has the wrong type`},
		{"not YAML", "slug: 'a\n", "brand.yaml: line 1: "},
		{"twice", "slug: a\nslug: b\n", "brand.yaml: line 2: "},
		{"empty file", "", "brand.yaml: slug: "},
		{"bad slug", "slug: Amber Grid\nname: A\n", "brand.yaml: slug: "},
		{"no name", "slug: a\n", "brand.yaml: name "},
		{"bad language", "slug: a\nname: A\nlanguage: english\n", `brand.yaml: language: unknown language "english"`},
		{"bad zone", "slug: a\nname: A\ntime_zone: Mars/Base\n", `brand.yaml: time_zone: unknown zone "Mars/Base"`},
		{"bad persona language", "slug: a\nname: A\npersonas: {xx: {persona: p}}\n", `brand.yaml: personas: unknown language "xx"`},
		{"bad source type", "slug: a\nname: A\nsources: {blog: poem}\n", `brand.yaml: sources.blog: unknown type "poem"`},
		{"half a limit", "slug: a\nname: A\nlimits: {turns_per_day: 1.5}\n", "brand.yaml: limits.turns_per_day: must be a whole number"},
		{"no number", "slug: a\nname: A\nlimits: {turns_per_day: .nan}\n", "brand.yaml: limits.turns_per_day: must be a whole number"},
		{"zero limit", "slug: a\nname: A\nlimits: {turns_per_minute: 0}\n", "brand.yaml: limits.turns_per_minute: "},
		{"bad role", "slug: a\nname: A\nmembers: [{email: a@b.example, role: boss}]\n", "brand.yaml: members[0].role: "},
		{"bad address", "slug: a\nname: A\nmembers: [{email: ana, role: rep}]\n", "brand.yaml: members[0].email: "},
		{
			"same person twice", "slug: a\nname: A\nmembers: [{email: a@b.example, role: rep}, {email: A@b.example, role: rep}]\n",
			"brand.yaml: members[1].email: listed twice",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadBrand(brandFile(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "a@b.example") {
				t.Errorf("the error shows an address: %v", err)
			}
		})
	}
}

func TestReadBrand_FailsWithoutTheFile(t *testing.T) {
	if _, err := ReadBrand(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
