package foreign

import (
	"fmt"
	"slices"
	"strings"

	"headroom/store/record"
)

// Damage counts rows that could not be read, by reason.
type Damage struct {
	count map[string]uint64
	first map[string][]int // line numbers, the first few
	total uint64
}

// keepLines is how many line numbers are kept for each reason.
const keepLines = 3

func newDamage() *Damage { return &Damage{count: map[string]uint64{}, first: map[string][]int{}} }

func (d *Damage) add(reason string, line int) {
	d.total++
	d.count[reason]++
	if len(d.first[reason]) < keepLines {
		d.first[reason] = append(d.first[reason], line)
	}
}

// Total is how many rows were damaged.
func (d *Damage) Total() uint64 { return d.total }

// Count is how many rows were damaged for a reason.
func (d *Damage) Count(reason string) uint64 { return d.count[reason] }

// Reasons lists the reasons, the most frequent first.
func (d *Damage) Reasons() []string {
	all := make([]string, 0, len(d.count))
	for r := range d.count {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d.count[a] != d.count[b] {
			if d.count[a] > d.count[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return all
}

// describe says how often and where a reason occurred.
func (d *Damage) describe(reason string) string {
	lines := make([]string, len(d.first[reason]))
	for i, n := range d.first[reason] {
		lines[i] = fmt.Sprint(n)
	}
	more := ""
	if d.count[reason] > uint64(len(lines)) {
		more = ", …"
	}
	return fmt.Sprintf("%s (%d; line %s%s)", reason, d.count[reason], strings.Join(lines, ", "), more)
}

// String lists all reasons.
func (d *Damage) String() string {
	parts := []string{}
	for _, r := range d.Reasons() {
		parts = append(parts, d.describe(r))
	}
	return strings.Join(parts, "; ")
}

// notes are one for each reason, measured against all rows.
func (d *Damage) notes(rows uint64) []record.Note {
	var all []record.Note
	for _, r := range d.Reasons() {
		severity := record.NoteSeverity
		if float64(d.count[r]) > 0.01*float64(rows) {
			severity = record.Caution
		}
		all = append(all, record.Note{
			Code: "damaged_rows", Severity: severity, Phase: -1, Measured: float64(d.count[r]),
			Text: "rows of the imported file that could not be read: " + d.describe(r),
		})
	}
	return all
}

// judge refuses a file of which less than half could be read.
func (d *Damage) judge(from string, good uint64) error {
	switch {
	case good == 0 && d.total == 0:
		return refuse(Empty, "the file holds no request that %s could be read as", from)
	case good == 0 && d.total > 0:
		return refuse(NotThisFormat, "no row could be read as %s: %s", from, d)
	case d.total > good:
		return refuse(NotThisFormat, "most rows could not be read as %s (%d of %d): %s", from, d.total, d.total+good, d)
	}
	return nil
}
