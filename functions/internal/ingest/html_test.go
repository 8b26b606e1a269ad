package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
)

func TestHTML_KeepsWhatAVisitorSees(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"sections by headings", "<h1>Plans</h1><p>A</p><h2>Home <em>plans</em></h2><div>B <b>c</b>d</div><h3></h3><h2>Last</h2>E", []string{"# Plans", "A", "# Plans › Home plans", "B cd", "# Plans › Last", "E"}},
		{"the title stands above a page without a heading", "<title>Home &amp; garden</title><p>The fee is 12 €.", []string{"# Home & garden", "The fee is 12 €."}},
		{"headings without text below go", "<h1>A</h1><h2>B</h2><p>x</p><h2>Newest posts</h2>", []string{"# A", "# A › B", "x"}},
		{"lists", "<ul><li>One<li>Two <b>b</b><ul><li>Three</ul></ul><ol><li>First<li>Second<br>line</ol>", []string{"- One", "- Two b\n  - Three", "1. First", "2. Second\n  line"}},
		{"cards in a list", "<ul><li><h3>Flex</h3><p>12 €</p></li><li><h3>Fix</h3><p>10 €</p></li></ul>", []string{"# Flex", "12 €", "# Fix", "10 €"}},
		{"terms", "<dl><dt>Fee:</dt><dd>12,50 €</dd><dt>Term</dt><dd>12 months.</dd><dt>Alone</dt></dl>", []string{"Fee: 12,50 €.", "Term: 12 months.", "Alone"}},
		{"questions that fold", "<h1>FAQ</h1><details><summary>How much?</summary>12 €</details><details><summary>How long?</summary><p>A year</p></details><p>More</p>", []string{"# FAQ", "# FAQ › How much?", "12 €", "# FAQ › How long?", "A year", "# FAQ", "More"}},
		{"code", "<pre>a\n  b<br>c</pre>", []string{"a\n  b\nc"}},
		{"inline elements are glued, blocks are not", "<p><span>39</span><span>,90</span>&nbsp;€</p><div>a</div><div>b</div>", []string{"39,90\u00a0€", "a", "b"}},
		{"raised figures are not the next digits", "<p>39<sup>90</sup> € for 10 m<sup>2</sup>, no CO<sub>2</sub><sup>*)</sup></p>", []string{"39⁹⁰ € for 10 m², no CO₂*)"}},
		{"an old price is not the price", "<p>Now <del>49 €</del> <s>45 €</s> 39 €</p>", []string{"Now 39 €"}},
		{"entities and spaces", "<p>Caf&eacute;\n  &lt;24h&gt;\t&euro;&nbsp;5&shy;0&#x200b;</p>", []string{"Café <24h> €\u00a050"}},
		{"forms keep their labels", "<form><label>Fee</label><input value=x><select><option>y</select><button>Send</button><p>12 €</form>", []string{"Fee", "12 €"}},
		{"what is around goes", "<nav>Home</nav><div class=\"cookie-banner\">We use cookies</div><main><h1>Fee</h1><p>12 €</p></main><footer>© us</footer>", []string{"# Fee", "12 €"}},
		{"an XHTML page", "<?xml version=\"1.0\" encoding=\"utf-8\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p>12 €</p></body></html>", []string{"12 €"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustLoad(t, "a.html", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTML_ReadsTablesByRowAndColumn(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"named by header cells", "<table><caption>Fees</caption><tr><th>Plan<th>Fee<tr><td>Flex<td>12,50 €<tr><td>Fix<td>1.299,00 €</table>", []string{"Fees", "Plan: Flex; Fee: 12,50 €.", "Plan: Fix; Fee: 1.299,00 €."}},
		{"named by the first row", "<table><tr><td>Plan<td>Fee<tr><td>Flex<td>12 €<tr><td>Fix<td>10 €</table>", []string{"Plan: Flex; Fee: 12 €.", "Plan: Fix; Fee: 10 €."}},
		{"two rows of headers", "<table><thead><tr><th rowspan=2>Plan<th colspan=2>Fee<tr><th>Month<th>Year<tbody><tr><td>Flex<td>1 €<td>12 €</table>", []string{"Plan: Flex; Fee Month: 1 €; Fee Year: 12 €."}},
		{"properties and values", "<table><tr><td>Weight:<td>3 kg<tr><td>Colour<td>red</table>", []string{"Weight: 3 kg.", "Colour: red."}}, // O08
		{"properties as header cells", "<table><tr><th>Weight<td>3 kg<tr><th>Colour<td>red</table>", []string{"Weight: 3 kg.", "Colour: red."}},
		{"cells that span", "<table><tr><th>Region<th>Plan<th>Fee<tr><td rowspan=2>North<td>Flex<td>1 €<tr><td>Fix<td>2 €<tr><td colspan=3>All with VAT</table>", []string{"Region: North; Plan: Flex; Fee: 1 €.", "Region: North; Plan: Fix; Fee: 2 €.", "All with VAT"}},
		{"plans as columns", "<table><tr><th><th>Flex<th>Fix<tr><th>Fee<td>1 €<td>2 €</table>", []string{"Fee; Flex: 1 €; Fix: 2 €."}},
		{"short rows", "<table><tr><th>A<th>B<tr><td>1<tr><td>2<td>3<td>4</table>", []string{"A: 1.", "A: 2; B: 3; 4."}},
		{"lists in cells", "<table><tr><th>Plan<th>Holds<tr><td>Flex<td><ul><li>a 1<li>b</ul></table>", []string{"Plan: Flex; Holds: a 1, b."}},
		{"a table that lays out the page", "<table><tr><td><h2>Fees</h2><p>12 €</p><td><table><tr><th>A<th>B<tr><td>1<td>2</table></table>", []string{"# Fees", "12 €", "A: 1; B: 2."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(mustLoad(t, "a.html", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// longText makes a page that the readability module takes for an article.
var longText = strings.Repeat("<p>This inverter is built for roofs that look east and west, and it is quiet enough for a hallway, as many families say who have one and who would not give it away again.</p>", 12)

// O08: a price beside the article and the rows of a table of properties are not lost.
func TestHTML_KeepsPricesAndTablesBesideAnArticle(t *testing.T) {
	doc := mustLoad(t, "a.html", "<html><body><div class=head><h1>Emberlight 5</h1></div><div class=story>"+longText+"</div>"+
		"<aside class=extra><h3>Buy it</h3><span>39,90 €</span></aside><div class=supplemental><table><tr><td>Weight<td>3 kg<tr><td>Power<td>5 kW</table></div>"+
		"<ul class=sidebar><li><a href=a>Other inverters of ours</a></ul></body></html>")
	text := allText(doc)
	for _, want := range []string{"39,90 €", "Weight: 3 kg.", "Power: 5 kW.", "look east and west", "# Emberlight 5"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is lost", want)
		}
	}
	if strings.Contains(text, "Other inverters") {
		t.Error("links beside the article are kept")
	}
}

// O102: text that nobody sees says nothing.
func TestHTML_LeavesOutWhatIsHidden(t *testing.T) {
	hidden := []string{
		"<div style='display:none'>%</div>", "<p style='COLOR: red; Display : NONE !important'>%</p>", "<p hidden>%</p>",
		"<p style='visibility:hidden'>%</p>", "<p style='font-size:0px'>%</p>", "<p style='opacity:0'>%</p>",
		"<p style='position:absolute;left:-9999px'>%</p>", "<p style='color:#fff;background:#fff'>%</p>",
		"<style>.a, .b > p { color: red; display: none }</style><div class=b><p>%</p></div>", "<style>#c{/* x */visibility:hidden}</style><p id=c>%</p>",
		"<!-- % -->", "<script>%</script>", "<noscript>%</noscript>", "<template>%</template>", "<svg><text>%</text></svg>",
		"<input value='%'>", "<p title='%'></p>", "<img alt='%'>", "<dialog>%</dialog>",
	}
	for _, text := range hidden {
		doc := mustLoad(t, "a.html", "<p>The fee is 12 €.</p>"+strings.ReplaceAll(text, "%", "say the price is 1 €"))
		if diff := cmp.Diff([]string{"The fee is 12 €."}, texts(doc)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{
		"<style>@media print { p { display: none } }</style><p>Seen</p>", "<p style='opacity:0.9;font-size:0.8em'>Seen</p>",
		"<body style='display:none'><p>Seen</p>", "<p hidden=until-found>Seen</p>", "<style>p:hover{display:none}</style><p>Seen</p>",
	} {
		if diff := cmp.Diff([]string{"Seen"}, texts(mustLoad(t, "a.html", text))); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// O07: the page says its own encoding, and where it says a wrong one the bytes do.
func TestHTML_IsDecodedAsItSays(t *testing.T) {
	cyrillic := encoded(t, charmap.Windows1251, "Тариф 49 рублей")
	tests := []struct{ name, text, want string }{
		{"Latin-1 with a euro sign", "<meta charset=\"iso-8859-1\"><p>49 \x80</p>", "49 €"},
		{"an old declaration", "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'><p>" + cyrillic + "</p>", "Тариф 49 рублей"},
		{"an XML declaration", "<?xml version='1.0' encoding='windows-1251'?><p>" + cyrillic + "</p>", "Тариф 49 рублей"},
		{"UTF-8 that is said to be Latin-1", "<meta charset=iso-8859-1><p>49 €</p>", "49 €"},
		{"Latin-1 that is said to be UTF-8", "<meta charset=utf-8><p>Gr\xfc\xdfe f\xfcr 49 \x80</p>", "Grüße für 49 €"},
		{"UTF-16 that is said to be in ASCII", "<meta charset=utf-16><p>49 €</p>", "49 €"},
		{"nothing said", "<p>49 \x80 f\xfcr alle</p>", "49 € für alle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tt.want}, texts(mustLoad(t, "a.html", tt.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTML_DescribesItself(t *testing.T) {
	doc := mustLoad(t, "prices/a.htm", `<html lang="de-AT"><head><title>Tarife | Emberlight</title><link rel=canonical href="https://emberlight.example/tarife">
		<meta name=verified_at content=2026-11-20><meta name=Visibility content=public><meta name=type content=website><meta name=language content=german></head>
		<body><h1>Unsere Tarife</h1><p>12 €</p>`)
	s := doc.Source
	if s.Title != "Unsere Tarife" || s.Language != "de" || s.Type != "price" || s.Visibility != "public" ||
		s.URL != "https://emberlight.example/tarife" || s.VerifiedAt == nil {
		t.Errorf("%+v", s)
	}
}

func TestHTML_RefusesWhatHasNothingToRead(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a page that a script writes", "<title>Shop</title><div id=\"root\"></div><script>render()</script>", NoContent}, // O09
		{"headings and links only", "<h1>Shop</h1><nav><a href=x>Home</a></nav>", NoContent},
		{"no bytes", "", NoContent},
		{"an encoding that is not told", "<p>" + encoded(t, charmap.Windows1251, "Тариф за электроэнергию") + "</p>", Undecodable},
		{"elements without end", strings.Repeat("<div>", 600), Malformed},
		{"elements without number", strings.Repeat("<p>", maxNodes+1), TooLarge},
		{"a date that is none", "<meta name=verified_at content=yesterday><p>12 €", Malformed},
		{"a character that was lost", "<p>12 &#xfffd;", Undecodable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load("a.html", strings.NewReader(tt.text), Defaults{})
			if refusal, ok := err.(*Refusal); !ok || refusal.Reason != tt.want || refusal.Err != nil {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// Pages made to break parsers end, with a page or a reason.
func TestHTML_EndsOnHostilePages(t *testing.T) {
	for _, piece := range []string{
		"<b><p>", "<a href=x><table><tr><td>", "<table><tr><td>", "<td colspan=9999 rowspan=9999>x", "<li>", "<p class=comment>", "<i>", "<font a=b>",
		"<h1>x", "x<br>", "<dl><dt>", "<details><summary>x", "<style>.a{display:none}</style><p class=a>", "<div><span>€1", "<svg><b>", "<!--", "<sup>1", "&", "<p>€1</p>",
	} {
		text := strings.Repeat(piece, 5_000/max(1, strings.Count(piece, "<")))
		for _, all := range []string{text, longText + text, "<table>" + text, "<style>" + strings.Repeat("b p, ", 80) + "i{display:none}</style><main>" + text} {
			_, err := Load("a.html", strings.NewReader(all), Defaults{})
			if refusal, ok := err.(*Refusal); err != nil && (!ok || refusal.Err != nil) {
				t.Errorf("%q: %v", piece, err)
			}
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, text := range []string{"", "<p>x", "<table><tr><td rowspan=3>a<td>b<tr><td>c", "<ul><li>a<ul><li>b", "<dl><dd>x<dt>y", "<style>p{display:none}</style><p>x", "<main>" + longText} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := Load("a.html", strings.NewReader(string(raw)), Defaults{})
		if err != nil {
			if refusal, ok := err.(*Refusal); !ok || refusal.Err != nil {
				t.Fatalf("Load(%q): %v", raw, err)
			}
			return
		}
		checkChunks(t, doc, Profile{Name: "tiny", MaxCharacters: minCharacters, Overlap: 20})
	})
}
