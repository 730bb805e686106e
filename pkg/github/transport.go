package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	userAgent = "noslower"

	// attempts is how often a request is sent at most: as GitHub's own client
	// of the artifact service does,
	// https://github.com/actions/toolkit/blob/main/packages/artifact/src/internal/shared/artifact-twirp-client.ts.
	attempts = 5
	// maxAnswer bounds an answer that is no artifact, in bytes. A comparison
	// with 300 changed files and their patches is the largest known.
	maxAnswer = 32 << 20
)

// Options are what a client is made with besides its address and token. The
// zero value is for use outside tests.
type Options struct {
	// MaxWait bounds what a client spends waiting between attempts, over all of
	// its calls; 0 is two minutes. A gate that waits out GitHub's hourly limit
	// costs more than a missing comment.
	MaxWait time.Duration
	// Timeout bounds one attempt of one request; 0 is 30 seconds for questions
	// and two minutes for blocks of an artifact.
	Timeout time.Duration
	// Mask is called with what must never be read in a log, before anything is
	// logged or sent; nil calls nothing.
	Mask func(secret string)

	// What tests replace; nil is the network, the clock, and chance.
	Transport http.RoundTripper
	Sleep     func(context.Context, time.Duration) error
	Now       func() time.Time
	Rand      func() float64 // in [0, 1)
}

func (o Options) withDefaults() Options {
	o.MaxWait = cmp.Or(o.MaxWait, 2*time.Minute)
	if o.Mask == nil {
		o.Mask = func(string) {}
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
		o.Transport = t
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// A pause counts what a client has spent waiting.
type pause struct {
	o     Options
	mu    sync.Mutex
	spent time.Duration
}

// backoff waits before the attempt after n others: a second, doubled each time,
// with a jitter of a half, so that the legs of a matrix do not come back together.
func (p *pause) backoff(ctx context.Context, n int) error {
	d := time.Second << min(n, 6)
	return p.wait(ctx, time.Duration(float64(d)*(0.5+p.o.Rand())))
}

// wait waits for d, if that much may still be waited.
func (p *pause) wait(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	if p.spent+d > p.o.MaxWait {
		p.mu.Unlock()
		return fmt.Errorf("the next attempt would be in %v: more than is left of %v for waiting", d.Round(time.Second), p.o.MaxWait)
	}
	p.spent += d
	p.mu.Unlock()
	return p.o.Sleep(ctx, d)
}

// A retrier sends a request until it is answered: again after 429 and what says
// a rate limit, and, where sending twice is the same as once, after 5xx and a
// broken connection. It reads the whole answer, so that one cut off in the
// middle counts as broken.
type retrier struct {
	*pause
	origin  string        // scheme and host that the token may go to
	token   string        // for the Authorization header
	most    int64         // bytes of an answer
	timeout time.Duration // for one attempt

	mu    sync.Mutex
	until time.Time // when a used-up rate limit is renewed
}

// repeatable marks a request whose method does not say that it may be sent
// twice.
type repeatable struct{}

// RoundTrip implements http.RoundTripper. Its errors are those of the last
// attempt.
func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	again := req.Method != http.MethodPost || ctx.Value(repeatable{}) != nil
	for n := 0; ; n++ {
		if err := r.awaitReset(ctx); err != nil {
			return nil, err
		}
		answer, body, err := r.once(req)
		var wait time.Duration // as the server asks; 0 for none
		var limited bool
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrTooBig):
			return nil, err
		case err != nil:
			if !again && !refused(err) {
				return nil, err
			}
		default:
			r.note(answer)
			if wait, limited = r.limit(answer, body); !limited && (answer.StatusCode < 500 || !again) {
				return answer, nil
			}
		}
		last := func(why string) (*http.Response, error) {
			switch {
			case err != nil:
				return nil, err
			case limited:
				return nil, fmt.Errorf("%w: %s (status %d): %s", ErrRateLimited, oneLine(messageOf(body)), answer.StatusCode, why)
			}
			return answer, nil
		}
		if n == attempts-1 {
			return last(fmt.Sprintf("gave up after %d attempts", attempts))
		}
		if wait > 0 {
			err := r.wait(ctx, wait)
			if err != nil && ctx.Err() == nil {
				return last(err.Error())
			}
		} else if err := r.backoff(ctx, n); err != nil && ctx.Err() == nil {
			return last(err.Error())
		}
	}
}

