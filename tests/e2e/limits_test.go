package e2e

import (
	"net/http"
	"strconv"
	"testing"
)

// fallbackOnly is a question that no document of the tests answers.
const fallbackOnly = "who won the football world cup in 1998"

// A person's limit of the minute and a brand's cap of the day refuse with a reason, a time to wait, and
// a row each. A minute or a day may end between two questions, and then as many more are allowed, once.
func TestLimits_SayWhichOneAndForHowLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, slug, limits, code string
		cap, longest             int // seconds to wait at most
	}{
		{"a person's minute", "limit-minute", "{turns_per_minute: 2, turns_per_day: 100}", "rate_limited", 2, 60},
		{"a brand's day", "limit-day", "{turns_per_minute: 100, turns_per_day: 3}", "tenant_cap_reached", 3, 24 * 60 * 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := doorstep.addBrand(t, c.slug, c.limits, map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
			b.index(t)
			rep := doorstep.rep(t, c.slug)
			body := encode(t, map[string]string{"question": fallbackOnly})
			asked := 0
			r := rep.post("/v1/ask", body)
			for ; r.status == http.StatusOK && asked <= 2*c.cap; asked++ {
				r = rep.post("/v1/ask", body)
			}
			r.want(t, http.StatusTooManyRequests, c.code)
			if asked < c.cap {
				t.Errorf("refused after %d questions, %d are allowed", asked, c.cap)
			}
			wait, err := strconv.Atoi(r.header.Get("Retry-After"))
			if err != nil || wait < 1 || wait > c.longest {
				t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
			}
			// the stream that was asked for is an ordinary response when it is refused
			if kind := r.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
				t.Errorf("Content-Type %q", kind)
			}
			if n := doorstep.text(t, `select count(*)::text from app.turns r join app.tenants t on t.id = r.tenant_id
				where t.slug = $1 and r.status = 'refused' and r.refusal = $2`, c.slug, c.code); n != "1" {
				t.Errorf("%s rows of the refusal, want 1", n)
			}
		})
	}
}

// The limit is each person's own: a colleague may still ask.
func TestLimits_OfOnePersonIsNotTheColleagues(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "limit-colleague", "{turns_per_minute: 1}", map[string]string{"faq/hours.md": "# Hours\n\nThe shop opens at nine.\n"})
	b.index(t)
	rep := doorstep.rep(t, b.slug)
	body := encode(t, map[string]string{"question": fallbackOnly})
	for n := 0; rep.post("/v1/ask", body).status == http.StatusOK; n++ {
		if n == 3 {
			t.Fatal("nobody is refused")
		}
	}
	doorstep.admin(t, b.slug).post("/v1/ask", body).want(t, http.StatusOK, "")
}
