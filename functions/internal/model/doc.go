// Package model is the room of the language models: it embeds texts and generates answers. It knows
// neither prompts nor brands. Providers stand behind Generator and behind the two embedding methods;
// types of a provider's library never leave the file of that provider.
//
// No error of this package holds a question, a chunk, an answer, an address or a key: failures of a
// provider are reduced to a sentinel of errors.go and the provider's own code for them.
package model
