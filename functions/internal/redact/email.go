package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// The most bytes of the part before the "@" and of the host (RFC 5321).
const (
	maxLocal = 64 * utf8.UTFMax
	maxHost  = 255
)

// ats finds what stands for "@" at the beginning of a text: the sign with blanks around it, its escapes, the word in brackets, the
// word in capitals or between dashes, the bare word. Each group is one of these.
var ats = regexp.MustCompile(`^(?i)(\s{0,2}@\s{0,2}|&#0*64;|&#x0*40;|&commat;|%40)` +
	`|^(?i)(\s*[\[({<|]+\s*(?:a|at|@|ät|bei|arroba|arobase|klammeraffe)\s*[\])}>|]+\s*)` +
	`|^(?i)(\s(?-i:AT)\s|[_-]at[_-])` +
	`|^(?i)([ \n](?:at|arroba|arobase)[ \n])`)

// dots finds what stands for the "." of a host, at the beginning of a text: the sign, alone or after a
// blank, the word in brackets, the bare word.
var dots = regexp.MustCompile(`^(?i)(\.|\s+\.\s?|%2e|&#0*46;|&#x0*2e;|&period;)` +
	`|^(?i)(\s*[\[({<|]+\s*(?:dot|punkt|punto|point|ponto|\.)\s*[\])}>|]+\s*)` +
	`|^(?i)(_dot_|-dot-|[ \n]+(?:dot|punkt|punto|point|ponto)[ \n]+)`)

// joinedDot finds the word between dashes at the beginning of a text.
var joinedDot = regexp.MustCompile(`^(?i)(?:_dot_|-dot-)`)

// dotBefore finds a spelled dot at the end of a text.
var dotBefore = regexp.MustCompile(`(?i)(?:\s*[\[({<|]+\s*(?:dot|punkt|punto|point|ponto|\.)\s*[\])}>|]+\s*| (?:dot|punkt|punto) )$`)

// mailLabel finds a label at the end of a text, after which a bare "at" joins an address.
var mailLabel = regexp.MustCompile(`(?i)\b(?:e-?mails?|mail|correo|write to|schreiben sie an)\b[\s:*_]*(?:address|adresse|is|ist|es|to|an|a)?[\s:*_]*$`)

// emails finds addresses of mail. Bare words count only where the host ends in a real top-level domain:
// "at" and "dot" are words too.
func emails(v view) (found [][2]int) {
	for _, m := range atSigns(v.text) {
		isBare := m[8] >= 0
		start := localStart(v.text, m[0], isBare || m[6] >= 0 || m[4] >= 0)
		end, host, isSpelled := hostEnd(v.text, m[1], m[2] < 0)
		if start == m[0] || end == m[1] || isImage(host) {
			continue
		}
		if isBare && !isBareAddress(v.text[max(0, start-40):start], v.text[start:m[0]], host, isSpelled) {
			continue
		}
		found = append(found, [2]int{start, end})
	}
	return found
}

// opensAt finds a bracket that one of the words for "@" may follow.
var opensAt = regexp.MustCompile(`^(?i)[\[({<|]{1,3}\s{0,2}[aäbk@]`)

// atSigns returns where ats matches. It is tried only where one may begin.
func atSigns(text string) (all [][]int) {
	for i := 0; i < len(text); i++ {
		start := i
		switch c := text[i]; {
		case strings.IndexByte("[({<|", c) >= 0 && !opensAt.MatchString(text[i:min(len(text), i+6)]):
			continue
		case strings.IndexByte("@&%[({<|", c) >= 0:
			for start > max(0, i-2) && (text[start-1] == ' ' || text[start-1] == '\n') {
				start--
			}
		case strings.IndexByte(" \n_-", c) >= 0 && i+2 < len(text) && (text[i+1]|0x20) == 'a' && strings.IndexByte("tTrR", text[i+2]) >= 0:
		default:
			continue
		}
		m := ats.FindStringSubmatchIndex(text[start:min(len(text), start+40)])
		if m == nil {
			continue
		}
		for j := range m {
			if m[j] >= 0 {
				m[j] += start
			}
		}
		all = append(all, m)
		i = m[1] - 1
	}
	return all
}

