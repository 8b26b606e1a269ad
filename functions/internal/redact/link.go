package redact

import (
	"regexp"
	"strings"
)

// trailing is what ends a sentence or a bracket after an address, and belongs to neither.
const trailing = ".,;:!?)]}'*_>\""

var (
	links = newPhrasebook(`http|https|hxxp|hxxps|ftp|ftps`, `://[^\s<>"|]+`)
	wwws  = newPhrasebook(`www`, `\.[^\s<>"|]*[\p{L}\d/]`)
	// hosts finds names without a scheme; the brackets are how some write a dot that must not be a link.
	hosts = regexp.MustCompile(`(?i)^((?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.|\[\.\]|\[dot\]|\(dot\)))+([\p{L}]{2,24}))(?::\d+)?(/[^\s<>"|]*)?`)
	// hostDots finds what joins the labels of a host.
	hostDots = regexp.MustCompile(`(?i)[\p{L}\p{N}](?:\.|\[\.\]|\[dot\]|\(dot\))[\p{L}\p{N}]`)
	// commonTops are top-level domains that are no word, so that a name of two labels is a host.
	commonTops = regexp.MustCompile(`^(?:com|org|net|edu|gov|info|biz|de|uk|eu|fr|nl|ch|pl|cz|se|dk|fi|br|ru|jp|cn|example)$`)
)

// urls finds addresses of the web, and names of hosts that have a path or end in a common domain.
func urls(v view) (found [][2]int) {
	for _, m := range append(links.find(v), wwws.find(v)...) {
		found = appendTrimmed(found, v.text, m[0], m[1])
	}
	for _, dot := range hostDots.FindAllStringIndex(v.text, -1) {
		if n := len(found); n > 0 && dot[0] >= found[n-1][0] && dot[0] < found[n-1][1] {
			continue // a later dot of the same host
		}
		start := dot[0] + 1
		start -= len(hostBefore.FindString(before(v.text, start, maxHost)))
		if start > 0 && strings.ContainsRune("@._/-", rune(v.text[start-1])) {
			continue
		}
		m := hosts.FindStringSubmatchIndex(v.text[start:min(len(v.text), start+maxPhrase)])
		if m == nil {
			continue
		}
		host := strings.NewReplacer("[.]", ".", "[dot]", ".", "(dot)", ".").Replace(strings.ToLower(v.text[start : start+m[3]]))
		name, top := host[:strings.LastIndexByte(host, '.')], host[strings.LastIndexByte(host, '.')+1:]
		end := start + m[1]
		isLocalPart := end < len(v.text) && v.text[end] == '@'
		if isLocalPart || host == "asp.net" || !isRealSuffix(host) || !strings.ContainsFunc(name, isLowerLetter) {
			continue
		}
		if m[6] >= 0 || commonTops.MatchString(top) {
			found = appendTrimmed(found, v.text, start, end)
		}
	}
	return found
}

var hostBefore = regexp.MustCompile(`[\p{L}\p{N}-]*$`)

func appendTrimmed(found [][2]int, text string, start, end int) [][2]int {
	return append(found, [2]int{start, start + len(strings.TrimRight(text[start:end], trailing))})
}

func isLowerLetter(r rune) bool { return r >= 'a' && r <= 'z' || r > 0x7F }

var (
	pages = newPhrasebook(`linkedin.com|xing.com|facebook.com|fb.com|instagram.com|twitter.com|x.com|tiktok.com|threads.net|t.me|`+
		`wa.me|github.com|gitlab.com|researchgate.net|orcid.org`, `/[^\s<>"|]+`)
	pageBefore   = regexp.MustCompile(`(?i)(?:\bhttps?://)?(?:\b[a-z]{2,3}\.)?$`)
	profileLines = newPhrasebook(`linkedin|linked-in|xing|facebook|github|gitlab|researchgate|orcid`,
		`(?i:\s(?:profile|profil|perfil|page|seite))?[*_]*\s?:[*_ ]*([^\n;|]{2,120})`)

	handles      = regexp.MustCompile(`(?:^|[\s(,;:"'>|/])(@[\p{L}\d_][\p{L}\d_.]{1,40})`)
	handleLabels = newPhrasebook(`twitter|instagram|insta|telegram|skype|discord|snapchat|tiktok|mastodon|wechat`,
		`(?i:\s(?:handle|name|user|id))?[*_]*\s?:[*_ ]*@?([\p{L}\d_][\p{L}\d_.:#-]{2,60})`)
	isPackage = regexp.MustCompile(`^(?:-[\w-]+)?/\w`) // "@scope/name" of code
	atRules   = regexp.MustCompile(`^@(?:media|import|font-face|charset|keyframes|supports)$`)
)

// profiles finds a person's page on a network, as an address or behind the network's name.
func profiles(v view) (found [][2]int) {
	for _, m := range pages.find(v) {
		start := m[0] - len(pageBefore.FindString(before(v.text, m[0], 16)))
		found = appendTrimmed(found, v.text, start, m[1])
	}
	for _, m := range profileLines.find(v) {
		found = appendValue(found, v.text, m[2], m[3])
	}
	return found
}

// names finds names on networks: "@name", or the name behind that of the network.
func names(v view) (found [][2]int) {
	if strings.Contains(v.text, "@") {
		for _, m := range handles.FindAllStringSubmatchIndex(v.text, -1) {
			name := strings.TrimRight(v.text[m[2]:m[3]], "._")
			if isPackage.MatchString(v.text[m[2]+len(name) : min(len(v.text), m[3]+40)]) {
				continue
			}
			if strings.ContainsFunc(strings.ToLower(name), isLowerLetter) && !atRules.MatchString(name) {
				found = append(found, [2]int{m[2], m[2] + len(name)})
			}
		}
	}
	for _, m := range handleLabels.find(v) {
		found = appendValue(found, v.text, m[2], m[3])
	}
	return found
}
