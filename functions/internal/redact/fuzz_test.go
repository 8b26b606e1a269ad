package redact

import (
	"slices"
	"strings"
	"testing"
)

// What comes out passes the second look and is not changed by another redaction; nothing panics.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{
		"wren [at] mail [dot] example, +49 30\n1234 5678", "Address: 12 Elm St.\nIBAN DE89 3704 0044 0532 0130 00",
		"Phone: [phone], 467 3395 [email]@x.com", "j a n e @ m a i l . c o m &#64; %40", "DOB 1/2/1988 passport no C01X00T47",
		"https://www.linkedin.com/in/x @handle Halloway", "[", "\xff\xfe@\xff.com", "\uFFFC@x.com ¹²³", "4111-1111-1111-1111",
		"Contact person: @a; Address: [address]; 12, lives at 9", "Twitter: [handle] x", "a@b.c\nd.com", "+1+1(((((2222222222",
	} {
		f.Add(seed, "Halloway")
	}
	f.Fuzz(func(t *testing.T, text, literal string) {
		p := Everything()
		if l, err := (file{Literals: []string{literal}}).policy(); err == nil {
			p = l
		}
		once, err := p.Redact([]string{text, literal})
		if err != nil {
			return
		}
		if kind, ok := p.left(strings.Join(once, between)); ok {
			t.Fatalf("the second look at %q: %s", once, kind)
		}
		twice, err := p.Redact(once)
		if err != nil || !slices.Equal(once, twice) {
			t.Fatalf("again: %q, then %q, %v", once, twice, err)
		}
	})
}
