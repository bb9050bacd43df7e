package store

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// Version is the number of the format that this package writes. It reads this
// and every older one.
const Version = 1

// formatPrefix and a number are the value of the key format, which is the only
// value without an envelope, so that every reader of any version can read it.
const formatPrefix = "headroom.evidence/"

// pageSize is bbolt's page size in every evidence file, on every machine.
const pageSize = 4096

// The buckets and, in the bucket run, the keys.
const (
	bucketRun       = "run"
	bucketPhases    = "phases"
	bucketIntervals = "intervals"
	bucketSends     = "sends"
	bucketSamples   = "samples"
	bucketNotes     = "notes"
	bucketFaults    = "faults"

	keyFormat = "format"
	keyHeader = "header"
	keyFacts  = "facts"
	keyEnd    = "end"
	keySeal   = "seal"
)

// buckets lists the buckets of a new file, in rising order.
func buckets() []string {
	return []string{bucketFaults, bucketIntervals, bucketNotes, bucketPhases, bucketRun, bucketSamples, bucketSends}
}

// fill is how full a page may become: keys only rise, so pages are left full.
const fill = 0.95

// key32 is two numbers below 2^32 as a key that sorts like them.
func key32(a, b int) []byte {
	k := binary.BigEndian.AppendUint32(nil, uint32(a))
	return binary.BigEndian.AppendUint32(k, uint32(b))
}

func key64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// readFormat reads the format's number from the bucket run.
func readFormat(tx *bolt.Tx) (int, error) {
	b := tx.Bucket([]byte(bucketRun))
	if b == nil {
		return 0, fmt.Errorf("%w: a bbolt file of another program", ErrForeign)
	}
	text, ok := strings.CutPrefix(string(b.Get([]byte(keyFormat))), formatPrefix)
	if !ok {
		return 0, fmt.Errorf("%w: a bbolt file of another program", ErrForeign)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, damage("format %q", text)
	}
	if n > Version {
		return n, fmt.Errorf("%w: format %d, this version reads up to %d; use a newer headroom", ErrTooNew, n, Version)
	}
	return n, nil
}
