// Package web is the analysis server: an http.Handler over a [Library] of runs.
//
// Pages work without scripts; one small script of our own adds hovering, zooming
// and live refresh. Nothing comes from elsewhere, nothing is written but what
// [Library.Receive] writes, and no name of a request reaches a path: runs are
// found by their key in the library's list.
package web
