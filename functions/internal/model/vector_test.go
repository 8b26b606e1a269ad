package model

import (
	"errors"
	"math"
	"testing"
)

// O44, O56: every vector that leaves has length 1; one without direction does not leave.
func TestUnit_ScalesToLengthOneOrRefuses(t *testing.T) {
	cases := []struct {
		name  string
		in    []float64
		first float32
		err   error
	}{
		{"longer than 1", []float64{3, 4}, 0.6, nil},
		{"shorter than 1", []float64{0.003, 0.004}, 0.6, nil},
		{"negative", []float64{-3, 4}, -0.6, nil},
		{"the largest that float32 holds", []float64{math.MaxFloat32, 0}, 1, nil},
		{"zero", []float64{0, 0}, 0, ErrBadVector},
		{"empty", nil, 0, ErrBadVector},
		{"not a number", []float64{math.NaN(), 1}, 0, ErrBadVector},
		{"infinite", []float64{math.Inf(1), 1}, 0, ErrBadVector},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := unit(c.in)
			if !errors.Is(err, c.err) || (err == nil) != (v != nil) || err == nil && v[0] != c.first {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}