// once sends the request and reads its answer.
func (r *retrier) once(req *http.Request) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(req.Context(), r.timeout)
	defer cancel()
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, nil, err
		}
		out.Body = body
	}
	out.Header.Set("User-Agent", userAgent)
	// Not on the request itself: net/http would take it along on a redirect.
	if r.token != "" && originOf(req.URL) == r.origin {
		out.Header.Set("Authorization", "Bearer "+r.token)
	}
	late := func(err error) error {
		// The time of the attempt, not that of the caller: it may be tried again.
		if ctx.Err() != nil && req.Context().Err() == nil {
			return fmt.Errorf("no answer within %v", r.timeout)
		}
		return err
	}
	answer, err := r.o.Transport.RoundTrip(out)
	if err != nil {
		return nil, nil, late(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, r.most+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("the answer broke off: %w", late(err))
	case int64(len(body)) > r.most:
		return nil, nil, fmt.Errorf("%w: want at most %d bytes", ErrTooBig, r.most)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, body, nil
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// refused says whether no connection came about: nothing can have been done.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// note keeps when a rate limit of which nothing is left is renewed, and takes
// the numbers out of the answer: go-github would refuse the next call by them,
// where waiting a little does.
func (r *retrier) note(answer *http.Response) {
	remaining, reset := answer.Header.Get("X-RateLimit-Remaining"), answer.Header.Get("X-RateLimit-Reset")
	answer.Header.Del("X-RateLimit-Remaining")
	answer.Header.Del("X-RateLimit-Reset")
	seconds, err := strconv.ParseInt(reset, 10, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Time{}
	if remaining == "0" && err == nil {
		r.until = time.Unix(seconds, 0)
	}
}

// awaitReset waits until a used-up rate limit is renewed.
func (r *retrier) awaitReset(ctx context.Context) error {
	r.mu.Lock()
	d := r.until.Sub(r.o.Now())
	r.mu.Unlock()
	if d <= 0 {
		return nil
	}
	if err := r.wait(ctx, d+time.Second); err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("%w: the hourly limit is used up: %w", ErrRateLimited, err))
	}
	return nil
}

// limit says whether an answer means "not now", and for how long. For a
// secondary limit without Retry-After GitHub wants a minute or more.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func (r *retrier) limit(answer *http.Response, body []byte) (wait time.Duration, limited bool) {
	r.mu.Lock()
	usedUp := !r.until.IsZero()
	r.mu.Unlock()
	message := strings.ToLower(messageOf(body))
	secondary := strings.Contains(message, "secondary rate limit") || strings.Contains(message, "abuse detection")
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		// Storage that is full is told as 429 too, and no wait helps.
		if quota(message) {
			return 0, false
		}
	case http.StatusForbidden:
		if !usedUp && !secondary && answer.Header.Get("Retry-After") == "" {
			return 0, false
		}
	case http.StatusServiceUnavailable:
		// Not a limit, but it may say when to come back.
		return retryAfter(answer.Header.Get("Retry-After"), r.o.Now()), false
	default:
		return 0, false
	}
	wait = retryAfter(answer.Header.Get("Retry-After"), r.o.Now())
	if wait == 0 && !usedUp && secondary {
		wait = time.Minute
	}
	return wait, true
}

// retryAfter reads the header, seconds or a date; 0 if it says nothing.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// messageOf returns what an answer of the API or of the artifact service says
// for people, with the messages of its single faults.
func messageOf(body []byte) string {
	var m struct {
		Message string
		Msg     string
		Errors  []json.RawMessage
	}
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	s := cmp.Or(m.Message, m.Msg)
	for _, raw := range m.Errors {
		var fault struct{ Message string }
		var text string
		if json.Unmarshal(raw, &fault) == nil && fault.Message != "" {
			s += ": " + fault.Message
		} else if json.Unmarshal(raw, &text) == nil {
			s += ": " + text
		}
	}
	return s
}
