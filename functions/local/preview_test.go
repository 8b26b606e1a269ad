package main

import (
	"testing"
	"time"

	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
)

func TestPreview_SaysWhatShareOfTheQuotaItTakes(t *testing.T) {
	p := ingest.Preview{Work: []ingest.Work{
		{Index: "primary", Model: "hosted", Texts: 205, Tokens: 9000, Batches: 5},
		{Index: "local", Model: "small", Texts: 8000, Tokens: 9000, Batches: 90},
	}}
	works, takes := worksOf(p, []store.Quota{{Model: "hosted", PerDay: 1000, Left: 3}, {Model: "spent", PerDay: 0}})
	if w := works[0]; w.Calls != 5 || *w.Share != 0.5 || *w.Left != 3 {
		t.Errorf("the hosted one: %+v", w)
	}
	if w := works[1]; w.Calls != 0 || w.Share != nil || w.Left != nil {
		t.Errorf("the local one: %+v", w)
	}
	if want := 5*time.Second + 2*time.Minute; takes != want || minutes(takes) != 3 {
		t.Errorf("it takes %s, %d minutes", takes, minutes(takes))
	}
}
