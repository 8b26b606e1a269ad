package guard

import (
	"regexp"
	"slices"
	"strings"
)

// instruction is a shape of text that speaks to a model instead of to a person, matched on plain text
// (lower case, no accents). needs are substrings one of which every match holds: they save the regular
// expression on nearly every text.
type instruction struct {
	needs []string
	shape *regexp.Regexp
}

func shape(needs, pattern string) instruction {
	return instruction{needs: strings.Split(needs, "|"), shape: regexp.MustCompile(pattern)}
}

// instructions each need an object that only a model has (instructions, prompt, role), so that sales
// scripts ("tell the customer …") pass.
var instructions = []instruction{
	// Drop what you were told.
	shape("ignore|disregard|override|bypass|follow", `\b(ignore|disregard|override|bypass|do not follow|don't follow|stop following)\b[^.!?]{0,40}\b(instructions?|rules?|prompts?|guidelines?|directives?)\b`),
	shape("ignore|disregard|forget", `\b(ignore|disregard|forget)\b[^.!?]{0,20}\b(all|any|the|your|everything)\b[^.!?]{0,20}\b(instructions?|prompts?|above|before this|previously)\b`),
	shape("ignorier|vergiss|vergessen|missachte|berschreib", `\b(ignorier\w*|vergiss|vergessen sie|missachte\w*|ueberschreib\w*|uberschreib\w*)\b[^.!?]{0,40}\b(anweisung\w*|regeln?|vorgaben?|instruktion\w*|\w*prompts?)\b`),
	shape("ignor|olvid|caso omiso|desobedece", `\b(ignor(a|e|ar|ad|en)|olvid(a|e|ar|ad|en)|haz caso omiso|haga caso omiso|desobedece)\b[^.!?]{0,40}\b(instruccion(es)?|reglas?|indicaciones|directrices|prompts?)\b`),
	// Be something else.
	shape("you are|act as|pretend to|behave like|roleplay as", `\b(you are|act as|pretend to be|behave like|roleplay as)\b[^.!?]{0,40}\b(ai|assistant|chatbot|language model|dan|developer mode|jailbroken|unrestricted)\b`),
	shape("du bist", `\bdu bist\b[^.!?]{0,40}\b(ki|assistent|chatbot|bot|sprachmodell)\b`),
	shape("eres", `\beres\b[^.!?]{0,40}\b(ia|asistente|chatbot|bot|modelo de lenguaje)\b`),
	// Speak to or of the machine.
	shape("override|my ", `\bsystem override\b|\bmy (system prompt|hidden instructions|instructions (say|are|forbid|tell))\b`),
	shape("as an ai|als ki|como ia|as a |als ", `\bas an ai\b|\bals ki\b|\bcomo ia\b|\b(as an? (large )?language model|als sprachmodell|como modelo de lenguaje)\b`),
	shape(" ai| assist| model| chatbot| bot| llm| ki| sprachmodell| asist| ia", `\b(notes?|attention|messages?|instructions?|hinweis|anweisung(en)?|nachricht|nota|atencion|instruccion(es)?|mensaje)( is| are)? (to|for|an|fur|para|a)( the| any| all| den| die| das| alle| el| la| los| al| cualquier)? (ai|assistants?|models?|chatbots?|bots?|llms?|ki|assistent(en)?|modell|sprachmodelle?|asistentes?|modelo|ia)\b`),
	shape("you are|you're| du | eres ", `\b(if|when|wenn|falls|si) (you are|you're|du|eres) (an? |eine? |una? )?(ai|assistant|language|llm|model|bot|ki|assistent|ia|asistente)\b`),
	// Give out or take on a format.
	shape("instruction|rules|prompt", `\b(reveal|print|repeat|show|output|disclose|leak)\b[^.!?]{0,30}\b(your|system|hidden)\b[^.!?]{0,20}\b(instructions?|rules|prompts?)\b`),
	shape("anweisung|regeln|prompt", `\b(zeige?|nenne|verrate|wiederhole|gib)\b[^.!?]{0,20}\b(deine?n?|system)\b[^.!?]{0,20}\b(anweisungen|regeln|prompt)\b`),
	shape("instruccion|reglas|prompt", `\b(muestra|revela|repite|imprime)\b[^.!?]{0,20}\b(tus?|sistema)\b[^.!?]{0,20}\b(instrucciones|reglas|prompt)\b`),
	shape("json|xml|yaml|html|base64|{", `\b(respond|reply|answer|output|antworten?|antworte|responde|contesta)\b[^.!?]{0,20}\b(only|exclusively|always|nur|ausschliesslich|immer|solo|unicamente|siempre)\b[^.!?]{0,25}(\b(json|xml|yaml|html|base64)\b|\{)`),
	shape("json|xml|yaml|html|base64|{", `\b(only|nur|solo|always|immer|siempre) (respond|reply|answer|output|antworte|responde|contesta)\b[^.!?]{0,25}(\b(json|xml|yaml|html|base64)\b|\{)`),
	// Role marks of chat formats.
	shape("inst]|sys>|_of_turn|<", `<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|<(start|end)_of_turn>`),
}

// roleLine is a line spoken to the machine by name: "Assistant: …". "System:" is left out, it is a
// column of many price tables.
var roleLine = regexp.MustCompile(`(?im)^[^\p{L}\n]*(assistant|ai|llm|chatbot|ki|assistent|asistente|ia)\s*[:,]`)

// Injection refuses a sentence that tries to instruct a model: an answer has no use for one, and in
// a document it was planted.
func Injection(text string, _ Input) Verdict {
	p := plain(text)
	for _, i := range instructions {
		if slices.ContainsFunc(i.needs, func(n string) bool { return strings.Contains(p, n) }) && i.shape.MatchString(p) {
			return refuse(ReasonInstruction)
		}
	}
	if roleLine.MatchString(text) {
		return refuse(ReasonInstruction)
	}
	return pass
}
