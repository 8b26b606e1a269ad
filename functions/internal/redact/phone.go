package redact

import (
	"regexp"
	"strings"
)

// phones finds telephone numbers:
//
//   - international ones, that begin with "+" or "00" and a country's code;
//   - of the North American plan in its groups, and those with the area code in brackets;
//   - any other of 6 to 15 digits that a label or the words of a call announce, or a label follows.
//
// A number that a label calls something else, such as an order, and what is a date, a time or an amount
// is none.
func phones(v view) (found [][2]int) {
	all := chains(v.text, " -./()")
	for i := 0; i < len(all); i++ {
		c := all[i]
		if span, ok := phoneIn(v.text, c); ok {
			found = append(found, span...)
			continue
		}
		// over a line end: the first half was too short to be one
		if i+1 < len(all) && strings.Trim(v.text[c.end:all[i+1].start], " ") == "\n" {
			both := chain{c.start, all[i+1].end, append(append([]group{}, c.groups...), all[i+1].groups...)}
			if span, ok := phoneIn(v.text, both); ok && len(c.digits(v.text, 0, len(c.groups))) < 7 {
				found = append(found, span...)
				i++
			}
		}
	}
	return found
}

// phoneIn judges a chain; one that is too long may be two numbers with a wider gap between them.
func phoneIn(text string, c chain) (spans [][2]int, ok bool) {
	left := before(text, c.start, 72)
	switch n := len(c.digits(text, 0, len(c.groups))); {
	case n < 6:
		return nil, false
	case n > 15:
		return splitPhones(text, c)
	}
	number := text[c.start:c.end]
	end := c.end
	if m := extension.FindString(text[end:min(len(text), end+24)]); m != "" {
		end += len(m)
	} else if regexpWord.MatchString(text[end:]) {
		return nil, false // a letter follows: a code
	}
	if strings.HasPrefix(strings.TrimLeft(number, "("), "+") {
		ok = isInternational(digitsOf(number)) && !isAmount(text, c)
		if m := restOfNumber.FindStringSubmatch(text[end:min(len(text), end+24)]); ok && m != nil && len(digitsOf(number+m[1])) <= 13 {
			end += len(m[0]) - len(m[2])
		}
		return [][2]int{{c.start, end}}, ok
	}
	switch {
	case isAnnounced(left), number[0] == '0' && letterLabel.MatchString(left), labelAfter.MatchString(text[end:min(len(text), end+24)]):
		ok = true
	case regexpGluedBefore.MatchString(left[max(0, len(left)-4):]) || regexpCodeBefore.MatchString(left[max(0, len(left)-1):]):
	case strings.HasPrefix(number, "00"):
		ok = isInternational(digitsOf(number)[2:])
	default:
		ok = regexpNorthAmerican.MatchString(number) || isBracketed(number)
	}
	return [][2]int{{c.start, end}}, ok && !isNoPhone(text, c, left)
}

// isAnnounced says that a label or the words of a call end the text. A word of theirs is looked for first:
// most numbers have none before them, and the patterns are long.
func isAnnounced(left string) bool {
	lower := strings.ToLower(left)
	return mentions(lower, phoneNouns+"|☎|☏|✆|📞|📱|📠") && phoneLabel.MatchString(left) ||
		mentions(lower, callStems) && callWords.MatchString(left)
}

