package extract

import "strings"

// fields makes a lookup table of plain words.
func fields(words string) map[string]bool { return setOf(strings.Fields(words)) }

// The tables are plain words (no accents) and read-only.
var (
	stopwords = map[string]map[string]bool{
		"en": fields(`a an the this that these those it its i me my mine we us our you your they them their he she his her is are
		was were be been am do does did done doing have has had having can could will would shall should may might
		must what which who whom whose when where why how much many there here of to in on at by for from with without
		about as into over under up down out off and or but if then than so not no yes any some all each every just
		only also too very really get got want need please tell say says said give okay ok hello hi thanks thank per
		hows whats wants already still again ask asks asking long customer customers client let lets one two three
		four five six seven eight nine ten bit thing things way since while during after before being come comes go
		goes told him whether go extra new exactly plus standing today`),
		"de": fields(`der die das den dem des ein eine einen einem einer eines ich mich mir mein meine meinen wir uns unser unsere
		unseren sie ihnen ihr ihre ihren du dich dir dein deine er es man ist sind war waren sein bin bist habe hast
		hat haben hatte wird werden wurde kann konnen konnte muss mussen soll sollen darf durfen will wollen mochte
		was welche welcher welches welchen wer wen wem wann wo warum wieso wie vom ab dass ob weil heute pro kunde kunden kundin viel viele da dort hier von zu zum zur
		im in am an auf aus bei beim mit ohne nach fur uber unter vor um und oder aber wenn dann als so nicht kein
		keine keinen ja nein auch nur noch schon sehr denn doch mal bitte sagen sagt gibt geben`),
		"es": fields(`el la los las lo un una unos unas yo mi mis me nos nuestro nuestra su sus tu tus te usted ustedes se le les es
		son era ser soy esta estan estar este esto ese eso hay ha han he tiene tengo tienen tener puedo puede pueden
		poder debo debe quiero que cual cuales quien cuando donde como cuanto cuantos cuanta cuantas cliente clientes
		dos tres cuatro dice hace hacen hacer hoy pregunta otra otro vez ahora por para con sin de del al en y o pero si no tambien solo
		muy mas ya a favor decir dar`),
	}
	// priceWords speak of a price; pricePhrases ask for one.
	priceWords = fields(`cost costs price prices pricing priced fee fees charge charges charged pay pays paid paying rate rates
		rent rental kostet kosten kost preis preise gebuhr gebuhren teuer wieviel zahlt zahle zahlen bezahlen bezahlt
		cuesta cuestan costar precio precios tarifa tarifas cuota vale paga pago pagan pagar`)
	// priceNouns may follow a word that says which price.
	priceNouns = fields(`cost costs price prices fee fees charge charges rate rates rental rent kosten preis preise gebuhr
		gebuhren`)
	// modals begin a question whose next word that says something is the act: "Can they cancel …".
	modals = fields(`can could may must should kann konnen darf durfen muss mussen puedo puede pueden podemos debo debe deben`)
	// ambiguous price words name something else as often.
	ambiguous = fields(`charge charges charged rate rates rent rental tarifa tarifas cuota vale paga`)
	// exceptions beside a price ask for another one than the list states; discounts do so alone.
	exceptions = fields(`special lowest cheapest minimum bottom discounted reduced internal wholesale niedrigster niedrigste
		gunstigster gunstigste geringster reduzierter interner especial minimo minima rebajado interno`)
	discounts = fields(`discount discounts reduction rebate rabatt rabatte nachlass sonderpreis mindestpreis descuento rebaja
		commission provision comision margin marge margen`)
	withWords    = fields(`with including mit inklusive samt con incluido incluida incluyendo`)
	withoutWords = fields(`without excluding ohne sin`)
	articles     = fields(`a an the this that der die das den dem des ein eine einen einem eines el la los las un una`)
	owners       = fields(`of for von fur de del para`)
	negations    = fields(`without no not none never cannot ohne kein keine keinen keiner nicht nie sin ningun ninguna nunca`)
	// periodWords say for which time a price is; most rows state one time only.
	periodWords = fields(`month months monthly year years yearly annual annually week weekly day daily monat monats monate monaten
		monatlich monatliche monatlichen jahr jahre jahrlich jahrliche woche tag mes meses mensual mensuales ano anos anual
		semana dia`)
	periodStems = setOf(terms(`month months monthly year years yearly annual annually week weekly day daily monat monats
		monate monaten monatlich monatliche monatlichen jahr jahre jahrlich jahrliche woche tag mes meses mensual mensuales
		ano anos anual semana dia`))
	pricePhrases = []string{
		"how much", "much is", "wie viel kostet", "wie viel kosten", "wie teuer", "cuanto cuesta", "cuanto cuestan",
		"cuanto vale", "cuanto pago", "cuanto es", "cuanto se paga",
	}
	whenPhrases = []string{
		"when", "what day", "which day", "what date", "which date", "wann", "welchem tag", "cuando", "que dia", "que fecha",
	}
	spanPhrases = []string{
		"how long", "how many months", "how many days", "wie lange", "wie viele tage", "wie viele monate",
		"cuanto tiempo", "cuanto dura", "cuantos dias", "cuantos meses",
	}
	// calendar words have a capital letter and name nothing that is sold.
	calendar = fields(`january february march april may june july august september october november december
		monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
		saturdays sundays christmas easter internet mr mrs ms`)
	// askingWords begin a question that asks for a fact.
	askingWords = fields(`what which who when where how is are do does did can could may has have will would should must
		was welche welcher welches wer wann wo wie ist sind kann konnen darf durfen gibt hat haben muss mussen bekommt
		que cual cuales quien cuando donde como cuanto cuanta cuantos cuantas es son puedo puede pueden hay tiene tienen`)
)
