package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth is more than any real token nests.
const maxDepth = 32

var errNotPlain = errors.New("not one plain JSON object")

// decodeObject reads raw as one JSON object that every parser reads alike: valid UTF-8, no name
// twice in one object, no NUL, no number that a float64 can't hold, nested at most maxDepth deep
// and nothing after it. Numbers keep their spelling as json.Number. encoding/json alone would let
// the last of two equal names win, and Postgres' jsonb refuses NUL and vast numbers.
func decodeObject(raw []byte) (map[string]any, error) {
	if !utf8.Valid(raw) {
		return nil, errNotPlain
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	value, err := decodeValue(dec, maxDepth)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if _, err := dec.Token(); !ok || err != io.EOF {
		return nil, errNotPlain
	}
	return object, nil
}

func decodeValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil || depth == 0 {
		return nil, errNotPlain
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return decodeMembers(dec, depth-1)
		}
		return decodeItems(dec, depth-1)
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, errNotPlain
		}
	case json.Number:
		// A number that float64 rounds to zero has more digits than Postgres' numeric.
		f, err := t.Float64()
		if err != nil || f == 0 && strings.ContainsAny(string(t), "eE") {
			return nil, errNotPlain
		}
	}
	return token, nil
}

func decodeMembers(dec *json.Decoder, depth int) (any, error) {
	members := map[string]any{}
	for dec.More() {
		name, err := decodeValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		text, ok := name.(string)
		if _, twice := members[text]; twice || !ok {
			return nil, errNotPlain
		}
		if members[text], err = decodeValue(dec, depth); err != nil {
			return nil, err
		}
	}
	return members, closeDelim(dec)
}

func decodeItems(dec *json.Decoder, depth int) (any, error) {
	items := []any{}
	for dec.More() {
		item, err := decodeValue(dec, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, closeDelim(dec)
}

func closeDelim(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return errNotPlain
	}
	return nil
}
