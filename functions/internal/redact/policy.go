// Package redact takes personal data out of text by a policy that a person has reviewed, and then looks
// a second time, in another way: what is still there stops the text. It says which kind was left and
// never shows what.
//
// It finds forms, not meaning: an address of mail, a number with a checksum, what a label announces.
// Names have no form; those that must go stand in the policy as literals.
package redact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
)

// PolicyFile is the file of a brand's folder that says what is taken out of its private documents.
const PolicyFile = "redaction.yaml"

// Kind is a kind of personal data, spelled as in the policy.
type Kind string

// The kinds. A literal is what the policy lists word for word.
const (
	Literal  Kind = "literal"
	Email    Kind = "email"
	Phone    Kind = "phone"
	Address  Kind = "address"
	Personal Kind = "personal_detail"
	IBAN     Kind = "iban"
	Card     Kind = "card"
	Profile  Kind = "profile"
	Handle   Kind = "handle"
	URL      Kind = "url"
)

// Kinds returns the kinds that a policy can name. Of two finds of the same text the earlier kind is
// reported.
func Kinds() []Kind {
	return []Kind{IBAN, Card, Email, Phone, Personal, Address, Profile, Handle, URL}
}

// mark returns what stands in the text where something of the kind was.
func (k Kind) mark() string {
	if k == Literal {
		return "[redacted]"
	}
	return "[" + strings.ReplaceAll(string(k), "_", " ") + "]"
}

// Policy is what redaction.yaml says. The zero value is a brand without one.
type Policy struct {
	reviewer   string
	reviewedAt time.Time
	kinds      []Kind
	literals   []literal
	isThere    bool
}

// file is the layout of redaction.yaml.
type file struct {
	Reviewer   string   `yaml:"reviewer"`
	ReviewedAt string   `yaml:"reviewed_at"`
	Kinds      []Kind   `yaml:"kinds"`
	Literals   []string `yaml:"literals"`
}

// Everything is the policy that takes out all kinds and no literal. Nobody has reviewed it.
func Everything() Policy { return Policy{kinds: Kinds()} }

// ReadPolicy reads redaction.yaml at the root of fsys; without the file the policy is the zero value. A
// field or kind that it doesn't know is an error. Errors name the file, the line and what is wrong
// there, and quote nothing.
func ReadPolicy(fsys fs.FS) (Policy, error) {
	opened, err := fsys.Open(PolicyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Policy{}, nil
	}
	if err != nil {
		return Policy{}, fmt.Errorf("read redaction policy: %w", err)
	}
	defer opened.Close()

	var f file
	err = yaml.NewDecoder(opened, yaml.DisallowUnknownField()).Decode(&f)
	if err != nil && !errors.Is(err, io.EOF) {
		return Policy{}, fmt.Errorf("%s: %w", PolicyFile, silentYAMLError(err))
	}
	p, err := f.policy()
	if err != nil {
		return Policy{}, fmt.Errorf("%s: %w", PolicyFile, err)
	}
	return p, nil
}

// silentYAMLError keeps the line and the sort of mistake. The parser's own words may quote the file,
// which lists what nobody may read.
func silentYAMLError(err error) error {
	var (
		y         yaml.Error
		unknown   *yaml.UnknownFieldError
		wrongType *yaml.TypeError
		wrongNode *yaml.UnexpectedNodeTypeError
	)
	what := "not readable as YAML, or a field that is given twice"
	switch {
	case errors.As(err, &unknown):
		what = "unknown field; known are reviewer, reviewed_at, kinds and literals"
	case errors.As(err, &wrongType), errors.As(err, &wrongNode):
		what = "wrong type; reviewer and reviewed_at are text, kinds and literals are lists of text"
	}
	if errors.As(err, &y) && y.GetToken() != nil {
		return fmt.Errorf("line %d: %s", y.GetToken().Position.Line, what)
	}
	return errors.New(what)
}

func (f file) policy() (Policy, error) {
	p := Policy{reviewer: strings.TrimSpace(f.Reviewer), kinds: f.Kinds, isThere: true}
	if f.ReviewedAt != "" {
		var err error
		if p.reviewedAt, err = time.Parse(time.DateOnly, f.ReviewedAt); err != nil {
			return p, errors.New("reviewed_at: not a date like 2026-11-20")
		}
	}
	for i, kind := range f.Kinds {
		switch {
		case !slices.Contains(Kinds(), kind):
			return p, fmt.Errorf("kinds[%d]: unknown kind", i)
		case slices.Contains(f.Kinds[:i], kind):
			return p, fmt.Errorf("kinds[%d]: listed twice", i)
		}
	}
	switch {
	case f.Kinds == nil: // whoever names none wants no gap
		p.kinds = Kinds()
	case len(f.Kinds) == 0:
		return p, errors.New("kinds: name at least one, or leave the field out for all")
	}
	for i, text := range f.Literals {
		l := newLiteral(text)
		if len(l.letters) < 2 || !slices.ContainsFunc(l.letters, unicode.IsLetter) && len(l.letters) < 4 {
			return p, fmt.Errorf("literals[%d]: want two letters or digits at least, four digits without a letter", i)
		}
		p.literals = append(p.literals, l)
	}
	return p, nil
}

// IsThere says that the brand has a policy.
func (p Policy) IsThere() bool { return p.isThere }

// IsReviewed says that a person has put a name and a date under the policy, and not a date to come. A
// zero today checks no date.
func (p Policy) IsReviewed(today time.Time) bool {
	isToCome := !today.IsZero() && p.reviewedAt.After(today.Add(24*time.Hour)) // somewhere it is tomorrow
	return p.isThere && p.reviewer != "" && !p.reviewedAt.IsZero() && !isToCome
}

func (p Policy) takes(k Kind) bool { return k == Literal || slices.Contains(p.kinds, k) }

// Without is the policy that leaves a kind alone.
func (p Policy) Without(k Kind) Policy {
	p.kinds = slices.DeleteFunc(slices.Clone(p.kinds), func(other Kind) bool { return other == k })
	return p
}
