// Package profile learns from access logs what a load test needs to know about
// production: which requests, how many, how they come, and which identifiers
// they ask for. The result is a small JSON document, headroom.profile/1.
//
// Read makes one pass over the logs in bounded memory. Nothing that could name
// a person, a customer or a machine is kept: identifiers become counts, and
// the pseudonyms of the most popular ones are made with a secret that is never
// stored. Words of a path are kept where at least Fold requests have them.
//
// Load reads a profile back, strictly. FORMATS.md says which logs are read and
// what is kept.
package profile

// Schema names the format of a profile.
const Schema = "headroom.profile/1"

// Fold is the least number of requests that a word of a path, a parameter's
// name or a route must have to be kept; what has fewer is folded together.
const Fold = 5

// HeadIDs is how many of the most popular identifiers keep their own count.
const HeadIDs = 10_000
