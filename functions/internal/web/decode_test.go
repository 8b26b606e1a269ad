package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"porchlight/functions/internal/problem"
)

// request is the shape that these tests decode: text, a switch and a list.
type request struct {
	Question string
	All      bool
	Sources  []string
}

func decode(r *http.Request) (request, error) {
	var v request
	err := Decode(httptest.NewRecorder(), r, maxBody, Fields{"question": &v.Question, "all": &v.All, "sources": &v.Sources})
	return v, err
}

// wantProblem checks code and detail, and that no cause quotes the request.
func wantProblem(t *testing.T, err error, code problem.Code, detail string) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != code || p.Detail != detail {
		t.Fatalf("got %#v, want %s %q", err, code, detail)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the error for the log holds content: %v", err)
	}
}

func TestDecode_RefusesABodyThatTwoParsersCouldReadDifferently(t *testing.T) {
	const notObject, notJSON = "The body must be one JSON object.", "The body is not valid JSON."
	tests := []struct{ name, body, detail string }{
		{"nothing", ``, notObject},
		{"null", `null`, notObject},
		{"an array", `[{"question":"q"}]`, notObject},
		{"text", `"question"`, notObject},
		{"a byte order mark", "\ufeff{}", notObject},
		{"unknown field", `{"question":"q","tenant_id":"x"}`, "The field tenant_id is unknown."},
		{"unknown field that is no name is not repeated", `{"` + canary + ` says":1}`, "There is an unknown field."},
		{"unknown field that is long is not repeated", `{"` + strings.Repeat("x", 41) + `":1}`, "There is an unknown field."},
		{"empty name", `{"":1}`, "There is an unknown field."},
		{"duplicate field", `{"question":"a","question":"b"}`, "The field question is there twice."},
		{"duplicate field behind an escape", `{"question":"a","qu\u0065stion":"b"}`, "The field question is there twice."},
		{"case variant", `{"Question":"q"}`, "The field question must be spelled in lower case."},
		{"case variant beside the field", `{"question":"a","QUESTION":"b"}`, "The field question must be spelled in lower case."},
		{"case variant by Unicode folding", `{"queſtion":"q"}`, "The field question must be spelled in lower case."},
		{"trailing object", `{"question":"a"}{"question":"b"}`, "Something follows the JSON object."},
		{"trailing text", `{"question":"a"} x`, "Something follows the JSON object."},
		{"trailing NUL", "{}\x00", "Something follows the JSON object."},
		{"wrong type", `{"question":["` + canary + `"]}`, "The field question has a value of the wrong type."},
		{"number that Go would quote", `{"all":47110815}`, "The field all has a value of the wrong type."},
		{"list of lists", `{"sources":[["a"]]}`, "The field sources has a value of the wrong type."},
		{"broken value", `{"question":"a`, "The value of the field question is not valid JSON."},
		{"no value", `{"question"}`, "The value of the field question is not valid JSON."},
		{"comma at the end", `{"question":"a",}`, notJSON},
		{"not closed", `{"question":"a"`, notJSON},
		{"number as a name", `{1:2}`, notJSON},
		{"raw line break in text", "{\"question\":\"a\nb\"}", "The value of the field question is not valid JSON."},
		{"NaN", `{"question":NaN}`, "The value of the field question is not valid JSON."},
		{"10,001 deep", `{"question":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, "The value of the field question is not valid JSON."},
		{"10,001 deep in a field that could be a list", `{"sources":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, "The value of the field sources is not valid JSON."},
		{"9,000 deep", `{"sources":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, "The field sources has a value of the wrong type."},
		{"deep from the first byte", strings.Repeat("[", maxBody), notObject},
		{"deep and never closed", `{"sources":` + strings.Repeat(`{"a":`, 6000), "The value of the field sources is not valid JSON."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode(post("/", tt.body))
			wantProblem(t, err, problem.BadRequest, tt.detail)
		})
	}
}

func TestDecode_ReadsWhatIsThereAndNoMore(t *testing.T) {
	v, err := decode(post("/", ` {"sources":["a/b.md"], "all":false, "question":"\u20ac \"\\u\" \ud83d\ude00"} `+"\n"))
	if err != nil || v.Question != `€ "\u" 😀` || v.All || len(v.Sources) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestDecode_RefusesTextThatIsNotUTF8(t *testing.T) {
	tests := []struct{ name, body string }{
		{"Latin-1", "{\"question\":\"49 \x80\"}"},
		{"overlong", "{\"question\":\"\xc0\xaf\"}"},
		{"surrogate in UTF-8", "{\"question\":\"\xed\xa0\xbd\"}"},
		{"cut character", "{\"question\":\"\xe2\x82\"}"},
		{"outside the field", "{\"\xff\":1}"},
		{"lone first half", `{"question":"\ud83d"}`},
		{"lone first half before text", `{"question":"\uD83D and more text"}`},
		{"lone second half", `{"question":"\ude00"}`},
		{"halves in the wrong order", `{"question":"\ude00\ud83d"}`},
		{"two first halves", `{"question":"\ud83d\ud83d\ude00"}`},
		{"first half before another escape", `{"question":"\ud83d\n\ude00"}`},
		{"first half at the end", `{"question":"\ud83d`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode(post("/", tt.body))
			wantProblem(t, err, problem.QuestionNotUTF8, "")
		})
	}
	if v, err := decode(post("/", `{"question":"\\ud83d"}`)); err != nil || v.Question != `\ud83d` {
		t.Errorf("an escaped backslash is no surrogate: %q, %v", v.Question, err)
	}
}

func TestDecode_ChecksTheContentType(t *testing.T) {
	const compressed = "Send it without compression."
	tests := []struct {
		name     string
		types    []string
		encoding string
		code     problem.Code // empty: accepted
		detail   string
	}{
		{"JSON", []string{"application/json"}, "", "", ""},
		{"JSON in UTF-8", []string{"application/json; charset=UTF-8"}, "", "", ""},
		{"capitals", []string{"Application/JSON"}, "identity", "", ""},
		{"none", nil, "", problem.WrongContentType, ""},
		{"text", []string{"text/plain"}, "", problem.WrongContentType, ""},
		{"form", []string{"application/x-www-form-urlencoded"}, "", problem.WrongContentType, ""},
		{"another charset", []string{"application/json; charset=latin1"}, "", problem.WrongContentType, ""},
		{"a suffix", []string{"application/problem+json"}, "", problem.WrongContentType, ""},
		{"two", []string{"application/json", "text/plain"}, "", problem.WrongContentType, ""},
		{"broken", []string{"application/json; charset"}, "", problem.WrongContentType, ""},
		{"gzip", []string{"application/json"}, "gzip", problem.WrongContentType, compressed},
		{"gzip twice", []string{"application/json"}, "identity, gzip", problem.WrongContentType, compressed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post("/", `{"question":"q"}`)
			r.Header["Content-Type"] = tt.types
			if tt.encoding != "" {
				r.Header.Set("Content-Encoding", tt.encoding)
			}
			_, err := decode(r)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantProblem(t, err, tt.code, tt.detail)
		})
	}
}

// unread fails the test when a body is read that should be refused by its length alone.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("unread")
}

func TestDecode_RefusesABodyOver32KB(t *testing.T) {
	fill := func(size int) string {
		const frame = `{"question":""}`
		return `{"question":"` + strings.Repeat("x", size-len(frame)) + `"}`
	}
	if _, err := decode(post("/", fill(maxBody))); err != nil {
		t.Errorf("32 KB: %v", err)
	}
	for name, r := range map[string]*http.Request{
		"one byte more":                    post("/", fill(maxBody+1)),
		"one byte more, length not said":   post("/", fill(maxBody+1)),
		"6 MB":                             post("/", fill(6<<20)),
		"spaces after the object count":    post("/", "{}"+strings.Repeat(" ", maxBody)),
		"not JSON at all, length is first": post("/", strings.Repeat("\xff", maxBody+1)),
	} {
		if strings.Contains(name, "not said") {
			r.ContentLength = -1
		}
		_, err := decode(r)
		t.Run(name, func(t *testing.T) { wantProblem(t, err, problem.BodyTooLarge, "") })
	}
	r := httptest.NewRequest(http.MethodPost, "/", unread{t})
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = maxBody + 1
	_, err := decode(r)
	wantProblem(t, err, problem.BodyTooLarge, "")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"question":"\ud83d\ude00","all":true,"sources":["a"]}`))
	f.Add([]byte(`{"question":"\ud83d`))
	f.Add([]byte(`{"Question":1}{}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := decode(post("/", string(body)))
		var p *problem.Error
		if err != nil && (!errors.As(err, &p) || p.Status() >= 500) {
			t.Errorf("%v", err)
		}
		if err == nil && strings.ContainsRune(v.Question, '\ufffd') &&
			!strings.ContainsRune(string(body), '\ufffd') && !strings.Contains(strings.ToLower(string(body)), `\ufffd`) {
			t.Errorf("a character was lost in silence: %q", body)
		}
	})
}
