package gemini

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ending is how a streamed answer ends after its chunks.
type ending int

const (
	complete   ending = iota // the body ends as it should
	hang                     // nothing more comes until the client leaves
	cut                      // the connection breaks
	errorEvent               // an error object comes as the last event
)

// Response is what the server answers. Make it with the functions of this file; a zero Response is
// an empty stream.
type Response struct {
	code   int // 0 means 200
	body   any // the JSON body; nil: chunks are the answer
	chunks []Chunk
	end    ending
	last   failure // of errorEvent
}

// Text answers with that text in as many chunks as deltas, the last one with STOP.
func Text(deltas ...string) Response { return Finish("STOP", deltas...) }

// Finish is Text with another finish reason. Without deltas the candidate has no content.
func Finish(reason string, deltas ...string) Response {
	var r Response
	for _, d := range deltas {
		r.chunks = append(r.chunks, Chunk{Candidates: []Candidate{{
			Content: &Content{Role: "model", Parts: []Part{{Text: d}}},
		}}})
	}
	if len(deltas) == 0 {
		r.chunks = []Chunk{{Candidates: []Candidate{{}}}}
	}
	r.chunks[len(r.chunks)-1].Candidates[0].FinishReason = reason
	return r
}

// Parts answers with one chunk of several parts and STOP.
func Parts(parts ...Part) Response {
	return Chunks(Chunk{Candidates: []Candidate{{
		Content: &Content{Role: "model", Parts: parts}, FinishReason: "STOP",
	}}})
}

// Chunks answers with exactly those chunks: for shapes that the other functions do not make.
func Chunks(chunks ...Chunk) Response { return Response{chunks: chunks} }

// Blocked answers 200 with a refused prompt and no candidate.
func Blocked(reason string) Response {
	return Chunks(Chunk{PromptFeedback: &PromptFeedback{BlockReason: reason}})
}

// WithUsage puts token counts on the last chunk instead of the ones that the server estimates.
func (r Response) WithUsage(prompt, candidates int) Response {
	r.chunks = append([]Chunk(nil), r.chunks...)
	r.chunks[len(r.chunks)-1].UsageMetadata = &Usage{
		PromptTokenCount: prompt, CandidatesTokenCount: candidates, TotalTokenCount: prompt + candidates,
	}
	return r
}

// ThenHang sends the chunks without a finish reason, then nothing until the client leaves.
func (r Response) ThenHang() Response { return r.unfinished(hang) }

// ThenCut sends the chunks without a finish reason, then breaks the connection.
func (r Response) ThenCut() Response { return r.unfinished(cut) }

// ThenEnd sends the chunks without a finish reason and ends the body in good order.
func (r Response) ThenEnd() Response { return r.unfinished(complete) }

// ThenFail sends the chunks without a finish reason, then the failure as an event of the stream.
func (r Response) ThenFail(f Response) Response {
	r = r.unfinished(errorEvent)
	r.last, _ = f.body.(failure)
	return r
}

func (r Response) unfinished(e ending) Response {
	chunks := make([]Chunk, len(r.chunks))
	for i, c := range r.chunks {
		c.Candidates = append([]Candidate(nil), c.Candidates...)
		for j := range c.Candidates {
			c.Candidates[j].FinishReason = ""
		}
		chunks[i] = c
	}
	r.chunks, r.end = chunks, e
	return r
}

// Hang answers nothing until the client leaves.
func Hang() Response { return Response{end: hang} }

// Fail answers with an error object, for example Fail(503, "UNAVAILABLE", "…").
func Fail(code int, state, message string, details ...map[string]any) Response {
	return Response{code: code, body: failure{status{
		Code: code, Message: message, Status: state, Details: details,
	}}}
}

// Unavailable answers 503.
func Unavailable() Response {
	return Fail(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.")
}

// NotFound answers 404, as for a model that was retired.
func NotFound() Response {
	return Fail(http.StatusNotFound, "NOT_FOUND", "The model is not found for API version v1beta.")
}

// The quota ids of the free tier, as they stand in a QuotaFailure.
const (
	PerDay    = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
	PerMinute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
)

// Quota answers 429 with one violation per quota id, and a RetryInfo when retry is above zero.
func Quota(retry time.Duration, quotaIDs ...string) Response {
	violations := make([]map[string]any, 0, len(quotaIDs))
	for _, id := range quotaIDs {
		violations = append(violations, map[string]any{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
			"quotaId":     id,
		})
	}
	details := []map[string]any{
		{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
		{"@type": "type.googleapis.com/google.rpc.Help"},
	}
	if retry > 0 {
		details = append(details, map[string]any{
			"@type":      "type.googleapis.com/google.rpc.RetryInfo",
			"retryDelay": strconv.FormatFloat(retry.Seconds(), 'f', -1, 64) + "s",
		})
	}
	return Fail(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", details...)
}

// RefuseMinimal wraps an answer as a model that takes no thinking level MINIMAL: such a request
// gets the real 400, any other the answer.
func RefuseMinimal(then Response) func(Request) Response {
	return func(r Request) Response {
		if t := r.Config.ThinkingConfig; t != nil && t.ThinkingLevel == "MINIMAL" {
			return Fail(http.StatusBadRequest, "INVALID_ARGUMENT",
				"Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.")
		}
		return then
	}
}

// raw is a body that is sent as it is.
type raw string

// Raw answers with that status and body as they are, JSON or not.
func Raw(code int, body string) Response { return Response{code: code, body: raw(body)} }

// text joins the text of all chunks.
func (r Response) text() string {
	var b strings.Builder
	for _, c := range r.chunks {
		for _, cand := range c.Candidates {
			if cand.Content != nil {
				b.WriteString(cand.Content.Text())
			}
		}
	}
	return b.String()
}
