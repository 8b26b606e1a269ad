package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"

	"porchlight/functions/internal/corpus"
)

// BrandFile is the file of a brand's folder that says who the brand is.
const BrandFile = "brand.yaml"

// Brand is what brand.yaml says. Only slug and name are required.
type Brand struct {
	Slug     string             `yaml:"slug" json:"slug"`             // lower-case words joined by hyphens, at most 63 characters
	Name     string             `yaml:"name" json:"name"`             // as people write it
	Language string             `yaml:"language" json:"language"`     // ISO 639-1, of documents that do not say; "en"
	TimeZone string             `yaml:"time_zone" json:"time_zone"`   // IANA name, where the brand's day turns; "UTC"
	Pool     string             `yaml:"quota_pool" json:"quota_pool"` // whose key of the model provider it uses; "shared"
	Personas map[string]Persona `yaml:"personas" json:"personas"`     // by language; one for Language always exists
	Limits   Limits             `yaml:"limits" json:"limits"`
	Members  []Member           `yaml:"members" json:"members"`
	Sources  map[string]string  `yaml:"sources" json:"sources"` // folder → source type, beside the usual folders
}

// Persona is how the assistant of a brand speaks in one language.
type Persona struct {
	Persona  string `yaml:"persona" json:"persona"`   // who it is, for the model
	Fallback string `yaml:"fallback" json:"fallback"` // what it says when nothing in the documents answers
}

// Limits bound what a brand's people may ask. They are whole numbers, and float64 only because the decoder
// would cut 1.5 to 1.
type Limits struct {
	TurnsPerDay        float64 `yaml:"turns_per_day" json:"turns_per_day"`               // of the whole brand; 500
	TurnsPerMinute     float64 `yaml:"turns_per_minute" json:"turns_per_minute"`         // of one user; 10
	RemovalPercent     float64 `yaml:"removal_percent" json:"removal_percent"`           // of its passages that a reindex may remove untold; 20
	VerifiedWithinDays float64 `yaml:"verified_within_days" json:"verified_within_days"` // age at which a price is stale; 90
	QuestionCharacters float64 `yaml:"question_characters" json:"question_characters"`   // 2,000
}

// Member is a person who may ask (role "rep") or also manage the documents (role "admin").
type Member struct {
	Email string `yaml:"email" json:"email"`
	Role  string `yaml:"role" json:"role"`
}

// ReadBrand reads brand.yaml at the root of fsys. A field that it doesn't know is an error. Errors
// name the file, the line where there is one, and the field.
func ReadBrand(fsys fs.FS) (Brand, error) {
	file, err := fsys.Open(BrandFile)
	if err != nil {
		return Brand{}, fmt.Errorf("read brand: %w", err)
	}
	defer file.Close()

	b := Brand{
		Language: "en",
		TimeZone: "UTC",
		Pool:     "shared",
		Limits:   Limits{TurnsPerDay: 500, TurnsPerMinute: 10, RemovalPercent: 20, VerifiedWithinDays: 90, QuestionCharacters: 2000},
	}
	err = yaml.NewDecoder(file, yaml.DisallowUnknownField()).Decode(&b)
	if err != nil && !errors.Is(err, io.EOF) {
		return Brand{}, fmt.Errorf("%s: %w", BrandFile, plainYAMLError(err))
	}
	if err := b.check(); err != nil {
		return Brand{}, fmt.Errorf("%s: %w", BrandFile, err)
	}
	b.complete()
	return b, nil
}

// Defaults returns what the brand's documents are when they do not say.
func (b Brand) Defaults() Defaults {
	return Defaults{Language: b.Language, Visibility: corpus.Tenant, Types: b.Sources}
}

// plainYAMLError keeps line, field and message, and leaves out the excerpt of the file that the
// parser would print: it holds people's addresses.
func plainYAMLError(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return err
	}
	line, message := 0, y.GetMessage()
	if t := y.GetToken(); t != nil {
		line = t.Position.Line
		var wrongType *yaml.TypeError
		if errors.As(err, &wrongType) {
			message = fmt.Sprintf("field %q has the wrong type", fieldOf(t))
		}
	}
	return fmt.Errorf("line %d: %s", line, message)
}

