package store_test

import "testing"

func TestStore_TakesOneRoundTripForEachTransaction(t *testing.T) {
	f := newFixture(t)
	for _, d := range f.doors(t) {
		s, l := f.openThrough(t, d.login)
		if _, err := s.Left(t.Context()); err != nil { // connects
			t.Fatal(err)
		}
		var err error
		if n := l.count(func() { err = d.call(s) }); err != nil || n != 1 {
			t.Errorf("%s took %d round trips, want 1 (%v)", d.name, n, err)
		}
	}
}
