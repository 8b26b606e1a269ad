package ingest

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	xunicode "golang.org/x/text/encoding/unicode"
)

// decode returns the text of a file in UTF-8, without a byte order mark (O12). What the bytes are says,
// in this order: a byte order mark, valid UTF-8 (even where another charset is declared), the zero
// bytes of UTF-16, the declared charset, and for the rest Windows-1252, which holds Latin-1 (O02).
//
// Nothing is stored garbled: bytes that are no text in it, a file in two encodings and text that reads
// as Windows-1252 only by chance are refused. declared may be empty.
func decode(raw []byte, declared string) (string, error) {
	if as, length := byteOrderMark(raw); as != nil {
		return decodeAs(raw[length:], as)
	}
	if order, ok := looksUTF16(raw); ok {
		return decodeAs(raw, xunicode.UTF16(order, xunicode.IgnoreBOM))
	}
	if isBinary(raw) {
		return "", undecodable("it holds control characters, as no text does")
	}
	named, name := charset.Lookup(declared)
	if isShifted := bytes.Contains(raw, []byte("\x1B$")); isShifted && name != "iso-2022-jp" {
		return "", undecodable("it shifts between character sets")
	} else if !isShifted && utf8.Valid(raw) {
		return string(raw), nil
	}
	if named != nil && name != "utf-8" && name != "windows-1252" {
		return decodeAs(raw, named)
	}
	return decodeWestern(raw)
}

// byteOrderMark returns the encoding that the first bytes name and how many they are, or nil.
func byteOrderMark(raw []byte) (as encoding.Encoding, length int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		return xunicode.UTF8, 3
	case bytes.HasPrefix(raw, []byte("\xFF\xFE")):
		return xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM), 2
	case bytes.HasPrefix(raw, []byte("\xFE\xFF")):
		return xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM), 2
	}
	return nil, 0
}

// decodeAs refuses what the decoder can only replace.
func decodeAs(raw []byte, as encoding.Encoding) (string, error) {
	if as == xunicode.UTF8 {
		if !utf8.Valid(raw) {
			return "", undecodable("it is marked as UTF-8 and is not")
		}
		return string(raw), nil
	}
	text, err := as.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) || isBinary(text) {
		return "", undecodable("its bytes are not in the charset that it is said to have")
	}
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}

func undecodable(why string) *Refusal {
	return &Refusal{Reason: Undecodable, Detail: why + "; save it as UTF-8"}
}

// looksUTF16 says whether at least a quarter of the bytes are zeros and nearly all of those the same
// half of a pair, as in UTF-16 without a mark.
func looksUTF16(raw []byte) (xunicode.Endianness, bool) {
	var zeros [2]int
	for i, b := range raw {
		if b == 0 {
			zeros[i%2]++
		}
	}
	few, many := min(zeros[0], zeros[1]), max(zeros[0], zeros[1])
	if len(raw)%2 != 0 || many < 2 || many*4 < len(raw) || few*10 > many {
		return xunicode.LittleEndian, false
	}
	if zeros[0] > zeros[1] {
		return xunicode.BigEndian, true
	}
	return xunicode.LittleEndian, true
}

// isBinary says that more than one byte in twenty is a control character. A few are dirt, which
// normalising removes (O01).
func isBinary(raw []byte) bool {
	controls := 0
	for _, b := range raw {
		if b < ' ' && !strings.ContainsRune("\t\n\v\f\r", rune(b)) {
			controls++
		}
	}
	return controls > 8 && controls*20 > len(raw)
}

// decodeWestern reads Windows-1252 where that makes sense.
func decodeWestern(raw []byte) (string, error) {
	var whole, broken int // characters that are valid UTF-8 beyond ASCII, bytes that are not
	for rest := raw; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			broken++
		case size > 1:
			whole++
		}
		rest = rest[size:]
	}
	if whole*4 >= broken {
		return "", undecodable("part of it is UTF-8 and part is not")
	}
	text, err := charmap.Windows1252.NewDecoder().String(string(raw))
	if err != nil || strings.ContainsRune(text, utf8.RuneError) || !readsWestern(text) {
		return "", undecodable("its characters are in no encoding that can be told")
	}
	return text, nil
}

// Marks that belong to no word of a Western language. Inside one they are letters of another encoding.
const strangeInWords = "‚ƒ„”†‡ˆ‰‹›•˜™¡¢£¤¥¦¨©«¬®¯°±²³´µ¶¸¹»¼½¾¿×÷€…§"

// readsWestern says that the characters beyond ASCII stand where languages of Windows-1252 have them:
// they are the fewer letters of the text, no capital follows a small letter, no sign stands in a word.
// Cyrillic, Greek, Central European and Asian text, and that of old DOS and Macintosh, fails one of these.
func readsWestern(text string) bool {
	var letters, high, strange int
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		if unicode.IsLetter(r) {
			letters++
		}
		if r < utf8.RuneSelf {
			continue
		}
		before, after := at(i-1), at(i+1)
		switch {
		case unicode.IsLetter(r):
			high++
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				strange++
			}
		case strings.ContainsRune(strangeInWords, r) && unicode.IsLower(before) && unicode.IsLower(after):
			strange++
		}
	}
	return high*10 <= letters*4 && strange*20 <= high
}

// isGuessed says that nothing but their look says which encoding the bytes are in.
func isGuessed(raw []byte) bool {
	mark, _ := byteOrderMark(raw)
	_, isUTF16 := looksUTF16(raw)
	return mark == nil && !isUTF16 && !utf8.Valid(raw)
}

// isWestern says whether Windows-1252 has the letters of the language. In another one it may read well
// and still be wrong, as "è" for the "č" of Czech.
func isWestern(language string) bool {
	return strings.Contains(" af br ca co cy da de en es et eu fi fo fr fy ga gd gl id is it lb ms nb nl nn no oc pt rm sq sv sw ", " "+language+" ")
}
