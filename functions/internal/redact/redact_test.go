package redact

import (
	"errors"
	"strings"
	"testing"
)

// redacted redacts one text with all kinds and the literals.
func redacted(t *testing.T, text string, literals ...string) (string, error) {
	t.Helper()
	p, err := file{Literals: literals}.policy()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := p.Redact([]string{text})
	if err != nil {
		return "", err
	}
	return parts[0], nil
}

// D3
func TestRedact_TakesOut(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an address of mail", "Write to wren.halloway+door@mail.example.com today.", "Write to [email] today."},
		{"one in Markdown", "[Wren](mailto:wren@mail.example) or **wren@mail.example**", "[Wren](mailto:[email]) or **[email]**"},
		{"an internationalised host", "user@xn--80ak6aa92e.com und jörg@käsewürfel.de", "[email] und [email]"},
		{"a quoted name", `Ask "wren halloway"@mail.example now`, "Ask [email] now"},
		{"an address literal", "root@[192.0.2.7] runs", "[email] runs"},
		{"brackets for the sign", "wren [at] mail [dot] example [dot] com!", "[email]!"},
		{"the first form of the case", "name [at] host dot com", "[email]"},
		{"round brackets", "wren(at)mail.example, wren (at) mail (dot) example", "[email], [email]"},
		{"words", "Mail: wren dot halloway at mail dot example", "Mail: [email]"},
		{"words without a label", "so wren at posteo dot de it is", "so [email] it is"},
		{"capitals", "wren AT mail DOT example", "[email]"},
		{"German words", "wren [ät] mail [punkt] de", "[email]"},
		{"Spanish words", "wren arroba correo punto es", "[email]"},
		{"blanks around the sign", "wren @ mail.example and wren@mail .example", "[email] and [email]"},
		{"entities", "wren&#64;mail.example and wren&commat;mail&#46;example", "[email] and [email]"},
		{"invisible characters and other widths", "wr\u200ben@\u00admail.example, ｗｒｅｎ＠ｍａｉｌ．ｅｘａｍｐｌｅ", "[email], [email]"},
		{"letters of another alphabet", "wrеn@mаil.ехаmple", "[email]"},
		{"a host over a line end", "wren@\nmail.example", "[email]"},
		{"a label with a bare at", "E-mail: wren at mail.example", "E-mail: [email]"},

		{"a name that is no word", "so wren.halloway at mail.example, wren77 at mail.example", "so [email], [email]"},
		{"words between dashes", "wren.halloway_at_mail_dot_example", "[email]"},

		{"an international number", "Ring +49 30 901820 or 0049 30 901820.", "Ring [phone] or [phone]."},
		{"one with a trunk zero and an extension", "+44 (0)20 7946 0018 ext. 12", "[phone]"},
		{"one over two lines", "Tel. +49 30\n1234 5678", "Tel. [phone]"},
		{"one that goes on in the next line", "phone +49-30-1234\n5678\nnext", "phone [phone]\nnext"},
		{"the letters of a business card", "T: 030 901820, F: 030 901821; ☎ 030 901822", "T: [phone], F: [phone]; ☎ [phone]"},
		{"a national one with its label", "Telefon: 030 / 90 18 20-12; Móvil: 612 34 56 78", "Telefon: [phone]; Móvil: [phone]"},
		{"one with a label behind", "0664 1234567 (mobile)\n416 60 039 office", "[phone] (mobile)\n[phone] office"},
		{"one that is to be called", "Please call me on 0490 75 40 81, or reach her under 0664 1234567.", "Please call me on [phone], or reach her under [phone]."},
		{"two after one label", "Tel: 030 1234567 / 040 7654321", "Tel: [phone] / [phone]"},
		{"three after one label", "Phone: 467 3395, 467 3396 or 467 3397", "Phone: [phone], [phone] or [phone]"},
		{"the North American plan", "(579) 888-3058, 905-674-3793, 259.735.7502x459", "[phone], [phone], [phone]"},
		{"digits of another script", "هاتف +٤٩ ٣٠ ٩٠١٨٢٠", "هاتف [phone]"},
		{"odd dashes", "Fax 030‑901820–12", "Fax [phone]"},

		{"an account", "IBAN DE89 3704 0044 0532 0130 00 at the bank", "IBAN [iban] at the bank"},
		{"one in small letters, dashes and lines", "gb82-west-1234-5698-7654-32\nNL91\nABNA 0417 1643 00", "[iban]\n[iban]"},
		{"one in single characters", "D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0", "[iban]"},
		{"a card", "4111 1111 1111 1111 12/27, 5500-0000-0000-0004, 340000000000009", "[card] 12/27, [card], [card]"},
		{"a card of 19 digits with its label", "Card number: 4131034282458809939", "Card number: [card]"},
		{"a card over two lines after its label", "card number\n4111 1111\n1111 1111", "card number\n[card]"},
		{"a card in any groups after its label", "Kreditkarte 41 11 11 11 11 11 11 11", "Kreditkarte [card]"},

		{"a date of birth", "Date of birth: 2 March 1988; geboren am 02.03.1988; born on 3/2/1988", "Date of birth: [personal detail]; geboren am [personal detail]; born on [personal detail]"},
		{"a document", "Passport no. C01X00T47, Reisepass: C01X 0006 H, DNI 12345678Z", "Passport no. [personal detail], Reisepass: [personal detail], DNI [personal detail]"},
		{"a document in groups", "Passport: AB 123456, National Insurance Number QQ 12 34 56 C", "Passport: [personal detail], National Insurance Number [personal detail]"},
		{"a birthday", "Birthday: 1 February; geb. 3. März", "Birthday: [personal detail]; geb. [personal detail]"},
		{"a number of a state", "His social security number is 853-37-1694. Steuer-ID: 86 095 742 719", "His social security number is [personal detail]. Steuer-ID: [personal detail]"},
		{"a form", "First name: Wren; Place of birth: Graz; Contact person: W. Halloway", "First name: [personal detail]; Place of birth: [personal detail]; Contact person: [personal detail]"},
		{"a postal address", "Address: 14 Crown Street, Apt. 3\n8010 Graz\nAustria\n\nNext", "Address: [address]\n\nNext"},
		{"an address in a table", "Name: Desk; Anschrift: Lange Gasse 12, 1080 Wien; Stück: 3.", "Name: Desk; Anschrift: [address]; Stück: 3."},
		{"a postal address without a colon", "Delivery address\n12 Elm St\nGraz\n\nMy address is 12 Elm St, Graz.", "Delivery address\n[address]\n\nMy address is [address]."},
		{"where somebody lives", "She lives at 86036 Rua do Arenque 1634. He is out.", "She lives at [address]. He is out."},

		{"a page", "See https://mail.example/a?b=c, www.mail.example.", "See [url], [url]."},
		{"a page in Markdown", "[the page](https://mail.example/x) and <https://mail.example>", "[the page]([url]) and <[url]>"},
		{"a host", "on wren-halloway.com, mail.example/x or mail[.]example", "on [url], [url] or [url]"},
		{"a profile", "LinkedIn: Wren Halloway\nhttps://www.linkedin.com/in/wren", "LinkedIn: [profile]\n[profile]"},
		{"a handle", "ask @wren_h, Telegram: wren_h", "ask [handle], Telegram: [handle]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := redacted(t, tt.in)
			if err != nil || got != tt.want {
				t.Errorf("%q\n got %q, %v\nwant %q", tt.in, got, err, tt.want)
			}
		})
	}
}

