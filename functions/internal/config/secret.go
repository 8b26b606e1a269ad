package config

import (
	"fmt"
	"io"
	"log/slog"
)

// mask is what a secret shows of itself.
const mask = "***"

// Secret is text that must not be printed. The verbs of fmt, JSON, other text encodings and slog show
// "***", or nothing when it is empty; only Reveal gives it away. Go asks nobody about unexported
// fields, %p and the keys of JSON objects: keep a Secret out of these.
type Secret string

// Reveal returns the text itself, for the one call that needs it.
func (s Secret) Reveal() string { return string(s) }

// String is "***", or empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format answers all verbs: fmt would print a plain string type for those that it calls wrong.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText serves JSON and every other text encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue serves slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
