//go:build !unix

package main

import (
	"errors"
	"os"
)

func limitFiles(string) { os.Exit(99) }

func sendSignal(*os.Process, string) error { return errors.New("this system has no signals to send") }

func alive(string) bool { return false }
