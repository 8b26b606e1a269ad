package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// filling is what may stand between a label and what it announces.
const filling = `(?:[\s:=#*_|(,.-]|\b(?i:numbers?|no|nr|num|nummer|número|numero|is|was|it'?s|ist|lautet|es|on|am|el|der|of)\b)*`

const months = `(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|ene|abr|ago|dic)\p{L}*`

const date = `(?i:\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}` +
	`|\d{1,2}(?:st|nd|rd|th|\.)?(?: of| de)? ?\p{L}{3,10}\.?,?(?: de)? \d{2,4}` +
	`|\p{L}{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}` +
	`|\d{1,2}(?:st|nd|rd|th|\.)?(?: of| de)? ?` + months + `|` + months + ` \d{1,2}(?:st|nd|rd|th)?)\b`

var (
	births = newPhrasebook(`date of birth|d.o.b|DOB|birthdate|birth date|birthday|born|geburtsdatum|geburtstag|geb|geboren|`+
		`fecha de nacimiento|nacido|nacida|date de naissance|né le|née le|data di nascita`, filling+`(`+date+`)`)

	// documents are the labels of numbers that a state, an insurer or an employer gives to a person.
	documents = newPhrasebook(`passport|passport nr|reisepass|reisepassnummer|passnr|pass-nr|passnummer|pass-nummer|pasaporte|passeport|`+
		`identity card|id card|national id|personalausweis|personalausweisnummer|ausweisnummer|ausweisnr|`+
		`ssn|social security|sozialversicherungsnummer|sv-nummer|svnr|versichertennummer|krankenversicherungsnummer|seguridad social|`+
		`health insurance|national insurance|tax id|taxpayer id|steuer-id|steueridentifikationsnummer|steuernummer|`+
		`driver's license|drivers license|driver license|driver's licence|drivers licence|driving licence|driving license|`+
		`führerschein|führerscheinnummer|permiso de conducir|carnet de conducir|carné de conducir|`+
		`patient id|employee id|personalnummer|DNI|NIE|NIF|NINO|TIN|DL|AHV|NHS`,
		`\b(`+filling+`)((?:[A-Z]{1,3} )?[A-Za-z]{0,3}\d[A-Za-z0-9]*(?:[ ./-][A-Za-z]{0,3}\d[A-Za-z0-9]*|[ -][A-Z]\b)*)`)

	// told are labels whose value is words, up to the end of the line or of the cell.
	told = newPhrasebook(`place of birth|geburtsort|lugar de nacimiento|maiden name|geburtsname|mädchenname|nationality|`+
		`staatsangehörigkeit|nacionalidad|marital status|familienstand|estado civil|religion|first name|last name|full name|`+
		`surname|given name|family name|vorname|nachname|familienname|apellido|apellidos|customer name|contact person|`+
		`ansprechpartner|ansprechpartnerin|persona de contacto`, `[*_]*\s?:[*_ ]*([^\n;|]{1,120})`)

	isExplicit = regexp.MustCompile(`(?i)[:=#]|\b(?:n[or]|numbers?|num|nummer|número|numero)\b`)
)

// personalDetails finds what a label calls somebody's: a date of birth, the number of a document, where
// someone was born, a name in a form.
func personalDetails(v view) (found [][2]int) {
	for _, m := range births.find(v) {
		found = append(found, [2]int{m[2], m[3]})
	}
	for _, m := range documents.find(v) {
		n := len(digitsOf(v.text[m[4]:m[5]]))
		if n >= 6 || n >= 4 && isExplicit.MatchString(v.text[m[2]:m[3]]) {
			found = append(found, [2]int{m[4], m[5]})
		}
	}
	for _, m := range told.find(v) {
		found = appendValue(found, v.text, m[2], m[3])
	}
	return found
}

// appendValue appends the value from start to end without the blanks and stars around it, unless
// nothing of it is left to hide.
func appendValue(found [][2]int, text string, start, end int) [][2]int {
	isEdge := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	value := text[start:end]
	start += len(value) - len(strings.TrimLeftFunc(value, isEdge))
	end -= len(value) - len(strings.TrimRightFunc(value, isEdge))
	if start >= end {
		return found
	}
	return append(found, [2]int{start, end})
}