// D3: a false alarm takes a fact from the people who sell.
func TestRedact_LetsPass(t *testing.T) {
	for _, text := range []string{
		"Hearthfix 12 costs €11.40 a month, 31.6 ct/kWh; €1,299.00 or 1.299,00 € once.",
		"49.90 59.90 69.90 79.90\n4500 | 4600 | 4700 | 4800",
		"+10 000 points, +12.50 €, +1 000 000 kWh, -20 %",
		"1 000 000 customers, 2 500 000 kWh, 12 000 000 €",
		"Hotline: Mon–Fri 8:00–20:00, Sa 09.00 - 13.00, call us 9-17.",
		"Mobile M: 19.90; Mobile L: 1299.00; Fibre 1000 / 1000 Mbit.",
		"Order 302-7710-045, order number: 123-456-7890, Bestellnummer 0664 1234567.",
		"Call us with your customer number 4471 8829 or the meter number 10 2345 6789.",
		"SKU 905-674-3793, HX-2200-4410-77, EAN 4006381333931, ISBN 978-3-16-148410-0",
		"The id 1234567890123456789 and the id 4131034282458809939.",
		"Serial 4111111111111112, invoice 123-45-6789, 2026-000-123-4567",
		"card 4111 1111 1111 1112 and IBAN DE88 3704 0044 0532 0130 00", // one digit is wrong
		"SIM card 8944 5000 0000 0000 006",
		"2026-11-18, 18.11.2026, 18/11/2026, 18 November 2026, 2026-11-18 20:15:00, 20261118",
		"Call between 01.10.2026 and 31.12.2026. Text on 24 12 2026.",
		"2024 / 2025 and 2025-2026, phone 2025-2026",
		"Meet at noon. Look at the polka dot dress. The dot at the end is red.",
		"Look at the dot it made, and at the dot in the corner. Arrive at ten dot.",
		"3 pcs @ 4.50, 5 V @ 2 A, logo@2x.png, react@18.2.0",
		"Address objections calmly: 3 of 4 customers agree. The IP address: 192.168.100.200.",
		"The address is checked in 3 steps. How to address\n3 objections: smile. Shop at glowmere now. Look at 3 of 4.",
		"Contact within 1000 to 2000 hours; kontakt 2026; SIM card prices:\n1299\n1499\n1599\n1699",
		"Tariffs T: 100000, M: 200000, P: 300000. born to 1 may be. +49 90 a month",
		"My passport is ready. Born in a small town, dot by dot.",
		"Shop at our stores. E-mail us, or ask at the desk.",
		"Node.js, ASP.NET, e.g. this, z. B. das, index.html, install.sh, v1.2.3.4567",
		"The plan is a, b, c. 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
		"Coordinates 52.520008, 13.404954; 10.0.0.1; 3.14159265",
		"We reach 2 500 000 homes. Contact within 14 days, at most 10 000 000.",
		"@media print { } and 100 % @ home, import '@tools-ai/sdk'",
	} {
		if got, err := redacted(t, text); err != nil || got != text {
			t.Errorf("%q\n got %q, %v", text, got, err)
		}
	}
}

