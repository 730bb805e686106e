package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// What GitHub may say no with, and what a caller does about it. Every error of
// this package that has such a cause is one of these by errors.Is.
var (
	// ErrForbidden: the token may not do this. It is the read-only token of a
	// pull request from a fork, or the job lacks a permission. Not a fault of
	// the gate: say it, and leave out what was to be written.
	ErrForbidden = errors.New("the token may not do this")
	// ErrUnauthorized: the token is none, or no longer one.
	ErrUnauthorized = errors.New("the token is not accepted")
	// ErrNotFound: it does not exist, or the token may not see that it does.
	ErrNotFound = errors.New("not found")
	// ErrGone: it existed; an artifact is expired or deleted.
	ErrGone = errors.New("gone")
	// ErrTooLarge: a comment is longer than GitHub takes. Shorten it.
	ErrTooLarge = errors.New("the text is too long")
	// ErrRateLimited: too many requests, and waiting would take longer than the
	// client may wait.
	ErrRateLimited = errors.New("too many requests")
	// ErrTooBig: an answer or an artifact is above the bound of this package or
	// of the caller.
	ErrTooBig = errors.New("too big")
	// ErrDigest: an artifact's bytes are not those that were uploaded.
	ErrDigest = errors.New("the digest differs")
)

// An Error is a call that was refused or never answered.
type Error struct {
	Call    string // the method and the path below the API's base
	Status  int    // of the answer; 0 where none came
	Message string // what the server, or the connection, said: one line
	Hint    string // what to do about it; may be empty
	cause   error
}

// Error says the call, what is wrong and what to do. It never holds a token,
// nor the query of a signed URL.
func (e *Error) Error() string {
	s := e.Call + ": "
	if e.Status != 0 {
		s += fmt.Sprintf("status %d: ", e.Status)
	}
	s += e.Message
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Unwrap returns which of the errors above this one is, or what broke.
func (e *Error) Unwrap() error { return e.cause }

// unclear says whether a request that ended so may have taken effect: its
// answer was lost, or the server broke while it worked.
func unclear(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == 0 || e.Status >= 500) &&
		!errors.Is(err, ErrRateLimited) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// causeOf returns which of the errors above an answer is, nil for none.
func causeOf(status int, message string) error {
	switch {
	case status == 401:
		return ErrUnauthorized
	case status == 403:
		return ErrForbidden
	case status == 404:
		return ErrNotFound
	case status == 410:
		return ErrGone
	case status == 413, status == 422 && strings.Contains(strings.ToLower(message), "too long"):
		return ErrTooLarge
	case status == 429:
		return ErrRateLimited
	}
	return nil
}

// plain unwraps the errors of net/http that quote a URL: a signed one is a
// password.
func plain(err error) error {
	for {
		var u *url.Error
		if !errors.As(err, &u) {
			return err
		}
		err = u.Err
	}
}

// oneLine returns text of someone else's making as one short line.
func oneLine(s string) string {
	const most = 300
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