// localStart returns where the part before the "@" at end begins; end when there is none.
func localStart(text string, end int, isSpelled bool) int {
	if end > 1 && text[end-1] == '"' {
		if open := strings.LastIndexAny(text[max(0, end-maxLocal):end-1], "\"\n"); open >= 0 && text[max(0, end-maxLocal)+open] == '"' {
			return max(0, end-maxLocal) + open
		}
	}
	start := end
	for from := end; ; {
		atom := from
		for atom > 0 && end-atom < maxLocal {
			r, size := utf8.DecodeLastRuneInString(text[:atom])
			if !isWordRune(r) && !strings.ContainsRune(".!#$%&'+/=?^{|}~-", r) {
				break
			}
			atom -= size
		}
		atom += len(text[atom:from]) - len(strings.TrimLeftFunc(text[atom:from], func(r rune) bool { return !isWordRune(r) }))
		if atom == from {
			return start
		}
		start = atom
		dot := dotBefore.FindStringIndex(text[max(0, start-16):start])
		if !isSpelled || dot == nil {
			return start
		}
		from = max(0, start-16) + dot[0]
	}
}

func isWordRune(r rune) bool {
	return r == '_' || r != opaque && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// hostEnd returns where the host that begins at start ends, the host in its usual spelling, and whether
// a dot of it was a word; start when there is no host of two labels or more. A bare word for a dot
// counts only after a word for the "@".
func hostEnd(text string, start int, takesWords bool) (end int, host string, isSpelled bool) {
	if literal := regexpAddressLiteral.FindString(text[start:min(len(text), start+60)]); literal != "" {
		return start + len(literal), literal, false
	}
	var labels []string
	for at := start; at-start < maxHost; {
		next := at
		for next < len(text) {
			r, size := utf8.DecodeRuneInString(text[next:])
			if !isWordRune(r) && r != '-' || next-at > 63*utf8.UTFMax || joinedDot.MatchString(text[next:min(len(text), next+5)]) {
				break
			}
			next += size
		}
		label := strings.TrimRight(text[at:next], "-_")
		if label == "" {
			break
		}
		end = at + len(label)
		labels = append(labels, label)
		dot := dots.FindStringSubmatchIndex(text[next:min(len(text), next+16)])
		if next != end || dot == nil || dot[6] >= 0 && !takesWords {
			break
		}
		isSpelled = isSpelled || dot[4] >= 0 || dot[6] >= 0
		at = next + dot[1]
	}
	// a host does not end in a number, nor in one letter
	for len(labels) > 0 && !isTopLevel(labels[len(labels)-1]) {
		labels = labels[:len(labels)-1]
		end = -1
	}
	if len(labels) < 2 {
		return start, "", false
	}
	if end < 0 {
		end = start + strings.Index(text[start:], labels[len(labels)-1]) + len(labels[len(labels)-1])
	}
	return end, strings.ToLower(strings.Join(labels, ".")), isSpelled
}

var regexpAddressLiteral = regexp.MustCompile(`^\[(?:IPv6:[0-9A-Fa-f:.]+|\d{1,3}(?:\.\d{1,3}){3})\]`)

func isTopLevel(label string) bool {
	return utf8.RuneCountInString(label) >= 2 && strings.ContainsFunc(label, unicode.IsLetter) &&
		!unicode.IsDigit(rune(label[0]))
}

// isImage knows the names of pictures for dense screens, such as logo@2x.png.
func isImage(host string) bool { return regexpImage.MatchString(host) }

var regexpImage = regexp.MustCompile(`^\dx\.(?:png|jpe?g|gif|svg|webp|avif)$`)

// madeUpName is no word of a sentence: two words with a sign between, or letters and digits.
var madeUpName = regexp.MustCompile(`^\p{L}+[._-]\p{L}[\p{L}._-]*$|^\p{L}+\d+$`)

// isBareAddress judges "local at host": with a dot that is a word the host must end as hosts do and not
// as an English sentence may; with a real dot it needs a label before it or a name that is no word.
func isBareAddress(before, local, host string, isSpelled bool) bool {
	if slices.Contains([]string{"us", "me", "him", "her", "them", "you", "now", "here", "uns", "nos"}, strings.ToLower(local)) {
		return false
	}
	suffix := host[strings.LastIndexByte(host, '.')+1:]
	if !isRealSuffix(host) {
		return false
	}
	if mailLabel.MatchString(before) || !isSpelled && madeUpName.MatchString(local) {
		return true
	}
	return isSpelled && !slices.Contains([]string{"is", "it", "at", "in", "to", "be", "me", "no", "so", "my", "us", "as", "am", "do", "art", "watch", "link"}, suffix)
}

// isRealSuffix says that a host ends in a registered top-level domain or one reserved for examples.
func isRealSuffix(host string) bool {
	top := host[strings.LastIndexByte(host, '.')+1:]
	if slices.Contains([]string{"example", "test", "invalid", "local", "internal"}, top) {
		return true
	}
	_, isICANN := publicsuffix.PublicSuffix(host)
	return isICANN
}