// fieldOf returns the key that the value at t belongs to.
func fieldOf(t *token.Token) string {
	for ; t != nil && t.Prev != nil; t = t.Prev {
		if t.Type == token.MappingValueType {
			return t.Prev.Value
		}
	}
	return ""
}

var (
	pools  = regexp.MustCompile(`^[a-z0-9_]{1,30}$`) // as app.tenants.quota_pool allows
	slugs  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	emails = regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)
)

func (b *Brand) check() error {
	if len(b.Slug) > 63 || !slugs.MatchString(b.Slug) {
		return errors.New("slug: want lower-case words joined by hyphens, at most 63 characters")
	}
	if strings.TrimSpace(b.Name) == "" {
		return errors.New("name is missing")
	}
	if !isLanguage(b.Language) {
		return fmt.Errorf("language: unknown language %q", clip(b.Language))
	}
	if _, err := time.LoadLocation(b.TimeZone); err != nil || b.TimeZone == "Local" {
		return fmt.Errorf("time_zone: unknown zone %q", clip(b.TimeZone))
	}
	if !pools.MatchString(b.Pool) {
		return errors.New("quota_pool: want up to 30 of a to z, 0 to 9 and _")
	}
	for language := range b.Personas {
		if !isLanguage(language) {
			return fmt.Errorf("personas: unknown language %q", clip(language))
		}
	}
	for folder, kind := range b.Sources {
		if !slices.Contains(sourceTypes(), kind) {
			return fmt.Errorf("sources.%s: unknown type %q", clip(folder), clip(kind))
		}
	}
	return errors.Join(b.Limits.check(), checkMembers(b.Members))
}

func (l Limits) check() error {
	for _, f := range []struct {
		name               string
		value, least, most float64 // as app.tenant_limits allows
	}{
		{"turns_per_day", l.TurnsPerDay, 1, 1_000_000},
		{"turns_per_minute", l.TurnsPerMinute, 1, 1000},
		{"removal_percent", l.RemovalPercent, 0, 100},
		{"verified_within_days", l.VerifiedWithinDays, 1, 3650},
		{"question_characters", l.QuestionCharacters, 1, 8000},
	} {
		if f.value < f.least || f.value > f.most || f.value != math.Trunc(f.value) { // NaN is not equal to itself
			return fmt.Errorf("limits.%s: must be a whole number from %.0f to %.0f", f.name, f.least, f.most)
		}
	}
	return nil
}

func checkMembers(members []Member) error {
	seen := map[string]bool{}
	for i, m := range members {
		email := strings.ToLower(m.Email)
		switch {
		case !emails.MatchString(email):
			return fmt.Errorf("members[%d].email: not an e-mail address", i)
		case seen[email]:
			return fmt.Errorf("members[%d].email: listed twice", i)
		case m.Role != "rep" && m.Role != "admin":
			return fmt.Errorf("members[%d].role: want rep or admin", i)
		}
		seen[email] = true
	}
	return nil
}

// complete adds the usual folders and the brand's own persona where the file is silent.
func (b *Brand) complete() {
	types := usualFolders()
	for folder, kind := range b.Sources {
		types[strings.Trim(folder, "/")] = kind
	}
	b.Sources = types

	if b.Personas == nil {
		b.Personas = map[string]Persona{}
	}
	if _, ok := b.Personas[b.Language]; !ok {
		b.Personas[b.Language] = Persona{}
	}
	for language, p := range b.Personas {
		if p.Persona == "" {
			p.Persona = "You help the people who sell for " + b.Name + "."
		}
		if p.Fallback == "" {
			p.Fallback = fallback(language)
		}
		b.Personas[language] = p
	}
}

func fallback(language string) string {
	switch language {
	case "de":
		return "Dazu steht nichts in den Unterlagen. Bitte frag jemanden, der es sicher weiß."
	case "es":
		return "Los documentos no dicen nada de eso. Pregunta a alguien que lo sepa con seguridad."
	}
	return "The documents say nothing about that. Please ask someone who knows for certain."
}
