package fetch

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"mime"
	"net/http"
	"strings"
)

// decode undoes the one encoding that a body may have. Two of them, one over the other, are nobody's
// but an attacker's.
func decode(encodings []string, r io.Reader) (io.Reader, *Refusal) {
	switch strings.ToLower(strings.TrimSpace(strings.Join(encodings, ","))) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, refuse(BadResponse, "the body is not the gzip that it says")
		}
		return unzipped, nil
	case "deflate":
		return inflate(bufio.NewReader(r))
	}
	return nil, refuse(BadResponse, "its encoding is neither gzip nor deflate")
}

// inflate reads "deflate", which servers send with and without the header of zlib.
func inflate(r *bufio.Reader) (io.Reader, *Refusal) {
	head, _ := r.Peek(2) // what is missing is found when the body is read
	if len(head) < 2 || head[0]&0x0f != 8 || (int(head[0])<<8|int(head[1]))%31 != 0 {
		return flate.NewReader(r), nil
	}
	inflated, err := zlib.NewReader(r)
	if err != nil {
		return nil, refuse(BadResponse, "the body is not the deflate that it says")
	}
	return inflated, nil
}

// contentType returns the media type of a body, and its charset where one is said. Servers say what is
// not so: the first bytes of a PDF, an archive or an image prove what it is, and what is said to be one
// and is not is what it looks like.
func contentType(said string, body []byte) string {
	seen, _, _ := strings.Cut(http.DetectContentType(body), ";") // its charset is a guess
	if bytes.HasPrefix(bytes.TrimLeft(body[:min(len(body), 1024)], "\r\n\t \x00\ufeff"), []byte("%PDF-")) {
		seen = "application/pdf"
	}
	media, parameters, err := mime.ParseMediaType(said)
	isProof := !strings.HasPrefix(seen, "text/") && seen != "application/octet-stream"
	switch {
	case err != nil, media == "application/octet-stream", media == "application/pdf":
		return seen
	case isProof && !isArchive(media):
		return seen
	case parameters["charset"] != "":
		return mime.FormatMediaType(media, map[string]string{"charset": strings.ToLower(parameters["charset"])})
	}
	return media
}

// isArchive says that a media type is an archive, or an office document, which is one inside.
func isArchive(media string) bool {
	return strings.HasSuffix(media, "zip") || strings.HasPrefix(media, "application/vnd.")
}
