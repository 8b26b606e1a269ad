package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"porchlight/functions/internal/problem"
)

// maxBody is the largest request body in bytes, after base64 was undone.
const maxBody = 32 << 10

// Fields are the fields that a JSON body may have: name to the pointer that receives the value. No
// field is required here; null leaves its target as it is.
type Fields map[string]any

// Decode reads the body of r, at most limit bytes, into fields. The body must be one JSON object of
// exactly these names, each at most once and spelled exactly so: Go would take "Role" for "role" and
// Postgres would not, so nothing that two parsers could read differently comes through. Failures are
// wrong_content_type, body_too_large, question_not_utf8 and bad_request; the latter names the field.
func Decode(w http.ResponseWriter, r *http.Request, limit int64, fields Fields) error {
	if err := checkHeaders(r, limit); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.New(problem.BodyTooLarge, nil)
	case err != nil:
		return problem.New(problem.BadRequest, fmt.Errorf("read body: %w", err))
	case !utf8.Valid(body) || hasLoneSurrogate(body):
		return problem.New(problem.QuestionNotUTF8, nil)
	}
	return decodeObject(body, fields)
}

func checkHeaders(r *http.Request, limit int64) error {
	if !isJSON(r.Header.Values("Content-Type")) {
		return problem.New(problem.WrongContentType, nil)
	}
	if enc := strings.Join(r.Header.Values("Content-Encoding"), ","); enc != "" && !strings.EqualFold(enc, "identity") {
		return &problem.Error{Code: problem.WrongContentType, Detail: "Send it without compression."}
	}
	if r.ContentLength > limit {
		return problem.New(problem.BodyTooLarge, nil)
	}
	return nil
}

func isJSON(contentTypes []string) bool {
	if len(contentTypes) != 1 {
		return false
	}
	kind, params, err := mime.ParseMediaType(contentTypes[0])
	charset, named := params["charset"]
	return err == nil && kind == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// decodeObject walks the one object by hand: encoding/json lets duplicates, other cases and trailing
// data pass. Its depth is bounded by encoding/json, at 10,000 without recursion; no target nests.
func decodeObject(body []byte, fields Fields) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return badRequest("The body must be one JSON object.")
	}
	seen := make(map[string]bool, len(fields))
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return badRequest("The body is not valid JSON.")
		}
		target, err := fields.target(name)
		if err != nil {
			return err
		}
		if seen[name] {
			return badRequest("The field " + name + " is there twice.")
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return badRequest("The value of the field " + name + " is not valid JSON.")
		}
		if err := json.Unmarshal(value, target); err != nil { // its text may quote the value
			return badRequest("The field " + name + " has a value of the wrong type.")
		}
	}
	if _, err := dec.Token(); err != nil {
		return badRequest("The body is not valid JSON.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badRequest("Something follows the JSON object.")
	}
	return nil
}

// target finds the field, or says why there is none. Only a name that looks like one is repeated.
func (f Fields) target(name string) (any, error) {
	if target, ok := f[name]; ok {
		return target, nil
	}
	for known := range f {
		if strings.EqualFold(known, name) {
			return nil, badRequest("The field " + known + " must be spelled in lower case.")
		}
	}
	if !fieldName.MatchString(name) {
		return nil, badRequest("There is an unknown field.")
	}
	return nil, badRequest("The field " + name + " is unknown.")
}

var fieldName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func badRequest(detail string) error {
	return &problem.Error{Code: problem.BadRequest, Detail: detail}
}

// hasLoneSurrogate finds an escape such as \ud83d without its other half, which encoding/json would
// replace by U+FFFD in silence and Postgres would refuse. A backslash in JSON stands only in strings.
func hasLoneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		switch unit := escaped(body[i:]); {
		case unit < 0xD800 || unit > 0xDFFF: // another escape, or no surrogate
			i++
		case unit > 0xDBFF: // a second half without the first
			return true
		default:
			if low := escaped(body[i+6:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		}
	}
	return false
}

// escaped is the code unit of the \uXXXX at the start of b, -1 when there is none.
func escaped(b []byte) int64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int64(unit)
}

// parseUUID takes the one canonical spelling, in any case, and returns it in lower case.
func parseUUID(s string) (string, bool) {
	const canonical = 36
	if len(s) != canonical {
		return "", false
	}
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}
