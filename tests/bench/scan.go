package main

import (
	"math"
	"slices"
)

const dimensions = 768

// hit is a vector's place and its dot product with the question, which is the cosine: all are of unit
// length.
type hit struct {
	place      int
	similarity float32
}

// scan is the yardstick: what anybody would write to find the k nearest of vectors that lie one behind
// the other in memory, in one goroutine. Best first.
func scan(vectors, question []float32, k int) []hit {
	best := make([]hit, 0, k+1)
	for place := range len(vectors) / dimensions {
		similarity := dot(vectors[place*dimensions:(place+1)*dimensions], question)
		if len(best) == k && similarity <= best[k-1].similarity {
			continue
		}
		i := len(best)
		for i > 0 && best[i-1].similarity < similarity {
			i--
		}
		best = slices.Insert(best, i, hit{place, similarity})[:min(len(best)+1, k)]
	}
	return best
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// normalise makes the vector one of unit length, in place.
func normalise(v []float32) []float32 {
	length := float32(math.Sqrt(float64(dot(v, v))))
	for i := range v {
		v[i] /= length
	}
	return v
}
