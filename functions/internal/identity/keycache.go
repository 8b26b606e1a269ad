package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"porchlight/functions/internal/problem"
)

// Supabase's edge caches the key set for 10 minutes and asks clients to keep it no longer. The
// limits together mean: a new key works after at most fetchEvery, a revoked one stops after at
// most cacheFor (staleFor while the endpoint is down), and no flood of kids causes more than one
// fetch in fetchEvery.
const (
	cacheFor       = 10 * time.Minute
	staleFor       = 15 * time.Minute
	fetchEvery     = 30 * time.Second
	fetchTimeout   = 5 * time.Second
	maxKeySetBytes = 64 << 10
)

// keyCache holds the keys of one endpoint. Requests drive it: it has no goroutine that a frozen
// Lambda would stop. Its times are those of the wall clock, since Go's monotonic one stands still
// while a Lambda is frozen, and a revoked key would live on for as long.
type keyCache struct {
	url    string
	client http.Client
	now    func() time.Time
	flight singleflight.Group

	mu      sync.Mutex
	keys    map[string]key
	fetched time.Time // last fetch that worked
	tried   time.Time // last fetch
	lastErr error     // its error
}

func newKeyCache(url string, client *http.Client, now func() time.Time) *keyCache {
	c := &keyCache{url: url, now: now}
	if client != nil {
		c.client = *client
	}
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// find returns the key of that kid. When the last fetch failed nobody can tell a forged kid from a
// new one, so the answer is "later" and not "no".
func (c *keyCache) find(ctx context.Context, kid string) (key, error) {
	if kid == "" {
		return key{}, refuse("kid is missing")
	}
	if k, ok := c.cached(kid, cacheFor); ok {
		return k, nil
	}
	err := c.refresh(ctx)
	if k, ok := c.cached(kid, staleFor); ok {
		return k, nil
	}
	if err != nil {
		return key{}, c.unavailable(err)
	}
	return key{}, refuse("kid is unknown")
}

// cached returns the key of that kid if the keys are younger than maxAge.
func (c *keyCache) cached(kid string, maxAge time.Duration) (key, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.keys[kid]
	return k, ok && isWithin(c.wallClock(), c.fetched, maxAge)
}

func (c *keyCache) wallClock() time.Time { return c.now().Round(0) }

// isWithin says whether then is less than limit before now. A time ahead of now is not: the clock was
// set back, and nobody knows by how much.
func isWithin(now, then time.Time, limit time.Duration) bool {
	age := now.Sub(then)
	return age >= 0 && age < limit
}

// refresh fetches the keys unless that was tried within fetchEvery, and returns how the last try
// went. Everybody who asks at once shares one fetch, so it must not end with the request of the
// one who began it.
func (c *keyCache) refresh(ctx context.Context) error {
	_, err, _ := c.flight.Do("", func() (any, error) {
		c.mu.Lock()
		now, tried, lastErr := c.wallClock(), c.tried, c.lastErr
		c.mu.Unlock()
		if isWithin(now, tried, fetchEvery) {
			return nil, lastErr
		}
		keys, err := c.fetch(context.WithoutCancel(ctx))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tried, c.lastErr = now, err
		if err == nil {
			c.keys, c.fetched = keys, now
		}
		return nil, err
	})
	return err
}

func (c *keyCache) fetch(ctx context.Context) (map[string]key, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, errors.New("ask for key set: the URL is malformed")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		// A url.Error spells the URL out, and a URL may hold a key.
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch key set: status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySetBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	if len(body) > maxKeySetBytes {
		return nil, errors.New("key set is too large")
	}
	return parseKeySet(body)
}

func (c *keyCache) unavailable(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := problem.New(problem.KeysUnavailable, cause)
	p.RetryAfter = min(max(fetchEvery-c.wallClock().Sub(c.tried), time.Second), fetchEvery)
	return p
}