// S8: what no finder takes out is still seen by the second look, and stops the document.
func TestRedact_StopsAtASurvivor(t *testing.T) {
	tests := []struct {
		name, in string
		kind     Kind
	}{
		{"letters apart", "j a n e @ m a i l . e x a m p l e", Email},
		{"a host cut at a line end", "jane@exam-\nple.net", Email},
		{"entities for letters", "&#106;&#97;&#110;&#101;&#64;&#109;ail&#46;example", Email},
		{"percent signs", "x=jane%2540mail%252Eexample", Email},
		{"no top-level domain", "jane@intranet", Email},
		{"odd signs in a number", "+49_30_901_82_00", Phone},
		{"digits apart with signs", "4*1*1*1*1*1*1*1*1*1*1*1*1*1*1*1", Card},
		{"fours with odd signs", "4111 * 1111 * 1111 * 1111", Card},
		{"a page with blanks", "h t t p s : / / mail", URL},
		{"raised digits", "⁺⁴⁹³⁰⁹⁰¹⁸²⁰", Phone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := redacted(t, tt.in)
			var s *Survivor
			if !errors.As(err, &s) || s.Kind != tt.kind {
				t.Fatalf("%q: got %q, %v, want a %s left", tt.in, got, err, tt.kind)
			}
			if want := string(tt.kind) + " was left after redaction"; err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}

// A label stands in one part and what it announces in the next; a number may reach over both.
func TestRedact_ReadsThePartsAsOneText(t *testing.T) {
	got, err := Everything().Redact([]string{"Phone", "467 3395", "DE89 3704 0044", "0532 0130 00 is it", ""})
	if err != nil || strings.Join(got, "|") != "Phone|[phone]|[iban]|[iban] is it|" {
		t.Errorf("%q, %v", got, err)
	}
}

// Where somebody has to look: the part that shows it alone, or none.
func TestRedact_SaysInWhichPartSomethingIsLeft(t *testing.T) {
	for _, tt := range []struct {
		parts []string
		want  int
	}{
		{[]string{"a title", "jane@intranet"}, 1},
		{[]string{"jane@intranet", "text"}, 0},
	} {
		_, err := Everything().Redact(tt.parts)
		var s *Survivor
		if !errors.As(err, &s) || s.Part != tt.want {
			t.Errorf("%q: %+v, want part %d", tt.parts, s, tt.want)
		}
	}
}

func TestPolicy_WithoutAKindLeavesItAlone(t *testing.T) {
	got, err := Everything().Without(URL).Redact([]string{"https://mail.example/x jane@mail.example"})
	if err != nil || got[0] != "https://mail.example/x [email]" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRedact_TakesOnlyTheKindsOfThePolicy(t *testing.T) {
	p, err := file{Kinds: []Kind{Email}}.policy()
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Redact([]string{"jane@mail.example +49 30 901820 https://mail.example/x"})
	if err != nil || got[0] != "[email] +49 30 901820 https://mail.example/x" {
		t.Errorf("%q, %v", got, err)
	}
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("Hearthfix 12 costs €11.40 a month; 31.6 ct/kWh for 2 500 kWh. Write to wren@mail.example or call 0490 75 40 81. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Everything().Redact([]string{text}); err != nil {
			b.Fatal(err)
		}
	}
}