var (
	// addressLabels are those of a postal address with a colon. What may stand before the colon says no
	// more than that one follows.
	addressLabels = newPhrasebook(`address|addresses|anschrift|wohnadresse|privatadresse|lieferadresse|rechnungsadresse|adresse|`+
		`dirección|direccion|domicilio|indirizzo|residence|wohnort`,
		`(?i:,? (?:is|are|to|the|same|following|here|they|it|line|of|for|new|old|ist|lautet|es|\d|\([^)\n]{1,20}\)))*[ ]?[*_]*:[\s*_>]*`)
	// postalLabels are those that need no colon, when they end a line or a dash follows.
	postalLabels = newPhrasebook(`home address|shipping address|billing address|delivery address|postal address|mailing address|`+
		`residential address|private address|anschrift|wohnadresse|privatadresse|lieferadresse|rechnungsadresse|domicilio`,
		`[*_ ]*(?:\s-\s|\n)[\s*_>]*`)
	moved  = newPhrasebook(`address is|address is now|adresse ist|adresse lautet|anschrift ist|anschrift lautet|dirección es`, `\s+`)
	living = newPhrasebook(`live at|lives at|lived at|live in|lives in|lived in|resides at|resides in|wohnt in|wohnhaft in|vive en|`+
		`domiciliado en|domiciliada en`, `\b[\s*_>]*`)
	// otherAddress finds, at the end of a text, a word that makes an address one of another sort.
	otherAddress = regexp.MustCompile(`(?i)\b(?:e-?mail|ip|web|mac|internet|url|network|host|wallet|bitcoin)[ -]$`)
	onlyYear     = regexp.MustCompile(`^\D*(?:19|20)\d\d\D*$`)
)

// addresses finds what follows the label of an address, or the words that somebody lives there: the rest
// of the line or cell, and lines after it that look like one. Without a digit it is no address; after
// "address is" it begins with one, because other words follow more often.
func addresses(v view) (found [][2]int) {
	for _, m := range slices.Concat(addressLabels.find(v), postalLabels.find(v), living.find(v)) {
		found = appendAddress(found, v.text, m)
	}
	for _, m := range moved.find(v) {
		if m[1] < len(v.text) && isDigit(v.text[m[1]]) {
			found = appendAddress(found, v.text, m)
		}
	}
	return found
}

func appendAddress(found [][2]int, text string, label []int) [][2]int {
	value := text[label[1]:addressEnd(text, label[1])]
	isOther := otherAddress.MatchString(before(text, label[0], 12))
	if isOther || !strings.ContainsAny(value, "0123456789") || onlyYear.MatchString(value) {
		return found
	}
	return appendValue(found, text, label[1], label[1]+len(value))
}

// maxAddressLines is more than a postal address has.
const maxAddressLines = 6

// addressEnd returns where the address that begins at start ends: at a blank line, the end of a cell, a
// sentence, or before the first line that is no part of an address.
func addressEnd(text string, start int) int {
	end := start
	for range maxAddressLines {
		line := text[end:min(len(text), end+maxPhrase)]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		isFirst := end == start
		if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, string(opaque)) || !isFirst && !addressLine.MatchString(line) {
			return end
		}
		if stop := sentenceEnd.FindStringIndex(line); stop != nil {
			return end + stop[0] + len(strings.TrimRight(line[stop[0]:stop[1]], " \n")) - 1
		}
		if stop := strings.IndexAny(line, ";|?!"); stop >= 0 {
			return end + stop
		}
		end += len(line)
		if end >= len(text) || text[end] != '\n' {
			return end
		}
		end++
	}
	return end
}

var (
	// sentenceEnd spares abbreviations such as "St." and "u."
	sentenceEnd = regexp.MustCompile(`[\p{L}\d]{4,}\. |[\p{L}\d]{4,}\.$`)
	// addressLine is a short line with a digit or of few words, without a label.
	addressLine = regexp.MustCompile(`^[^:]{0,60}\d[^:]{0,30}$|^[ >]*[\p{L},.'-]+(?: [\p{L},.'-]+){0,4} *$`)
)
