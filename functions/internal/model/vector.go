package model

import (
	"fmt"
	"math"
)

// unit scales v to length 1. A vector without a finite length above zero has no direction to
// compare: it is ErrBadVector.
func unit(v []float64) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += x * x
	}
	length := math.Sqrt(square)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, fmt.Errorf("%w: its length is %v", ErrBadVector, length)
	}
	scaled := make([]float32, len(v))
	for i, x := range v {
		scaled[i] = float32(x / length)
	}
	return scaled, nil
}
