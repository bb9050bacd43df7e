// Package request makes the start of a plan from requests that exist already: a
// curl command line, a HAR file of a browser, or an OpenAPI document.
//
// What is or may be a secret does not get into the plan: cookies, credentials,
// keys, passwords and tokens, wherever they stand, are replaced by ${NAME},
// which the plan takes from the environment. A value counts as one by its name
// or by its look; in doubt it is left out. Draft.Variables tells which.
//
// The result is a start: rates, the values of path parameters and, without a
// recording, the weights have to be put right by hand. The plan's comments say
// where.
package request
