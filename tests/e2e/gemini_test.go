package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"porchlight/tests/gemini"
)

// The models as the database registers them, first to last.
const (
	lite, lighter, flash = "gemini-3.5-flash-lite", "gemini-3.1-flash-lite", "gemini-3.6-flash"
	primaryModel         = "gemini-embedding-001"
	fallbackModel        = "gemini-embedding-2"
	geminiKey            = "AIzaOnlyForTheseTests_4711"
)

const (
	nookQuestion = "What is the price of the Ember Nook?"
	nookAnswer   = "The Ember Nook costs €1,240.00."
)

// generative is a server with a key, the provider that it speaks to, and a brand. Its tests run in turn.
type generative struct {
	ownBrand
	provider *gemini.Server
}

func TestGemini(t *testing.T) {
	t.Parallel()
	provider := gemini.NewServer(t)
	provider.On(primaryModel, likeVectors)
	provider.On(fallbackModel, likeVectors)
	b := newBrand(t, t.TempDir(), "gemini-stoves", "{turns_per_minute: 1000, turns_per_day: 10000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00", "Ember Hall: €2,310.00"),
		"prices/pipes.md":  "---\ntitle: Pipes\ntype: price\nverified_at: " + daysAgo(200) + "\n---\n# Pipes\n\nThe short flue costs €41.00.\n",
		"faq/hours.md":     "# Hours\n\nThe shop opens at nine.\n",
		"articles/sheet.md": "---\ntitle: Sheet\nvisibility: private\n---\n# Sheet\n\n" +
			"The price of the Ember Nook leaves a margin of 17 percent.\n",
		"redaction.yaml": "reviewer: Ember Stoves\nreviewed_at: " + daysAgo(20) + "\n",
	}).serve(t, options{name: "gemini", environment: []string{"GEMINI_API_KEY=" + geminiKey, "GEMINI_BASE_URL=" + provider.URL}})
	b.server.told.add(geminiKey)
	g := generative{b, provider}
	for _, part := range []struct {
		name string
		test func(generative, *testing.T)
	}{
		{"every index is filled by its own model", generative.indexesAreFilled},
		{"the answer comes as sentences, and rules and evidence go where they belong", generative.sentencesAndWire},
		{"a conversation goes along as turns", generative.conversation},
		{"without a document that answers no model is asked", generative.nothingToGenerate},
		{"a private document stays out of a rep's prompt", generative.privateEvidence},
		{"what the documents do not say goes to the next model", generative.guards},
		{"every other failure goes to the next model", generative.failures},
		{"what the provider refuses is not tried elsewhere", generative.refusals},
		{"NO_ANSWER is the fallback text", generative.noAnswer},
		{"spent quotas close models", generative.quotas},
		{"a spent embedding quota moves question and index together", generative.embeddingQuotas},
		{"a document without vectors is not stored, and comes with the next run", generative.failedIndexing},
		{"a client that leaves ends the turn", generative.clientLeaves},
		{"the same turn twice at once is answered once", generative.sameTurnTwice},
		{"who left and comes back gets the answer and pays once", generative.readerComesBack},
		{"what was answered is told again as it was", generative.toldAgain},
		{"nothing is charged when all models fail", generative.allModelsFail},
		{"a provider that is away gives no key away", generative.providerAway},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(g.reset(t), t) })
	}
}

// likeVectors are word vectors with a part that all texts share, as those of real models have one: their
// cosines lie between about 0.45 and 1, where the thresholds of the index look.
func likeVectors(r gemini.Request) gemini.Response {
	var vectors [][]float32
	for _, e := range r.Embeds {
		vectors = append(vectors, like(e))
	}
	return gemini.Vectors(vectors...)
}

func like(e gemini.Embed) []float32 {
	v := gemini.WordVector(e.Text, e.TaskType, e.Dimensions)
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := float32(math.Sqrt(square))
	shared := 0.9 * length / float32(math.Sqrt(float64(len(v))))
	for i := range v {
		v[i] += shared
	}
	return v
}

// reset opens all models again.
func (g generative) reset(t *testing.T) generative {
	t.Helper()
	if err := g.server.exec(t.Context(), `update private.model_days set closed_until = null`); err != nil {
		t.Fatal(err)
	}
	return g
}

// calls runs work and returns how many requests each generation model got meanwhile, first to last.
func (g generative) calls(work func()) string {
	count := func() (n [3]int) {
		for i, model := range []string{lite, lighter, flash} {
			n[i] = g.provider.Count(model)
		}
		return n
	}
	before := count()
	work()
	after := count()
	return fmt.Sprint(after[0]-before[0], after[1]-before[1], after[2]-before[2])
}

// attempts are the calls in the log of the turn, as "model outcome" each.
func (g generative) attempts(t *testing.T, a answer) string {
	t.Helper()
	return g.server.text(t, `select string_agg(a ->> 'model' || ' ' || (a ->> 'outcome'), ', ' order by n)
		from app.turns r, jsonb_array_elements(r.attempts) with ordinality e (a, n)
		where r.id = $1 and a ->> 'model' not like '%embedding%'`, a.turnID)
}

func (g generative) indexesAreFilled(t *testing.T) { // O44 O45 O48
	for _, index := range []string{"primary", "fallback", "local"} {
		got := g.server.text(t, `select count(*) || ' ' || bool_and(abs(extensions.vector_norm(e.embedding) - 1) < 1e-5)
			from app.chunk_embeddings_`+index+` e`)
		if want := g.server.text(t, `select count(*) || ' true' from app.chunks`); got != want || got == "0 true" {
			t.Errorf("%s holds %s, want %s", index, got, want)
		}
	}
	for _, model := range []string{primaryModel, fallbackModel} {
		for _, r := range g.provider.RequestsOf(model) {
			for _, e := range r.Embeds {
				if e.TaskType != "RETRIEVAL_DOCUMENT" || e.Dimensions != 768 {
					t.Errorf("%s was sent %s, %d", model, e.TaskType, e.Dimensions)
				}
			}
		}
	}
}

