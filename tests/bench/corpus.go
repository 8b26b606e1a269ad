package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
)

const (
	perSource  = 25   // chunks of a source
	perCluster = 20   // chunks that say nearly the same
	subjects   = 100  // clusters that every brand may have: the neighbours' chunks are near a question too
	vocabulary = 4000 // different words
	perChunk   = 90   // words of a chunk, about 600 characters
)

// brand is a tenant with one rep. ids and vectors are kept for those that are searched.
type brand struct {
	id, user uuid.UUID
	slug     string
	size     int // chunks
	isKept   bool
	ids      []string
	vectors  []float32
	written  int // chunks so far
}

// corpus makes up everything that is stored and asked, the same in each run.
type corpus struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
	near   [][]float32 // the middle of each cluster
	brands []*brand
}

func newCorpus(s sizes) *corpus {
	random := rand.New(rand.NewPCG(3, 768))
	c := &corpus{random: random, zipf: rand.NewZipf(random, 1.07, 2, vocabulary-1)}
	for range vocabulary {
		c.words = append(c.words, c.word())
	}
	for range subjects {
		c.near = append(c.near, c.direction())
	}
	for _, size := range s.brands {
		c.add(size, true)
	}
	for left := s.others; left > 0; {
		size := min(left, s.others/20)
		c.add(size, false)
		left -= size
	}
	return c
}

func (c *corpus) add(size int, isKept bool) {
	c.brands = append(c.brands, &brand{
		id: c.uuid(), user: c.uuid(), slug: fmt.Sprintf("brand-%d", len(c.brands)+1), size: size, isKept: isKept,
	})
}

// total counts the chunks of all brands.
func (c *corpus) total() (n int) {
	for _, b := range c.brands {
		n += b.size
	}
	return n
}

// uuid returns a random one, of the version that Postgres makes.
func (c *corpus) uuid() (id uuid.UUID) {
	for i := range id {
		id[i] = byte(c.random.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func (c *corpus) word() string {
	var b strings.Builder
	for range 2 + c.random.IntN(2) {
		b.WriteByte("bdfgklmnprstvz"[c.random.IntN(14)])
		b.WriteByte("aeiou"[c.random.IntN(5)])
	}
	return b.String() + "n"
}

// passage is the text of a chunk: its words are as unequally common as those of a language.
func (c *corpus) passage() string {
	words := make([]string, perChunk)
	for i := range words {
		words[i] = c.words[c.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

// words of a question: one in most chunks, some in many, some in few.
func (c *corpus) question() string {
	words := make([]string, 0, 6)
	for _, rank := range []int{8, 60, 200, 500, 1200, 3000} {
		words = append(words, c.words[rank+c.random.IntN(rank/4)])
	}
	return strings.Join(words, " ")
}

// direction is a random vector of unit length.
func (c *corpus) direction() []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(c.random.NormFloat64())
	}
	return normalise(v)
}

// beside is a vector whose cosine to the middle is about 0.995.
func (c *corpus) beside(middle []float32) []float32 {
	v := c.direction()
	for i := range v {
		v[i] = middle[i] + 0.1*v[i]
	}
	return normalise(v)
}

// vector is that of the brand's next chunk: one in four belongs to a cluster.
func (c *corpus) vector(b *brand) []float32 {
	place := b.written
	b.written++
	if place%4 != 0 {
		return c.direction()
	}
	return c.beside(c.near[place/4/perCluster%subjects])
}

// questions are vectors to search the brand with, each second of them beside a cluster that it has.
func (c *corpus) questions(b *brand, n int) [][]float32 {
	list := make([][]float32, n)
	clusters := min(max(b.size/4/perCluster, 1), subjects)
	for i := range list {
		if i%2 == 0 {
			list[i] = c.beside(c.near[i/2%clusters])
		} else {
			list[i] = c.direction()
		}
	}
	return list
}

// source is a document of a brand.
type source struct {
	brand  *brand
	id     uuid.UUID
	chunks []uuid.UUID
}

// sources lists the documents of all brands in the order in which they are written: brands come and
// grow over time, so their rows lie between each other.
func (c *corpus) sources() (list []source) {
	for _, b := range c.brands {
		for left := b.size; left > 0; left -= perSource {
			s := source{brand: b, id: c.uuid(), chunks: make([]uuid.UUID, min(left, perSource))}
			for i := range s.chunks {
				s.chunks[i] = c.uuid()
			}
			list = append(list, s)
		}
	}
	c.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