func mentions(lower, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// splitPhones looks for numbers in a chain of several, such as "030 1234567 / 040 7654321".
func splitPhones(text string, c chain) (spans [][2]int, ok bool) {
	for from, i := 0, 0; i < len(c.groups); i++ {
		isLast := i+1 == len(c.groups)
		if !isLast && c.groups[i+1].start-c.groups[i].end < 2 {
			continue
		}
		if from == 0 && isLast {
			return nil, false
		}
		part := chain{c.groups[from].start, c.groups[i].end, c.groups[from : i+1]}
		for part.start > 0 && strings.IndexByte("(+", text[part.start-1]) >= 0 {
			part.start--
		}
		if n := len(part.digits(text, 0, len(part.groups))); n >= 6 && n <= 15 {
			// the label before the first of them is one for all
			if span, isPhone := phoneIn(text, part); isPhone || n >= 7 && phoneLabel.MatchString(before(text, c.start, 72)) && !isNoPhone(text, part, "") {
				if !isPhone {
					span = [][2]int{{part.start, part.end}}
				}
				spans = append(spans, span...)
			}
		}
		from = i + 1
	}
	return spans, len(spans) > 0
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// isInternational says that digits are a country's code and a number of a length that is in use there
// (ITU-T E.164: 15 digits at most). The plan of +1 has ten digits, and none begins with two zeros.
func isInternational(digits string) bool {
	code := regexpCountry.FindString(digits)
	national := strings.TrimPrefix(digits, code)
	switch {
	case code == "" || len(digits) > 15 || strings.HasPrefix(national, "00"):
		return false
	case code == "1":
		return len(national) >= 10 && len(national) <= 12
	}
	return len(digits) >= 8 && len(national) >= 5
}

// regexpCountry is the list of country codes of ITU-T E.164.
var regexpCountry = regexp.MustCompile(`^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1234569]\d|3[578]\d|42\d|5[09]\d|6[789]\d|8[0578]\d|9[679]\d)`)

// extension finds what may follow a number to reach one desk.
var extension = regexp.MustCompile(`(?i)^ ?(?:x|ext\.?|extension|durchwahl|dw|anexo|int\.) ?[.:]? ?\d{1,6}\b`)

const phoneNouns = `phone|telephone|tel|tele|mobile|mob|cell|cellphone|cellular|fax|telefax|desk|direct line|hotline|landline|whatsapp|sms|handy|handynummer|telefon|telefonnummer|festnetz|durchwahl|rufnummer|mobilnummer|mobiltelefon|mobil|fon|telefono|teléfono|tlf|tfno|tfn|móvil|movil|celular|fijo|téléphone|portable|gsm|telefoon|cellulare|telemóvel|contact|kontakt|contacto|contact no|contact number|phone no|ph|my number|your number|his number|her number|meine nummer|mi número`

// phoneLabel finds a label at the end of a text, with nothing but filling between it and the number.
var phoneLabel = regexp.MustCompile(`(?i)(?:(?:^|[^\p{L}])(?:` + phoneNouns + `)|[☎☏✆📞📱📠])` +
	`(?:[ \n.:=#*_|>()/,\x{FFFC}-]|\b(?:numbers?|no|nr|num|nummer|número|numero|is|are|ist|lautet|es|direct|office|home|work|private|privat|mobile|fax|or|und|and)\b)*$`)

// letterLabel finds the labels of a business card at the end of a text.
var letterLabel = regexp.MustCompile(`(?:^|[^\p{L}\d])[TMFP] ?[:.] ?$`)

// callStems are in every text that callWords finds.
const callStems = `call|dial|ring|text|phone|llam|marque|sms|message|whatsapp|reach|answer|contact|registered|erreich|ruf|wähl|localiz`

// callWords finds, at the end of a text, words that say to call, write to or reach a number.
var callWords = regexp.MustCompile(`(?i)\b(?:call|dial|ring|text|phone|anrufen|llame|llamar|llama|marque)[ :]+$` +
	`|\b(?:call|calls|called|calling|ring|dial|text|texts|sms|messages?|whatsapp|reach|reached|reachable|answering|answers?|contact|contacted|phone|registered|erreich\p{L}*|anruf\p{L}*|ruf\p{L}*|wähl\p{L}*|llam\p{L}*|contact\p{L}*|localiz\p{L}*|rückruf\p{L}*)\b[^\n.;!?\d]{0,40}\b(?:at|on|to|via|under|unter|auf|an|al|en|registered|number|sie|nummer|número)[ :]*$`)

// labelAfter finds a label behind a number: "-Fax", " office" at the end of a line.
var labelAfter = regexp.MustCompile(`(?i)^(?: ?[-–(/,] ?| )(?:office|fax|mobile|cell|work|home|desk|phone|tel|telefon|direct|main|büro|mobil|handy|privat|móvil|oficina|casa|fijo)\b(?:[^\p{L}\d ]|\s*$|\s*\n| ?[|;,)])`)

const otherNouns = `order|orders|invoice|contract|customer|client|meter|article|articles|item|items|product|part|parts|model|models|serial|ticket|case|ref|reference|tracking|account|version|build|sku|ean|gtin|isbn|imei|mac|id|ids|code|zähler|kunden|bestell|rechnungs|vertrags|artikel|auftrags|serien|zählernummer|kundennummer|bestellnummer|rechnungsnummer|vertragsnummer|artikelnummer|auftragsnummer|seriennummer|pedido|factura|cliente|contrato|contador|artículo`

// otherLabel finds, at the end of a text, a label of numbers that are of something else.
var otherLabel = regexp.MustCompile(`(?i)\b(?:` + otherNouns + `)` +
	`(?:[ .:=#*_|-]|\b(?:numbers?|no|nr|num|nummer|id|code|número|is|ist|es)\b)*$`)

// restOfNumber finds the other half of an international number on a line of its own.
var restOfNumber = regexp.MustCompile(`^-?\n *(\d{3,8})([.,;)]?(?: *\n|$))`)

// isNoPhone knows what has as many digits as a number to call and is none.
func isNoPhone(text string, c chain, left string) bool {
	number := strings.Trim(text[c.start:c.end], "()+")
	return mentions(strings.ToLower(left), otherNouns) && otherLabel.MatchString(left) || isAmount(text, c) || regexpNoPhone.MatchString(number)
}

// regexpNoPhone lists dates, times of opening, spans of years, addresses of machines, round thousands.
var regexpNoPhone = regexp.MustCompile(`^(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}(?:$|[^\d])` +
	`|^\d{1,2}[-./ ] ?\d{1,2}[-./ ] ?(?:19|20)\d\d(?:$|[^\d])` +
	`|^\d{1,2}\.\d{1,2}\. ?- ?\d{1,2}\.\d{1,2}\.?` +
	`|^\d{1,2}[.]\d\d ?- ?\d{1,2}[.]\d\d(?:$|[^\d])` +
	`|^(?:19|20)\d\d ?[-/] ?(?:19|20)\d\d$` +
	`|^(?:19|20)\d\d(?:0\d|1[0-2])(?:[0-2]\d|3[01])$` +
	`|^\d{1,3}(?:\.\d{1,3}){3}$` +
	`|^\d{1,3}(?:[. ]\d{3})*[. ]000$|^\d+000000$` +
	`|^\d+\.\d{1,2}$`)

// isAmount says that money or a unit stands beside a number.
func isAmount(text string, c chain) bool {
	return regexpMoneyBefore.MatchString(before(text, c.start, 6)) ||
		regexpUnitAfter.MatchString(text[c.end:min(len(text), c.end+12)]) || regexpDecimals.MatchString(text[c.end:min(len(text), c.end+4)])
}

var (
	regexpMoneyBefore = regexp.MustCompile(`(?:[€$£¥]|EUR|USD|GBP|CHF) ?$`)
	regexpUnitAfter   = regexp.MustCompile(`^ ?(?:[€$£¥%]|(?:EUR|USD|GBP|CHF|ct|cents?|euros?|[kMG]?Wh?|kWh|[kMG]bit|Mbps|points?|Punkte|puntos)\b)`)
	regexpDecimals    = regexp.MustCompile(`^,\d`)
	regexpCodeBefore  = regexp.MustCompile(`[-/.#_]$`)
)

// regexpNorthAmerican is 3-3-4 with signs between; areas begin with 2 to 9.
var regexpNorthAmerican = regexp.MustCompile(`^(?:1[ .-])?(?:\([2-9]\d\d\)[ .-]{0,2}|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}$`)

// isBracketed says that a number begins with an area code in brackets, which is no year.
func isBracketed(number string) bool {
	m := regexpBracketed.FindStringSubmatch(number)
	return m != nil && !regexpYear.MatchString(m[1]) && len(digitsOf(number)) >= 8 && len(digitsOf(number)) <= 13
}

var (
	regexpBracketed = regexp.MustCompile(`^\((\d{2,5})\) ?\d[\d -]*$`)
	regexpYear      = regexp.MustCompile(`^(?:19|20)\d\d$`)
)
