package e2e

import (
	"net/http"
	"sync"
	"testing"
)

// More requests at once than a process has connections, by far: each is answered, or told when to come back,
// and then everything works. P5
func TestStorm_ManyRequestsShareFewConnections(t *testing.T) {
	t.Parallel()
	b := newBrand(t, t.TempDir(), "storm-stoves", "{turns_per_minute: 1000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(200), "Ember Nook: €1,240.00"),
	}).serve(t, options{name: "storm", environment: []string{"PORCHLIGHT_MAX_CONNECTIONS=2"}})
	admin := b.server.admin(t, b.slug)
	var requests sync.WaitGroup
	var mutex sync.Mutex
	statuses := map[int]int{}
	for range 200 {
		requests.Go(func() {
			r := admin.get("/v1/review/stale")
			if r.status != http.StatusOK && !r.isBusy() {
				t.Errorf("%d %s", r.status, r.body)
			}
			mutex.Lock()
			defer mutex.Unlock()
			statuses[r.status]++
		})
	}
	requests.Wait()
	t.Logf("%d were answered, %d were told to come back", statuses[http.StatusOK], statuses[http.StatusServiceUnavailable])
	if statuses[http.StatusOK] == 0 {
		t.Error("nobody was answered")
	}
	r := admin.get("/v1/review/stale")
	r.want(t, http.StatusOK, "")
}
