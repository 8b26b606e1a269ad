package ingest

import (
	"regexp"
	"strings"
)

// scriptEnd returns where the bracket that opens s is closed, one past it, or -1. Brackets in strings
// and comments do not count.
func scriptEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			// An apostrophe in the text between tags is none of a string: that one ends on its line.
			if n := quoteEnd(s[i:]); n > 0 {
				i += n - 1
			}
		case '\\':
			i++
		case '/':
			if strings.HasPrefix(s[i:], "/*") {
				n := strings.Index(s[i+2:], "*/")
				if n < 0 {
					return -1
				}
				i += n + 3
			}
		}
	}
	return -1
}

// quoteEnd returns the length of the string literal that s begins with, or 0.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			if s[0] != '`' {
				return 0
			}
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// fenceEnd returns the length of the fenced block that s begins with, all of s when nothing closes it.
func fenceEnd(s, fence string) int {
	first, _, _ := strings.Cut(s, "\n")
	for at := len(first) + 1; at < len(s); {
		line, _, _ := strings.Cut(s[at:], "\n")
		if run := strings.Trim(line, " \t>"); strings.HasPrefix(run, fence) && strings.Trim(run, fence[:1]) == "" {
			return min(len(s), at+len(line)+1)
		}
		at += len(line) + 1
	}
	return len(s)
}

// tagEnd returns where the tag that opens s is closed, one past it, or -1.
func tagEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '>':
			return i + 1
		case '<':
			return -1
		case '"', '\'':
			n := strings.IndexByte(s[i+1:], s[i])
			if n < 0 {
				return -1
			}
			i += n + 1
		case '{':
			n := scriptEnd(s[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}

// esmEnd returns the length of the import or export that s begins with: it ends at a blank line outside
// of brackets, or where no bracket is open at the end of a line and the next one begins another thing.
func esmEnd(s string) int {
	at := 0
	for at < len(s) {
		line, _, _ := strings.Cut(s[at:], "\n")
		if strings.TrimSpace(line) == "" {
			return at
		}
		open := strings.IndexAny(line, "{([`")
		if open < 0 {
			at = min(len(s), at+len(line)+1)
			continue
		}
		length := scriptEnd(s[at+open:])
		if line[open] == '`' {
			length = quoteEnd(s[at+open:])
		}
		if length <= 0 { // never closed: up to the blank line
			before, _, _ := strings.Cut(s[at:], "\n\n")
			return at + len(before)
		}
		at += open + length
	}
	return len(s)
}

var listMarker = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)

// withoutIndents takes away the indentation that tags give their content: MDX has no indented code, in
// Markdown it would become some. Inside a list it keeps what nests.
func withoutIndents(text string) string {
	lines := strings.Split(text, "\n")
	list, fence, cut := -1, "", 0 // the indentation of the open list; the open fence and what it lost
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		indent := len(line) - len(rest)
		if fence != "" {
			lines[i] = line[min(cut, indent):]
			if strings.HasPrefix(rest, fence) && strings.Trim(rest, fence[:1]+" \t") == "" {
				fence = ""
			}
			continue
		}
		isItem := listMarker.MatchString(rest)
		switch {
		case rest == "":
			continue
		case isItem && (list < 0 || indent < list):
			list = indent
		case !isItem && indent <= list:
			list = -1
		}
		cut = indent
		if list >= 0 {
			cut = list
		}
		lines[i] = line[cut:]
		if open := fenceStart.FindStringSubmatch(rest); open != nil {
			fence = open[1]
		}
	}
	return strings.Join(lines, "\n")
}
