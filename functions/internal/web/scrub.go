package web

import "regexp"

// maxErrorText bounds what one error may put into the log, in bytes.
const maxErrorText = 1000

// secrets are the shapes in which a key or token turns up in the text of an error: Go's url.Error
// prints the whole URL, drivers print their DSN, libraries print headers.
var secrets = []struct {
	shape *regexp.Regexp
	mask  string
}{
	{regexp.MustCompile(`(?i)\b([\w-]*(?:key|token|secret|password|passwd|pwd|signature|sig))(["']?\s*[=:]\s*["']?)[^\s"'&,;)}]+`), "$1$2***"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w.~+/=-]+`), "$1 ***"},
	{regexp.MustCompile(`\bAIza[\w-]+`), "***"},
	{regexp.MustCompile(`\beyJ[\w-]+(?:\.[\w-]*)*`), "***"},
	{regexp.MustCompile(`://[^\s/@"']*@`), "://***@"},
}

// scrub masks the secrets in the text of an error and cuts it to a length that a log can bear. It is
// the second wall: errors should hold none.
func scrub(text string) string {
	for _, s := range secrets {
		text = s.shape.ReplaceAllString(text, s.mask)
	}
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "…"
	}
	return text
}
