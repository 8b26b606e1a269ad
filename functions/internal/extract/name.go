package extract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"porchlight/functions/internal/guard"
	"porchlight/functions/internal/sentence"
)

// readNames collects the names of the table rows, and which passage says which.
func (c *chunks) readNames() {
	for _, p := range c.passages {
		if p.row == nil {
			c.readProseNames(p)
			continue
		}
		words := strings.Fields(p.row.name)
		if len(words) == 0 {
			continue
		}
		c.names = append(c.names, strings.Join(words, " "))
		if len(words) > 1 && !isStopword(words[0]) {
			c.families[words[0]], c.families[stem(words[0])] = true, true
		}
	}
	slices.SortFunc(c.names, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	c.names = slices.Compact(c.names)
	for _, p := range c.passages {
		if p.row != nil {
			p.names = []string{p.row.name}
		} else {
			p.names = c.namesIn(p.text)
		}
	}
}

// properName is a name with a number in running text: "Kestrel 24", "Kestrel 24 Plus".
var properName = regexp.MustCompile(`\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)* \d+(?:[ -]\p{Lu}\p{Ll}+)*`)

// readProseNames collects the names that a sentence says, where the table that lists them was not found.
// German writes every noun with a capital letter: there the name ends with its number.
func (c *chunks) readProseNames(p *passage) {
	for _, at := range properName.FindAllStringIndex(p.text, -1) {
		n := p.text[at[0]:at[1]]
		if first, rest, _ := strings.Cut(n, " "); at[0] == 0 && !unicode.IsDigit(rune(rest[0])) && !c.families[plainWord(first)] {
			n = rest // "Mention Kestrel 24"
		}
		words := guard.Words(n)
		if isStopword(words[0]) || calendar[words[0]] || isAmount(n) {
			continue
		}
		if last := strings.LastIndexAny(n, "0123456789"); p.Language == "de" {
			words = guard.Words(n[:last+1])
		}
		c.names = append(c.names, strings.Join(words, " "))
		c.families[words[0]], c.families[stem(words[0])] = true, true
	}
}

// namesIn returns the names that a text says, in its order. "Home Flex Plus" does not say "Home Flex".
// A text that says no name in full may say the beginning of some, of two words at least.
func (c chunks) namesIn(text string) []string {
	var whole, begun []string
	said := " " + strings.Join(guard.Words(text), " ") + " "
	spoken := said
	longest := 1
	for _, n := range c.names {
		if strings.Contains(said, " "+n+" ") {
			said = strings.ReplaceAll(said, " "+n+" ", " "+strings.Repeat("|", len(n))+" ")
			whole = append(whole, n)
		}
		switch words := saidFirst(n, said); {
		case words > longest:
			longest, begun = words, []string{n}
		case words == longest && words > 1:
			begun = append(begun, n)
		}
	}
	if len(whole) == 0 {
		return begun
	}
	slices.SortStableFunc(whole, func(a, b string) int {
		return strings.Index(spoken, " "+a+" ") - strings.Index(spoken, " "+b+" ")
	})
	return whole
}

// saidFirst counts the first words of a name that a text says together.
func saidFirst(name, said string) int {
	words := strings.Fields(name)
	n := 0
	for n < len(words) && strings.Contains(said, " "+strings.Join(words[:n+1], " ")+" ") {
		n++
	}
	return n
}

// misses says whether the question is about a thing that no chunk knows; what the chunks say of
// others is no answer. Such a thing is a speed, a volume or a power, or a name.
func (c chunks) misses(q question) bool {
	for _, t := range q.terms {
		switch t.dimension {
		case "mbit", "gb", "kw":
			if !c.knows(t.stem) {
				return true
			}
		}
	}
	for _, one := range sentence.Split(q.text) {
		tokens := strings.FieldsFunc(one, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for i, token := range tokens {
			word := plainWord(token)
			if c.isVariant(tokens, i) || !priceWords[word] && !c.knows(keyOf(word)) && c.isName(q, tokens, i) {
				return true
			}
		}
	}
	return false
}

// isVariant says whether token i numbers a family of names where no name has that number, though it
// may stand elsewhere: "Brook 40" where a Brook 100 sends with 40.
func (c chunks) isVariant(tokens []string, i int) bool {
	if i == 0 || !isDigits(tokens[i]) || i+1 < len(tokens) && isAmount(tokens[i]+" "+tokens[i+1]) {
		return false
	}
	family := plainWord(tokens[i-1])
	isFamily := c.families[family] || c.knows(stem(family)) && !calendar[family] && !isStopword(family) && !isAmount("2 "+family)
	return isFamily && isCapitalised(tokens[i-1]) && !c.isNamed(family+" "+tokens[i]) && !c.says(family+" "+tokens[i])
}

// isName says whether token i is used as a name: it follows the first word of names in the tables
// ("Home Turbo" where there are Home Flex and Home Fix), stands before a bare number ("Fibre 900"), or
// has a capital letter inside a question that is not German.
func (c chunks) isName(q question, tokens []string, i int) bool {
	token, word := tokens[i], plainWord(tokens[i])
	hasFamily := i > 0 && c.families[plainWord(tokens[i-1])]
	if isDigits(token) || isNumeral(word) && isCapitalised(token) {
		return hasFamily && !c.isNamed(plainWord(tokens[i-1])+" "+word)
	}
	if isStopword(word) {
		return false
	}
	if i+1 < len(tokens) && isDigits(tokens[i+1]) && (isCapitalised(token) || q.isShort) {
		if i+2 == len(tokens) || !isAmount(tokens[i+1]+" "+tokens[i+2]) {
			return true
		}
	}
	return isCapitalised(token) && (hasFamily || i > 0 && q.isOpen && q.language != "de" && !calendar[word])
}

// isNamed says whether words that stand together occur in a name of the tables.
func (c chunks) isNamed(words string) bool {
	return slices.ContainsFunc(c.names, func(n string) bool { return strings.Contains(" "+n+" ", " "+words+" ") })
}

// saysFamily says whether words say the beginning that several names share, and so none of them.
func (c chunks) saysFamily(said string) bool {
	members := map[string]int{}
	for _, name := range c.names {
		family, rest, _ := strings.Cut(name, " ")
		if rest != "" && !isStopword(family) && strings.Contains(said, " "+family+" ") {
			members[family]++
		}
	}
	for _, n := range members {
		if n > 1 {
			return true
		}
	}
	return false
}

// says reports words that stand together in a chunk.
func (c chunks) says(words string) bool {
	return slices.ContainsFunc(c.list, func(k *chunk) bool {
		return strings.Contains(" "+strings.Join(guard.Words(k.HeadingPath+" "+k.Content), " ")+" ", " "+words+" ")
	})
}

// isNumeral reports a number in letters.
func isNumeral(word string) bool {
	figures := guard.Figures(word)
	return len(figures) == 1 && figures[0].Spelled
}

// plainWord folds one token; keyOf is what the chunks know it by.
func plainWord(token string) string { return strings.Join(guard.Words(token), "") }

func keyOf(word string) string {
	if isDigits(word) {
		return "#" + strings.TrimLeft(word, "0")
	}
	return stem(word)
}

// isAmount says whether a number and a word are an amount of something: "24 months".
func isAmount(text string) bool {
	for _, f := range guard.Figures(text) {
		return f.Dimension != ""
	}
	return false
}
