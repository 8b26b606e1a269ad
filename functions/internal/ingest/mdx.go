package ingest

import (
	"regexp"
	"strings"

	"porchlight/functions/internal/corpus"
)

// mdxPage reads MDX: Markdown with JavaScript in it. Imports, exports, tags and comments go; what a
// reader sees stays: the text between tags, the texts in attributes such as title, strings and numbers
// in braces, and constants that the document itself exports. The rest is Markdown. Every line stays on
// its line, so that a refusal names the right one.
func mdxPage(raw string) (page, error) {
	src := corpus.Normalise(raw)
	_, body, _, err := frontMatter(src)
	if err != nil {
		return page{}, err
	}
	m := mdxReader{src: body, constants: constants(body)}
	if err := m.read(); err != nil {
		return page{}, err
	}
	return markdown(strings.TrimSuffix(src, body) + withoutIndents(m.out.String()))
}

type mdxReader struct {
	src       string
	at        int // of the next character in src
	out       strings.Builder
	constants map[string]string
	depth     int // of the expression that it reads in those around it
	wasted    int // characters looked through for an end that is not there
}

// The most expressions in one another, and the most characters that are looked through in vain. Without
// a bound a megabyte of "{" would take days.
const (
	maxNesting = 16
	maxWasted  = 64 << 20
)

var (
	fenceStart = regexp.MustCompile("^[ \t]*(?:[-*+] |\\d+[.)] |> ?)?[ \t]*(`{3,}|~{3,})")
	esmStart   = regexp.MustCompile(`^(?:import\s*(?:["'{*]|[\w$]+\s*(?:,|\bfrom\b))|export\s+(?:default|const|let|var|function|async|class|[{*]))`)
	directive  = regexp.MustCompile(`^[ \t]*:{3,}[ \t]*[\w-]*(?:\[([^\]\n]*)\])?(?:\{[^}\n]*\})?[ \t]*([^\n]*)`)
	exported   = regexp.MustCompile(`(?m)^export\s+const\s+([\w$]+)\s*=\s*("[^"\n]*"|'[^'\n]*'|-?[\d.]+)\s*;?\s*$`)
)

func constants(src string) map[string]string {
	all := map[string]string{}
	for _, parts := range exported.FindAllStringSubmatch(src, -1) {
		all[parts[1]] = strings.Trim(parts[2], `"'`)
	}
	return all
}

func (m *mdxReader) read() error {
	for m.at < len(m.src) {
		if m.wasted > maxWasted || m.depth > maxNesting {
			return malformed(0, "its braces or tags are nested too deeply or never closed")
		}
		if (m.at == 0 || m.src[m.at-1] == '\n') && m.line() {
			continue
		}
		rest := m.src[m.at:]
		switch c := rest[0]; {
		case c == '\\' && len(rest) > 1:
			m.keep(2)
		case c == '`':
			m.code()
		case c == '{' && m.expression(), c == '<' && m.tag():
		default:
			m.keep(1)
		}
	}
	return nil
}

// ends passes on where something ends and counts what was looked through when it does not.
func (m *mdxReader) ends(end int) int {
	if end < 0 {
		m.wasted += len(m.src) - m.at
	}
	return end
}

func (m *mdxReader) keep(n int) {
	m.out.WriteString(m.src[m.at : m.at+n])
	m.at += n
}

// replace puts text in the place of the next n characters, and all of their line ends after it.
func (m *mdxReader) replace(n int, text string) {
	m.out.WriteString(text)
	m.out.WriteString(strings.Repeat("\n", max(0, strings.Count(m.src[m.at:m.at+n], "\n")-strings.Count(text, "\n"))))
	m.at += n
}

// line reads what begins a line and takes all of it: a fence, an import or export, a directive.
func (m *mdxReader) line() bool {
	rest := m.src[m.at:]
	if fence := fenceStart.FindStringSubmatch(rest); fence != nil {
		m.keep(fenceEnd(rest, fence[1]))
		return true
	}
	if esmStart.MatchString(rest) {
		m.replace(esmEnd(rest), "")
		return true
	}
	if parts := directive.FindStringSubmatch(rest); parts != nil {
		m.replace(len(parts[0]), strings.TrimSpace(parts[1]+" "+parts[2]))
		return true
	}
	return false
}

