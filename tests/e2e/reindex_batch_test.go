package e2e

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"porchlight/tests/gemini"
)

// A batch that is not what was asked for is refused by the name of its index. Nothing of its document is
// stored then, in no index, and what is stored of another stays as it is. B5 O43 O45
func TestReindex_ABadBatchIsRefusedByName(t *testing.T) {
	t.Parallel()
	provider := gemini.NewServer(t)
	provider.On(primaryModel, likeVectors)
	provider.On(fallbackModel, likeVectors)
	b := newBrand(t, t.TempDir(), "batch-stoves", "{}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"}).
		serve(t, options{name: "batch", environment: keyed(provider)})
	b.server.told.add(geminiKey)
	b.write(t, "articles/three.md", "# One\n\nThe first part.\n\n# Two\n\nThe second part.\n\n# Three\n\nThe third part.\n")
	good := func(n int) (vectors [][]float32) {
		for i := range n {
			v := make([]float32, 768)
			v[i] = 2
			vectors = append(vectors, v)
		}
		return vectors
	}
	with := func(middle []float32) gemini.Response { return gemini.Vectors(good(3)[0], middle, good(3)[2]) }
	before := b.rows(t)
	for _, c := range []struct {
		name     string
		response gemini.Response
	}{
		{"one vector too few", gemini.Vectors(good(2)...)},
		{"one vector too many", gemini.Vectors(good(4)...)},
		{"one of another width among them", with(make([]float32, 384))},
		{"one of zeros among them", with(make([]float32, 768))},
		{"one without numbers among them", with(nil)},
		{"one that no float holds among them", gemini.Raw(http.StatusOK, `{"embeddings":[{"values":[1e999]},{"values":[1]},{"values":[1]}]}`)},
	} {
		for index, model := range map[string]string{"primary": primaryModel, "fallback": fallbackModel} {
			provider.Queue(model, c.response)
			done := b.index(t)
			if done.Status != "partial" || done.Failed != 1 || done.Added != 0 || done.Sources[0].Reason != "embedding_failed: index "+index {
				t.Errorf("%s in %s: %+v", c.name, index, done)
			}
			if after := b.rows(t); after != before {
				t.Errorf("%s in %s was stored:\n%s", c.name, index, after)
			}
		}
	}
	if done := b.index(t); done.Status != "ready" || done.Added != 3 {
		t.Errorf("the next run: %+v", done)
	}
	b.vectorsAreOfTheirTexts(t)
}

// vectorsAreOfTheirTexts compares each hosted vector with what the provider makes of the text that it stands
// beside. O36
func (b ownBrand) vectorsAreOfTheirTexts(t *testing.T) {
	t.Helper()
	for _, index := range []string{"primary", "fallback"} {
		vectors := b.lines(t, `select string_agg(replace(ltrim(c.heading_path || e'\n' || c.content, e'\n'), e'\n', '\n')
			|| e'\t' || e.embedding::text, e'\n')
			from app.chunks c join app.tenants t on t.id = c.tenant_id
			join app.chunk_embeddings_`+index+` e on e.chunk_id = c.id where t.slug = $1`)
		if len(vectors) == 0 {
			t.Errorf("%s is empty", index)
		}
		for text, stored := range vectors {
			want := like(gemini.Embed{Text: strings.ReplaceAll(text, `\n`, "\n"), TaskType: "RETRIEVAL_DOCUMENT", Dimensions: 768})
			var got []float32
			decode(t, stored, &got)
			if cosine := cosineOf(got, want); math.Abs(cosine-1) > 1e-5 {
				t.Errorf("%s: the vector beside %q is another's: cosine %v", index, text, cosine)
			}
		}
	}
}

func cosineOf(a, b []float32) float64 {
	var product, lengthA, lengthB float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		lengthA += float64(a[i]) * float64(a[i])
		lengthB += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(lengthA*lengthB)
}
