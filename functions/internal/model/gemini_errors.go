package model

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"
)

// geminiWithheld is the table of the finish reasons that are no answer. STOP and MAX_TOKENS are
// answers; a reason that stands nowhere is ErrFailed with its name, never taken for a refusal.
var geminiWithheld = map[genai.FinishReason]error{
	genai.FinishReasonSafety:                 ErrSafety,
	genai.FinishReasonBlocklist:              ErrSafety,
	genai.FinishReasonProhibitedContent:      ErrSafety,
	genai.FinishReasonSPII:                   ErrSafety,
	genai.FinishReasonImageSafety:            ErrSafety,
	genai.FinishReasonImageProhibitedContent: ErrSafety,
	genai.FinishReasonRecitation:             ErrRecitation,
	genai.FinishReasonImageRecitation:        ErrRecitation,
}

// geminiFinish says what a stream that ended in good order is worth. One that ended without a
// finish reason was cut, even if the connection closed politely.
func geminiFinish(model string, reason genai.FinishReason, text string) (Finish, error) {
	kind := geminiWithheld[reason]
	switch {
	case kind != nil:
	case strings.TrimSpace(text) == "":
		kind = ErrEmpty
	case reason == genai.FinishReasonStop:
		return FinishStop, nil
	case reason == genai.FinishReasonMaxTokens:
		return FinishMaxTokens, nil
	case reason == "" || reason == genai.FinishReasonUnspecified:
		return "", &CallError{Model: model, Reason: "stream ended early", Err: ErrUnavailable}
	default:
		kind = ErrFailed
	}
	return "", &CallError{Model: model, Reason: geminiCode(string(reason)), Err: kind}
}

// geminiError reduces an error of the library to a kind and the provider's own code. The error is
// not wrapped: its text may hold the address, the request or the answer.
func geminiError(ctx context.Context, model string, err error) error {
	if ctx.Err() != nil {
		return &CallError{Model: model, Err: ctx.Err()}
	}
	if errors.Is(err, context.DeadlineExceeded) { // the HTTP client's own timeout
		return &CallError{Model: model, Err: context.DeadlineExceeded}
	}
	var noAnswer *url.Error
	if errors.As(err, &noAnswer) {
		return &CallError{Model: model, Reason: "no connection", Err: ErrUnavailable}
	}
	var api genai.APIError
	if !errors.As(err, &api) {
		return &CallError{Model: model, Reason: "broken answer", Err: ErrUnavailable}
	}
	call := &CallError{Model: model, Reason: geminiReason(api), Err: ErrFailed}
	switch {
	case api.Code == http.StatusTooManyRequests:
		return geminiQuota(model, api)
	case api.Code == http.StatusNotFound:
		call.Err = ErrModelNotFound
	case api.Code == http.StatusBadRequest && isAboutThinking(api.Message):
		call.Err = errThinkingLevel
	case api.Code >= http.StatusInternalServerError:
		call.Err = ErrUnavailable
	}
	return call
}

// isAboutThinking recognises both wordings of the refusal: "Thinking level MINIMAL is not supported
// for this model" and "'minimal' is not a supported thinking level for this model".
func isAboutThinking(message string) bool {
	return strings.Contains(strings.ToLower(message), "thinking level")
}

// geminiReason is the HTTP status, the status word and the reason of an ErrorInfo, such as
// "400 INVALID_ARGUMENT API_KEY_INVALID". The message is left out: it may quote the request.
func geminiReason(api genai.APIError) string {
	words := []string{strconv.Itoa(api.Code), geminiCode(api.Status)}
	for _, d := range geminiDetails(api, "google.rpc.ErrorInfo") {
		reason, _ := d["reason"].(string)
		words = append(words, geminiCode(reason))
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// geminiQuota reads a 429. One body may list violations of the minute and of the day together: then
// the day counts, since waiting for the minute would help nothing.
func geminiQuota(model string, api genai.APIError) *QuotaError {
	q := &QuotaError{Model: model, Err: errors.New(geminiReason(api))}
	for _, d := range geminiDetails(api, "google.rpc.QuotaFailure") {
		violations, _ := d["violations"].([]any)
		for _, v := range violations {
			violation, _ := v.(map[string]any)
			id, _ := violation["quotaId"].(string)
			q.Daily = q.Daily || strings.Contains(id, "PerDay")
		}
	}
	for _, d := range geminiDetails(api, "google.rpc.RetryInfo") {
		delay, _ := d["retryDelay"].(string) // a protobuf duration: seconds, as in "27.5s"
		if wait, err := time.ParseDuration(delay); err == nil && wait > 0 {
			q.RetryAfter = wait
		}
	}
	return q
}

// geminiDetails returns the error details of that protobuf type.
func geminiDetails(api genai.APIError, name string) []map[string]any {
	var of []map[string]any
	for _, d := range api.Details {
		if t, _ := d["@type"].(string); strings.HasSuffix(t, "/"+name) {
			of = append(of, d)
		}
	}
	return of
}

// geminiCode returns s if it has the form of a provider's code, such as RESOURCE_EXHAUSTED, else nothing:
// free text does not get into errors.
func geminiCode(s string) string {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	if len(s) > 64 || strings.Trim(s, allowed) != "" {
		return ""
	}
	return s
}
