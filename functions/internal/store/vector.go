package store

import (
	"encoding/binary"
	"math"
	"strconv"
)

// vector is an argument that goes in the binary form of pgvector (its number of dimensions, two unused
// bytes, the numbers), a third of the text and nothing to parse. Its type, which has another number in each
// database, is not named: the server takes it from the statement.
type vector []float32

func (v vector) binary() []byte {
	b := make([]byte, 0, 4+4*len(v))
	b = binary.BigEndian.AppendUint16(b, uint16(len(v)))
	b = append(b, 0, 0)
	for _, x := range v {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// vectorText is the text form of pgvector. Text needs no type of the extension to be registered on
// the connection, which fails where the extension is not on the search path.
func vectorText(v []float32) string {
	b := make([]byte, 0, len(v)*12+2)
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}
