package gemini

import (
	"hash/fnv"
	"strings"
	"unicode"
)

// nativeDimensions is the length that the real embedding models return when none is asked for.
const nativeDimensions = 3072

// Vectors answers an embedding request with exactly those vectors.
func Vectors(vectors ...[]float32) Response {
	list := make([]embedding, len(vectors))
	for i, v := range vectors {
		list[i] = embedding{v}
	}
	return Response{body: map[string]any{"embeddings": list}}
}

// WordVectors answers embedding requests with WordVector of each text, in the length that was
// asked for.
func WordVectors(r Request) Response {
	vectors := make([][]float32, len(r.Embeds))
	for i, e := range r.Embeds {
		n := e.Dimensions
		if n == 0 {
			n = nativeDimensions
		}
		vectors[i] = WordVector(e.Text, e.TaskType, n)
	}
	return Vectors(vectors...)
}

// WordVector is a deterministic stand-in for an embedding: each word of the text adds to four
// numbers that its hash chooses, the task type adds a little to one. Texts that share words are
// near each other; a text without words is the zero vector; the length is never 1, as that of a
// shortened gemini-embedding-001 is not.
func WordVector(text, taskType string, dimensions int) []float32 {
	for _, mark := range []string{" | query: ", " | text: "} { // what gemini-embedding-2 is told in words
		if _, after, ok := strings.Cut(text, mark); ok {
			text = after
		}
	}
	v := make([]float32, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) == 0 {
		return v
	}
	for _, w := range words {
		h := hash(w)
		for range 4 {
			sign := float32(2)
			if h&1 == 1 {
				sign = -2
			}
			v[(h>>1)%uint64(dimensions)] += sign
			h = h*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator: the next number
		}
	}
	v[hash(taskType)%uint64(dimensions)] += 0.5
	return v
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	return h.Sum64()
}