func (g generative) sentencesAndWire(t *testing.T) {
	g.provider.Queue(lite, gemini.Text("The Ember Nook co", "sts €1,240", ".00. It was verified on "+daysAgo(2)+"."))
	a := g.server.rep(t, g.slug).ask(nookQuestion)
	if a.Outcome != "answered" || a.Model != lite || a.Index != "primary" || a.AsOf == nil || *a.AsOf != daysAgo(2) ||
		len(a.sentences) != 2 || a.sentences[0] != nookAnswer {
		t.Errorf("%s", a.body)
	}
	requests := g.provider.RequestsOf(lite)
	r := requests[len(requests)-1]
	rules := "Use the evidence blocks and nothing else"
	for _, in := range []string{nookQuestion, "€1,240.00", "€2,310.00", "title: Stoves"} {
		if !strings.Contains(r.User(), in) || strings.Contains(r.System, in) {
			t.Errorf("%q stands in the wrong place", in)
		}
	}
	if !strings.Contains(r.System, rules) || strings.Contains(r.User(), rules) || !strings.Contains(r.System, "Speak plainly.") {
		t.Errorf("the rules stand in the wrong place: %s", r.Raw)
	}
	if thinking := r.Config.ThinkingConfig; thinking == nil || thinking.ThinkingLevel != "MINIMAL" {
		t.Errorf("thinking is on: %s", r.Raw)
	}
	if strings.Contains(r.User(), "41.00") || strings.Contains(r.User(), "17 percent") {
		t.Errorf("the prompt holds a stale price or a private text: %s", r.User())
	}
	questions := g.provider.RequestsOf(primaryModel)
	if e := questions[len(questions)-1].Embeds; len(e) != 1 || e[0].TaskType != "RETRIEVAL_QUERY" || e[0].Text != nookQuestion { // O48
		t.Errorf("the question was embedded as %+v", e)
	}
	for _, r := range g.provider.Requests() { // O80
		if strings.Contains(r.Query+r.Path+string(r.Raw), geminiKey) || r.Header.Get("X-Goog-Api-Key") != geminiKey {
			t.Errorf("the key is not in its header alone: %s", r.Path)
		}
	}
}

func (g generative) conversation(t *testing.T) { // O90
	rep := g.server.rep(t, g.slug)
	g.provider.Queue(lite, gemini.Text(nookAnswer), gemini.Text("The Ember Hall costs €2,310.00."))
	first := rep.ask(nookQuestion)
	rep.askWith(map[string]string{"question": "And what is the price of the Ember Hall?", "conversation_id": first.turnID})
	requests := g.provider.RequestsOf(lite)
	r := requests[len(requests)-1]
	if len(r.Contents) != 3 || r.Contents[0].Text() != nookQuestion || r.Contents[1].Text() != nookAnswer {
		t.Errorf("turns: %+v", r.Contents)
	}
	// somebody else's conversation is not one's own
	g.provider.Queue(lite, gemini.Text(nookAnswer))
	g.server.admin(t, g.slug).askWith(map[string]string{"question": nookQuestion, "conversation_id": first.turnID})
	requests = g.provider.RequestsOf(lite)
	if r := requests[len(requests)-1]; len(r.Contents) != 1 {
		t.Errorf("a colleague's conversation went along: %+v", r.Contents)
	}
}

func (g generative) nothingToGenerate(t *testing.T) { // O58
	rep := g.server.rep(t, g.slug)
	calls := g.calls(func() {
		if a := rep.ask(fallbackOnly); a.Outcome != "no_match" || a.said() != "Nothing on that here." || a.Index != "primary" {
			t.Errorf("outside: %s", a.body)
		}
		a := rep.ask("What does the short flue cost?")
		if a.Outcome != "held" {
			t.Errorf("stale: %s", a.body)
		}
		a.mustNotSay(t, "41.00")
	})
	if calls != "0 0 0" {
		t.Errorf("models were called: %s", calls)
	}
}

func (g generative) privateEvidence(t *testing.T) {
	g.provider.Queue(lite, gemini.Text(nookAnswer), gemini.Text("The margin is 17 percent."))
	const question = "What margin does the price of the Ember Nook leave?"
	g.server.rep(t, g.slug).ask(question).mustNotSay(t, "17 percent")
	if a := g.server.admin(t, g.slug).ask(question); a.Outcome != "answered" || !strings.Contains(a.said(), "17 percent") {
		t.Errorf("the admin: %s", a.body)
	}
	requests := g.provider.RequestsOf(lite)
	rep, admin := requests[len(requests)-2], requests[len(requests)-1]
	if strings.Contains(string(rep.Raw), "17 percent") || !strings.Contains(admin.User(), "17 percent") {
		t.Error("the private text went into the wrong prompt")
	}
}

func (g generative) noAnswer(t *testing.T) {
	g.provider.Queue(lite, gemini.Text("NO_", "ANSWER"))
	calls := g.calls(func() {
		a := g.server.rep(t, g.slug).ask(nookQuestion)
		if a.Outcome != "no_match" || a.said() != "Nothing on that here." {
			t.Errorf("%s", a.body)
		}
	})
	if calls != "1 0 0" {
		t.Errorf("calls: %s", calls)
	}
}
