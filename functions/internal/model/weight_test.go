package model

import "testing"

func TestDenseWeight_FallsWithTheWordsThatTheModelDoesNotKnow(t *testing.T) {
	w := loadWordPiece(t)
	tests := []struct {
		name, question string
		low, high      float64
	}{
		{"English", "How much is the monthly fee?", 1.8, 2},
		{"German", "Darf ich meine alte Festnetznummer behalten?", 0.7, 1.7},
		{"Russian", "Сколько стоит тариф в месяц?", 0.25, 0.5},
		{"unknown signs", "\U0001F600 \U0001F600", 0.25, 0.25},
		{"nothing", "?!", 0.25, 0.25},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := w.DenseWeight(test.question); got < test.low || got > test.high {
				t.Errorf("got %.2f, want %.2f to %.2f", got, test.low, test.high)
			}
		})
	}
}
