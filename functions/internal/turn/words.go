package turn

import (
	"fmt"
	"time"

	"porchlight/functions/internal/corpus"
)

// words are the few sentences that the product itself says, in the languages that it can say them.
type words struct {
	held, never, open string
	months            [12]string
	date              string // day, month, year
}

var languages = map[string]words{
	"en": {
		held: "There is a price in “%s”, but it was last verified on %s, longer ago than the %d days that %s allows. " +
			"Please check it before you quote it.",
		never: "There is a price in “%s”, but nobody has verified it within the %d days that %s allows. " +
			"Please check it before you quote it.",
		open: "Open “%s”",
		months: [12]string{
			"January", "February", "March", "April", "May", "June", "July", "August",
			"September", "October", "November", "December",
		},
		date: "%d %s %d",
	},
	"de": {
		held: "In „%s“ steht ein Preis, aber er wurde zuletzt am %s geprüft, länger her als die %d Tage, die %s erlaubt. " +
			"Bitte prüfen Sie ihn, bevor Sie ihn nennen.",
		never: "In „%s“ steht ein Preis, aber niemand hat ihn innerhalb der %d Tage geprüft, die %s erlaubt. " +
			"Bitte prüfen Sie ihn, bevor Sie ihn nennen.",
		open: "„%s“ öffnen",
		months: [12]string{
			"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August",
			"September", "Oktober", "November", "Dezember",
		},
		date: "%d. %s %d",
	},
	"es": {
		held: "Hay un precio en «%s», pero se verificó por última vez el %s, hace más de los %d días que permite %s. " +
			"Compruébelo antes de decirlo.",
		never: "Hay un precio en «%s», pero nadie lo ha verificado en los %d días que permite %s. " +
			"Compruébelo antes de decirlo.",
		open: "Abrir «%s»",
		months: [12]string{
			"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
			"septiembre", "octubre", "noviembre", "diciembre",
		},
		date: "%d de %s de %d",
	},
}

func wordsOf(language string) words {
	if w, ok := languages[language]; ok {
		return w
	}
	return languages["en"]
}

// heldWords says why a price is not quoted.
func heldWords(b Begun, m corpus.Match) string {
	w := wordsOf(b.Language)
	if m.VerifiedAt == nil {
		return fmt.Sprintf(w.never, m.SourceTitle, b.VerifiedWithinDays, b.Brand)
	}
	return fmt.Sprintf(w.held, m.SourceTitle, w.longDate(*m.VerifiedAt), b.VerifiedWithinDays, b.Brand)
}

func (w words) longDate(t time.Time) string {
	t = t.UTC()
	return fmt.Sprintf(w.date, t.Day(), w.months[t.Month()-1], t.Year())
}