// code keeps a span of code as it is, or a run of backticks that no other one closes.
func (m *mdxReader) code() {
	rest := m.src[m.at:]
	ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	paragraph, _, _ := strings.Cut(rest[:min(len(rest), 10_000)], "\n\n")
	if len(ticks) >= len(paragraph) {
		m.keep(len(ticks))
		return
	}
	if i := strings.Index(paragraph[len(ticks):], ticks); i >= 0 {
		m.keep(len(ticks)*2 + i)
		return
	}
	m.keep(len(ticks))
}

// expression takes "{…}" and leaves what a reader would see of it.
func (m *mdxReader) expression() bool {
	end := m.ends(scriptEnd(m.src[m.at:]))
	if end < 0 {
		return false
	}
	inner := strings.TrimSpace(m.src[m.at+1 : m.at+end-1])
	m.replace(end, m.shown(inner))
	return true
}

var (
	stringLiteral = regexp.MustCompile("(?s)^(?:\"([^\"]*)\"|'([^']*)'|`([^`$]*)`)$")
	numberLiteral = regexp.MustCompile(`^-?\d[\d_.]*$`)
	markupInside  = regexp.MustCompile(`(?s)<(?:[A-Za-z][\w.]*|)(?:\s[^<]*)?>.*<?/[\w.]*>`)
)

// shown returns what is seen of a JavaScript expression, as far as it can be told without running it.
func (m *mdxReader) shown(script string) string {
	if parts := stringLiteral.FindStringSubmatch(script); parts != nil {
		return parts[1] + parts[2] + parts[3]
	}
	if value, ok := m.constants[script]; ok {
		return value
	}
	if numberLiteral.MatchString(script) {
		return script
	}
	if strings.HasPrefix(script, "/*") {
		return ""
	}
	markup := markupInside.FindString(script)
	if markup == "" || markup == script && !strings.HasPrefix(script, "<") {
		return ""
	}
	inside := mdxReader{src: markup, constants: m.constants, depth: m.depth + 1}
	if err := inside.read(); err != nil {
		m.wasted = maxWasted + 1
	}
	return strings.TrimSpace(inside.out.String())
}

// tagName is the beginning of a tag, an empty one included; "<https://…>" and "<me@…>" are links.
var tagName = regexp.MustCompile(`^<(/?)([A-Za-z][\w.-]*|)(?:[\s/>]|$)`)

// tag takes a tag or a comment and leaves the texts of its attributes.
func (m *mdxReader) tag() bool {
	rest := m.src[m.at:]
	if strings.HasPrefix(rest, "<!--") {
		end := m.ends(strings.Index(rest, "-->"))
		if end < 0 {
			return false
		}
		m.replace(end+3, "")
		return true
	}
	name := tagName.FindStringSubmatch(rest)
	if name == nil {
		return false
	}
	end := m.ends(tagEnd(rest))
	if end < 0 {
		return false
	}
	tag := rest[:end]
	if lower := strings.ToLower(name[2]); name[1] == "" && (lower == "script" || lower == "style") && !strings.HasSuffix(tag, "/>") {
		if i := m.ends(strings.Index(rest, "</"+name[2]+">")); i >= 0 {
			m.replace(i+len(name[2])+3, "")
			return true
		}
	}
	text := m.attributes(tag)
	if text == "" && strings.EqualFold(name[2], "br") {
		text = " "
	}
	m.replace(end, text)
	return true
}

var textAttribute = regexp.MustCompile(`(?s)\s(?:title|label|question|answer|description|caption|heading|header|summary|text|content|amount|price|value)=(?:"([^"]*)"|'([^']*)'|\{\s*["'\x60]([^"'\x60$]*)["'\x60]\s*\}|\{\s*([\w$.-]+)\s*\})`)

// attributes returns the texts in a tag that a component shows.
func (m *mdxReader) attributes(tag string) string {
	var texts []string
	for _, parts := range textAttribute.FindAllStringSubmatch(tag, -1) {
		text := parts[1] + parts[2] + parts[3]
		if parts[4] != "" {
			text = m.shown(parts[4])
		}
		if text = oneLine(text); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}
