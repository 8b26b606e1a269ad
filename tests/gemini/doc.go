// Package gemini is a Gemini API server for tests. It listens on 127.0.0.1 and speaks the REST and
// server-sent-event shapes of generateContent, streamGenerateContent, embedContent and
// batchEmbedContents. A test registers what each model answers; a request that nobody registered,
// or that the real service would refuse, is answered with an error and remembered, so that the
// test fails. Every request is kept with its raw bytes, so that tests can look at what was sent.
//
// It imports nothing of the product: unit tests and end-to-end tests use it alike.
package gemini
