package guard

import (
	"regexp"
	"strconv"
	"strings"
)

// numberWords are the values of plain words below a thousand in English, German and Spanish.
var numberWords = makeNumberWords()

func makeNumberWords() map[string]int {
	m := map[string]int{}
	add := func(first, step int, names string) {
		for i, alternatives := range strings.Fields(names) {
			for name := range strings.SplitSeq(alternatives, "|") {
				m[name] = first + i*step
			}
		}
	}
	add(0, 1, `zero|null|cero one|ein|eins|eine|einen|einem|einer|un|uno|una two|zwei|zwo|dos three|drei|tres
		four|vier|cuatro five|funf|cinco six|sechs|seis seven|sieben|siete eight|acht|ocho nine|neun|nueve
		ten|zehn|diez eleven|elf|once twelve|zwolf|doce thirteen|dreizehn|trece fourteen|vierzehn|catorce
		fifteen|funfzehn|quince sixteen|sechzehn|dieciseis seventeen|siebzehn|diecisiete
		eighteen|achtzehn|dieciocho nineteen|neunzehn|diecinueve`)
	add(20, 1, `twenty|zwanzig|veinte veintiuno|veintiun veintidos veintitres veinticuatro veinticinco
		veintiseis veintisiete veintiocho veintinueve`)
	add(30, 10, `thirty|dreissig|treinta forty|vierzig|cuarenta fifty|funfzig|cincuenta sixty|sechzig|sesenta
		seventy|siebzig|setenta eighty|achtzig|ochenta ninety|neunzig|noventa`)
	add(100, 100, `cien|ciento doscientos|doscientas trescientos|trescientas cuatrocientos|cuatrocientas
		quinientos|quinientas seiscientos|seiscientas setecientos|setecientas ochocientos|ochocientas
		novecientos|novecientas`)
	return m
}

var letters = regexp.MustCompile(`\p{L}+`)

// spelledIn finds the numbers that a plain line spells out: "ninety-nine", "neunundneunzig",
// "noventa y nueve". Values are below a million.
func spelledIn(line string) []quantity {
	var out []quantity
	at := letters.FindAllStringIndex(line, -1)
	for i := 0; i < len(at); {
		value, n := readNumber(line, at[i:])
		if n == 0 {
			i++
			continue
		}
		word := line[at[i][0]:at[i+n-1][1]]
		if word != "once" || startsMoney(line[at[i][1]:]) { // "paid once" is not eleven
			out = append(out, quantity{amount: strconv.Itoa(value), start: at[i][0], end: at[i+n-1][1], spelled: true})
		}
		i += n
	}
	return out
}

func startsMoney(rest string) bool {
	u, _, _ := unitAfter(rest)
	return u.dimension == money
}

// readNumber reads as many words as make one number and returns how many it used.
func readNumber(line string, at [][]int) (value, used int) {
	thousands, current := 0, 0
	for i := 0; i < len(at); i++ {
		if i > 0 && strings.Trim(line[at[i-1][1]:at[i][0]], " -") != "" {
			break
		}
		word := line[at[i][0]:at[i][1]]
		if i > 0 && joins(word, current) && i+1 < len(at) {
			continue // counted only when a number follows
		}
		v, ok := wordValue(word)
		switch {
		case (word == "hundred" || word == "hundert") && current < 10:
			current = max(current, 1) * 100
		case (word == "thousand" || word == "tausend" || word == "mil") && used > 0 && thousands == 0:
			thousands, current = max(current, 1)*1000, 0
		case ok && fits(current, v, used):
			current += v
		default:
			return thousands + current, used
		}
		used = i + 1
	}
	return thousands + current, used
}

// joins reports the "and" of "hundred and five" and the "y" of "noventa y nueve".
func joins(word string, current int) bool {
	return word == "and" && current >= 100 && current%100 == 0 ||
		word == "y" && current%100 >= 30 && current%10 == 0
}

// fits says whether v may follow what was read: twenty + nine, hundred + ten.
func fits(current, v, used int) bool {
	return used == 0 || current == 0 && v < 1000 || current%100 == 0 && v < 100 ||
		current%100 >= 20 && current%10 == 0 && v < 10 && v > 0
}

// wordValue knows simple words and German compounds ("zweihundertneunundneunzig").
func wordValue(w string) (int, bool) {
	if v, ok := numberWords[w]; ok {
		return v, true
	}
	for _, power := range []struct {
		name string
		size int
	}{{"tausend", 1000}, {"hundert", 100}} {
		if left, right, found := strings.Cut(w, power.name); found && w != power.name {
			l, okLeft := orElse(left, 1)
			r, okRight := orElse(strings.TrimPrefix(right, "und"), 0)
			return l*power.size + r, okLeft && okRight
		}
	}
	if ones, tens, found := strings.Cut(w, "und"); found {
		o, okOnes := numberWords[ones]
		t, okTens := numberWords[tens]
		return t + o, okOnes && okTens && o > 0 && o < 10 && t >= 20 && t < 100
	}
	return 0, false
}

func orElse(w string, empty int) (int, bool) {
	if w == "" {
		return empty, true
	}
	return wordValue(w)
}
