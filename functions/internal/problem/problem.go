// Package problem holds the one error type that leaves the server, the codes it may carry and the
// one table from code to HTTP status and sentence. The database raises the same codes as the
// message of an SQLSTATE "PTnnn" exception, so that both sides speak one vocabulary.
package problem

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// Code names a kind of failure. It is stable: clients branch on it.
type Code string

// The codes, in the order of their HTTP status.
const (
	BadRequest          Code = "bad_request"
	QuestionEmpty       Code = "question_empty"
	QuestionTooLong     Code = "question_too_long"
	QuestionNotUTF8     Code = "question_not_utf8"
	Unauthenticated     Code = "unauthenticated"
	NotAMember          Code = "not_a_member"
	NotAnAdmin          Code = "not_an_admin"
	FunctionsOnly       Code = "functions_only"
	TenantSuspended     Code = "tenant_suspended"
	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	TurnIDUsed          Code = "turn_id_used"
	TurnRunning         Code = "turn_running"
	NewerSnapshot       Code = "newer_snapshot"
	ReindexRunning      Code = "reindex_running"
	RemovalRefused      Code = "removal_refused"
	LibraryMissing      Code = "library_missing"
	LibraryMismatch     Code = "library_mismatch"
	BodyTooLarge        Code = "body_too_large"
	WrongContentType    Code = "wrong_content_type"
	ModelMismatch       Code = "model_mismatch"
	RateLimited         Code = "rate_limited"
	TenantCapReached    Code = "tenant_cap_reached"
	GlobalCapReached    Code = "global_cap_reached"
	Internal            Code = "internal"
	NoEmbeddingModel    Code = "no_embedding_model"
	DatabaseUnavailable Code = "database_unavailable"
	KeysUnavailable     Code = "keys_unavailable"
	ServiceStopping     Code = "service_stopping"
)

type meaning struct {
	status  int
	message string
}

// meanings is the only place where a code meets a status and a sentence.
var meanings = map[Code]meaning{
	BadRequest:          {http.StatusBadRequest, "The request could not be read."},
	QuestionEmpty:       {http.StatusBadRequest, "The question is empty."},
	QuestionTooLong:     {http.StatusBadRequest, "The question is longer than this brand allows."},
	QuestionNotUTF8:     {http.StatusBadRequest, "The question is not valid UTF-8 text."},
	Unauthenticated:     {http.StatusUnauthorized, "Sign in and send the access token."},
	NotAMember:          {http.StatusForbidden, "You are not a member of this brand."},
	NotAnAdmin:          {http.StatusForbidden, "Only an admin of this brand may do this."},
	FunctionsOnly:       {http.StatusForbidden, "Questions are asked through the ask function."},
	TenantSuspended:     {http.StatusForbidden, "This brand is suspended."},
	NotFound:            {http.StatusNotFound, "There is nothing here that you may see."},
	MethodNotAllowed:    {http.StatusMethodNotAllowed, "This method is not allowed here."},
	TurnIDUsed:          {http.StatusConflict, "This turn id was already used for another question."},
	TurnRunning:         {http.StatusConflict, "This question is still being answered."},
	NewerSnapshot:       {http.StatusConflict, "A newer version of this source is already indexed."},
	ReindexRunning:      {http.StatusConflict, "This source is being indexed right now."},
	RemovalRefused:      {http.StatusConflict, "More passages would be removed than this brand allows at once."},
	LibraryMissing:      {http.StatusConflict, "The documents of this brand can't be found; nothing was changed."},
	LibraryMismatch:     {http.StatusConflict, "The folder belongs to another brand; nothing was changed."},
	BodyTooLarge:        {http.StatusRequestEntityTooLarge, "The request body is too large."},
	WrongContentType:    {http.StatusUnsupportedMediaType, "Send the body as application/json."},
	ModelMismatch:       {http.StatusUnprocessableEntity, "The vectors come from another model than the index."},
	RateLimited:         {http.StatusTooManyRequests, "You asked too many questions in a short time."},
	TenantCapReached:    {http.StatusTooManyRequests, "Your brand has used its questions for today."},
	GlobalCapReached:    {http.StatusTooManyRequests, "The service has used its questions for today."},
	Internal:            {http.StatusInternalServerError, "Something went wrong on our side."},
	NoEmbeddingModel:    {http.StatusServiceUnavailable, "No embedding model can serve this question now."},
	DatabaseUnavailable: {http.StatusServiceUnavailable, "The database can't be reached now."},
	KeysUnavailable:     {http.StatusServiceUnavailable, "The sign-in keys can't be fetched now."},
	ServiceStopping:     {http.StatusServiceUnavailable, "The service is restarting."},
}

// Error is a failure with a code for the client and a cause for the log. Only Code, Detail and
// RetryAfter may reach a client; Err never does.
type Error struct {
	Code       Code
	Detail     string        // optional, made by us, never content of a request or document
	RetryAfter time.Duration // 0 where waiting does not help
	Err        error         // the cause, for the log
}

// New returns an error of that code with its cause, which may be nil.
func New(code Code, err error) *Error { return &Error{Code: code, Err: err} }

// Error is for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Status returns the HTTP status of the code.
func (e *Error) Status() int { return meanings[e.Code].status }

// Message returns the sentence for the person, with the detail when there is one and how long to wait
// when waiting helps.
func (e *Error) Message() string {
	m := meanings[e.Code].message
	if e.Detail != "" {
		m += " " + e.Detail
	}
	if e.RetryAfter > 0 {
		m += fmt.Sprintf(" Try again in %s.", wait(e.RetryAfter))
	}
	return m
}

// wait says a duration as people do, rounded up.
func wait(d time.Duration) string {
	switch {
	case d <= time.Minute:
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	case d <= time.Hour:
		return fmt.Sprintf("%d minutes", int(math.Ceil(d.Minutes())))
	}
	return fmt.Sprintf("%d hours", int(math.Ceil(d.Hours())))
}

// From returns the *Error in err's chain, or an Internal one around err.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(Internal, err)
}

// Known says whether code has a meaning.
func Known(code Code) bool { _, ok := meanings[code]; return ok }
