package store

import "strconv"

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
