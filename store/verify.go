package store

import (
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// Finding is something that Verify noticed. A harmful one means that numbers
// from this file cannot be relied on; a harmless one is worth knowing.
type Finding struct {
	Code    string `json:"code"`
	Harmful bool   `json:"harmful"`
	Text    string `json:"text"`
}

// Report is what Verify found in a file.
type Report struct {
	Path      string         `json:"path"`
	RunID     string         `json:"run_id"`
	Name      string         `json:"name"`
	Format    int            `json:"format"`
	State     record.State   `json:"state"`
	Sealed    bool           `json:"sealed"`
	Digest    string         `json:"digest"` // recomputed
	Bytes     int64          `json:"bytes"`
	Records   map[string]int `json:"records"`
	Intervals int            `json:"intervals"`
	Scheduled uint64         `json:"scheduled"` // requests
	Findings  []Finding      `json:"findings"`
}

// Err is nil unless a finding is harmful; it wraps ErrDamaged.
func (r *Report) Err() error {
	n := 0
	var first string
	for _, f := range r.Findings {
		if f.Harmful {
			if n == 0 {
				first = f.Text
			}
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return refuse(r.Path, ErrDamaged, "%s", first)
	}
	return refuse(r.Path, ErrDamaged, "%s, and %d more", first, n-1)
}

// maxFindings bounds a report of a file in which everything is wrong.
const maxFindings = 50

func (r *Report) add(harmful bool, code, format string, args ...any) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, Finding{Code: code, Harmful: harmful, Text: fmt.Sprintf(format, args...)})
	}
}

// Verify reads a whole file: the structure of its pages, the checksum of every
// value, the seal, and the laws that its records obey. A file that cannot be
// opened is an error like Open's; what is wrong in one that can is a finding.
func Verify(path string) (*Report, error) {
	run, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	h := run.Header()
	r := &Report{
		Path: path, RunID: h.RunID, Name: h.Name, Format: run.format, State: run.end.State, Sealed: run.Sealed(),
		Bytes: run.bytes, Records: run.counts, Findings: []Finding{},
	}
	// bbolt's own check runs on a goroutine of its own, where a fault would end
	// the process; Open has checked every page that it touches.
	err = guard(func() error {
		return run.db.View(func(tx *bolt.Tx) error {
			for e := range tx.Check() {
				r.add(true, "structure", "structure: %v", e)
			}
			s, err := digest(tx)
			r.Digest = s.Digest
			return err
		})
	})
	if err != nil {
		r.add(true, "unreadable", "%v", err)
		return r, nil
	}
	r.file(run)
	r.records(run)
	return r, nil
}

// file looks at the file as a whole.
func (r *Report) file(run *Run) {
	switch {
	case run.seal == nil:
		r.add(false, "unsealed", "no seal: the run is %s, and changes to this file cannot be noticed; `headroom recover` seals it", r.State)
	case run.seal.Digest != r.Digest:
		r.add(true, "seal_broken", "the seal does not match: records were changed after the run")
	}
	if !run.whole {
		r.add(false, "torn_page", "one of the two first pages is torn, as a crash can leave it; the other one is whole")
	}
	if info, err := os.Stat(r.Path); err == nil && run.seal != nil && info.Mode().Perm()&0o222 != 0 {
		r.add(false, "writable", "the file can be written to; sealed evidence is read-only (chmod 0444)")
	}
	if base := filepath.Base(r.Path); base != r.RunID+fileSuffix && base != r.RunID+partSuffix &&
		(len(r.Digest) < 32 || base != receivedName(r.Digest)) {
		r.add(false, "renamed", "the file is not named after its run, %s", r.RunID)
	}
}

// records asserts what holds for the records of every run.
func (r *Report) records(ev record.Evidence) {
	phases := ev.Phases()
	for i, p := range phases {
		if p.Index != i {
			r.add(true, "phase_missing", "phase %d is missing", i)
			return // every message after this would be about the same
		}
		if p.EndNS < p.StartNS || i > 0 && p.StartNS < phases[i-1].StartNS {
			r.add(true, "phase_order", "phase %d (%s) is from %d to %d ns, which is not after phase %d", i, p.Kind, p.StartNS, p.EndNS, i-1)
		}
	}
	next := make([]int, len(phases))    // index of the next interval
	until := make([]int64, len(phases)) // where the last one ended
	for i, p := range phases {
		until[i] = p.StartNS
	}
	for iv, err := range ev.Intervals() {
		if err != nil {
			r.add(true, "unreadable", "%v", err)
			return
		}
		r.Intervals++
		r.law(ev, iv)
		if iv.Phase >= len(phases) {
			r.add(true, "phase_missing", "interval %d belongs to phase %d of %d", iv.Index, iv.Phase, len(phases))
			continue
		}
		p := iv.Phase
		if iv.Index != next[p] {
			r.add(true, "interval_missing", "phase %d (%s): interval %d comes after interval %d", p, phases[p].Kind, iv.Index, next[p]-1)
		} else if iv.StartNS != until[p] {
			r.add(true, "interval_gap", "phase %d (%s): interval %d begins at %d ns, not at %d", p, phases[p].Kind, iv.Index, iv.StartNS, until[p])
		}
		next[p], until[p] = iv.Index+1, iv.StartNS+iv.WidthNS
	}
	for i, p := range phases {
		if p.Ended && p.Kind != record.Drain && until[i] != p.EndNS {
			r.add(r.State == record.Complete, "interval_missing", "phase %d (%s) ended at %d ns, its intervals at %d", i, p.Kind, p.EndNS, until[i])
		}
	}
	for _, err := range ev.SendSamples() {
		if err != nil {
			r.add(true, "unreadable", "%v", err)
			return
		}
	}
	for _, err := range ev.Samples() {
		if err != nil {
			r.add(true, "unreadable", "%v", err)
			return
		}
	}
}

// law asserts the law of accounting on an interval.
func (r *Report) law(ev record.Evidence, iv *record.Interval) {
	classes := ev.Header().Classes
	for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
		for i := range cells {
			if err := cells[i].Counts.Check(); err != nil {
				r.add(true, "accounting", "interval %d of phase %d, class %s: %v", iv.Index, iv.Phase, classes[cells[i].Class].Name, err)
			}
		}
	}
	total := iv.Total()
	r.Scheduled += total.Scheduled
}
