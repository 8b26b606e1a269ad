package e2e

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// bomb is a valid request that unpacks to more than a thousand times its size.
func bomb(t *testing.T) (zipped, deflated string) {
	t.Helper()
	body := `{"question":"` + strings.Repeat("a", 64<<20) + `"}`
	var z, d bytes.Buffer
	gz, fl := gzip.NewWriter(&z), zlib.NewWriter(&d)
	for _, w := range []io.WriteCloser{gz, fl} {
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return z.String(), d.String()
}

// Bodies that two parsers would read apart, that unpack, nest or never end. Q20
func TestBodies_OddOnesAreRefusedWithTheirReason(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	zipped, deflated := bomb(t)
	nested := func(depth int) string {
		return `{"question":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
	}
	for _, c := range []refused{
		{name: "Q20 unknown field", body: `{"question":"x","tenant":"` + skeinwick + `"}`, status: 400, code: "bad_request"},
		{name: "Q20 field twice", body: `{"question":"x","question":"y"}`, status: 400, code: "bad_request"},
		{name: "Q20 field twice behind an escape", body: `{"question":"x","quest\u0069on":"y"}`, status: 400, code: "bad_request"},
		{name: "Q20 case variant", body: `{"Question":"x"}`, status: 400, code: "bad_request"},
		{name: "Q20 case variant beside the field", body: `{"question":"x","QUESTION":"y"}`, status: 400, code: "bad_request"},
		{name: "Q20 case variant by folding", body: `{"queſtion":"x"}`, status: 400, code: "bad_request"},
		{name: "Q20 __proto__", body: `{"question":"x","__proto__":{"role":"admin"}}`, status: 400, code: "bad_request"},
		{name: "Q20 text/plain", body: validAsk, headers: []string{"Content-Type: text/plain"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 a form of a browser", body: validAsk, headers: []string{"Content-Type: multipart/form-data; boundary=x"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 JSON of another kind", body: validAsk, headers: []string{"Content-Type: application/merge-patch+json"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 gzip bomb", body: zipped, headers: []string{"Content-Encoding: gzip"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 deflate bomb", body: deflated, headers: []string{"Content-Encoding: deflate"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 gzip bomb within gzip", body: zipped, headers: []string{"Content-Encoding: gzip, gzip"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 brotli", body: validAsk, headers: []string{"Content-Encoding: br"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 zstd", body: validAsk, headers: []string{"Content-Encoding: zstd"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 gzip that nobody names", body: zipped, status: 413, code: "body_too_large"},
		{name: "Q20 small gzip that nobody names", body: zipped[:1000], status: 400, code: "question_not_utf8"},
		{name: "Q20 10,001 deep", body: nested(10_001), status: 400, code: "bad_request"},
		{name: "Q20 9,000 deep", body: nested(9_000), status: 400, code: "bad_request"},
		{name: "Q20 deep and never closed", body: `{"question":` + strings.Repeat(`{"a":`, 6_000), status: 400, code: "bad_request"},
		{name: "Q20 deep from the first byte", body: strings.Repeat("[", 32_000), status: 400, code: "bad_request"},
		{name: "Q20 a number of 30,000 digits", body: `{"question":` + strings.Repeat("9", 30_000) + `}`, status: 400, code: "bad_request"},
		{name: "Q20 1e999", body: `{"question":1e999}`, status: 400, code: "bad_request"},
		{name: "Q20 NaN", body: `{"question":NaN}`, status: 400, code: "bad_request"},
		{name: "Q20 a comment", body: `{"question":"x" /* y */}`, status: 400, code: "bad_request"},
		{name: "Q20 a comma at the end", body: `{"question":"x",}`, status: 400, code: "bad_request"},
		{name: "Q20 single quotes", body: `{'question':'x'}`, status: 400, code: "bad_request"},
		{name: "Q20 byte order mark", body: "\ufeff" + validAsk, status: 400, code: "bad_request"},
		{name: "Q20 UTF-16", body: "\xff\xfe{\x00}\x00", status: 400, code: "question_not_utf8"},
		{name: "Q20 NUL behind", body: validAsk + "\x00", status: 400, code: "bad_request"},
		{name: "Q20 NUL in a name", body: `{"question\u0000":"x"}`, status: 400, code: "bad_request"},
		{name: "Q20 NUL in an id", body: `{"question":"x","turn_id":"\u0000"}`, status: 400, code: "bad_request"},
		{name: "Q20 lone surrogate in an id", body: `{"question":"x","turn_id":"\ud800"}`, status: 400, code: "question_not_utf8"},
		{name: "Q20 two lines", body: validAsk + "\n" + validAsk, status: 400, code: "bad_request"},
		{name: "Q20 reindex with an unknown field", path: "/v1/reindex", body: `{"all":true,"now":1}`, status: 400, code: "bad_request"},
		{name: "Q20 reindex with a field twice", path: "/v1/reindex", body: `{"all":true,"all":false}`, status: 400, code: "bad_request"},
		{name: "Q20 reindex with a case variant", path: "/v1/reindex", body: `{"All":true}`, status: 400, code: "bad_request"},
		{name: "Q20 reindex 10,001 deep", path: "/v1/reindex", body: `{"sources":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`, status: 400, code: "bad_request"},
		{name: "Q20 reindex as text", path: "/v1/reindex", body: `{"all":true}`, headers: []string{"Content-Type: text/plain"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 reindex zipped", path: "/v1/reindex", body: zipped, headers: []string{"Content-Encoding: gzip"}, status: 415, code: "wrong_content_type"},
		{name: "Q20 reindex of a megabyte", path: "/v1/reindex", body: `{"sources":["` + strings.Repeat("a", 1<<20) + `"]}`, status: 413, code: "body_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.path
			if path == "" {
				path = "/v1/ask"
			}
			r := rep.with(t).post(path, c.body, c.headers...)
			r.want(t, c.status, c.code)
			bears(t, c.name, r)
			if strings.Contains(r.body, skeinwick) || strings.Contains(r.body, "aaaa") {
				t.Errorf("the request is repeated: %s", r.body)
			}
		})
	}
	rep.post("/v1/ask", validAsk).want(t, http.StatusOK, "")
}

// endless is a body that never ends, and says how much of it was taken.
type endless struct{ taken int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.taken += int64(len(p))
	return len(p), nil
}

// Of a body without an end and without a length 32 KB are read.
func TestBodies_AnEndlessOneIsCutOff(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	body := &endless{}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, doorstep.url+"/v1/ask", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+rep.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err == nil { // else the connection was closed while the body was still being sent
		response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", response.StatusCode)
		}
	}
	if ctx.Err() != nil || body.taken > 64<<20 {
		t.Errorf("%d bytes were taken, %v", body.taken, ctx.Err())
	}
	rep.post("/v1/ask", validAsk).want(t, http.StatusOK, "")
}
