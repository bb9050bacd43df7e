package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/store/record"
)

// shards makes n shards of a run, sealed in a folder of their own. They differ
// in what they measured only.
func shards(t *testing.T, n int, change func(i int, m *record.Memory)) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		s := small
		s.id = "shard-" + string(rune('a'+i))
		s.rate += i // other numbers
		m := s.memory()
		for j := range m.P {
			m.P[j].TargetRPS = 600
		}
		m.H.Load = record.Load{}
		m.H.Shard, m.H.Shards = i, n
		if change != nil {
			change(i, m)
		}
		if m.E.State == "" {
			paths = append(paths, part(t, dir, m))
			continue
		}
		paths = append(paths, sealed(t, dir, m))
	}
	return paths
}

func TestMergeSumsByInterval(t *testing.T) {
	paths := shards(t, 3, func(i int, m *record.Memory) {
		m.F.Generator["host"] = string(rune('a' + i))
	})
	out := filepath.Join(t.TempDir(), "merged.db")
	// The order of the arguments does not matter.
	if err := Merge([]string{paths[2], paths[0], paths[1]}, out); err != nil {
		t.Fatal(err)
	}
	rep, err := Verify(out)
	if err != nil || rep.Err() != nil || len(rep.Findings) > 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	got := collect(t, reopen(t, out))
	if got.E.State != record.Complete || got.H.RunID != "merged" || got.H.Shards != 3 || got.H.MaxInFlight != 60000 {
		t.Errorf("end %+v, header %+v", got.E, got.H)
	}
	want := make([]*record.Interval, len(got.Iv))
	var scheduled uint64
	for _, path := range paths {
		m := collect(t, reopen(t, path))
		if len(m.Iv) != len(got.Iv) {
			t.Fatalf("%d intervals merged, %d in a shard", len(got.Iv), len(m.Iv))
		}
		for i, iv := range m.Iv {
			n := iv.Total()
			scheduled += n.Scheduled
			if want[i] == nil {
				want[i] = iv
			} else if err := want[i].Merge(iv); err != nil {
				t.Fatal(err)
			}
		}
	}
	var merged uint64
	for i, iv := range got.Iv {
		n := iv.Total()
		merged += n.Scheduled
		for j := range iv.Cells {
			if !iv.Cells[j].OKResponse.Equal(want[i].Cells[j].OKResponse) || iv.Cells[j].AtOrBelow[0] != want[i].Cells[j].AtOrBelow[0] {
				t.Errorf("interval %d, class %d differs", i, j)
			}
		}
	}
	if merged != scheduled || merged == 0 {
		t.Errorf("%d scheduled after the merge, %d before", merged, scheduled)
	}
	if got.F.Generator["cpu"] != "2" || got.F.Generator["shard 1: host"] != "b" {
		t.Errorf("facts %v", got.F.Generator)
	}
	if len(got.Res) != len(got.Iv) { // one series, read by three shards
		t.Errorf("%d readings", len(got.Res))
	}
	for _, s := range got.Sends {
		for i := 1; i < len(s.Scheduled); i++ {
			if s.Scheduled[i] < s.Scheduled[i-1] {
				t.Fatal("a merged window of send instants is out of order")
			}
		}
	}
	if len(got.N) != 3 || !strings.HasPrefix(got.N[1].Text, "shard 1: ") {
		t.Errorf("notes %+v", got.N)
	}
}

func note(m *record.Memory, code string) *record.Note {
	for i := range m.N {
		if m.N[i].Code == code {
			return &m.N[i]
		}
	}
	return nil
}

func TestMergeSaysWhatIsLost(t *testing.T) {
	t.Run("missing shard", func(t *testing.T) {
		paths := shards(t, 3, nil)
		out := filepath.Join(t.TempDir(), "merged.db")
		if err := Merge(paths[:2], out); err != nil {
			t.Fatal(err)
		}
		m := collect(t, reopen(t, out))
		n := note(m, "shard_lost")
		if m.E.State != record.Interrupted || !strings.Contains(m.E.Reason, "shard 2 of 3 is missing") || n == nil || n.Severity != record.Invalidates {
			t.Errorf("end %+v, notes %+v", m.E, m.N)
		}
	})
	t.Run("killed shard", func(t *testing.T) {
		var at int64
		paths := shards(t, 2, func(i int, m *record.Memory) {
			if i == 1 {
				m.E = record.End{}
				m.Iv = m.Iv[:3]
				at = m.Iv[2].StartNS + m.Iv[2].WidthNS
			}
		})
		out := filepath.Join(t.TempDir(), "merged.db")
		if err := Merge(paths, out); err != nil {
			t.Fatal(err)
		}
		m := collect(t, reopen(t, out))
		if n := note(m, "shard_lost"); n == nil || n.AtNS != at || m.E.State != record.Interrupted {
			t.Errorf("end %+v, notes %+v", m.E, m.N)
		}
	})
	t.Run("late shard", func(t *testing.T) {
		paths := shards(t, 2, func(i int, m *record.Memory) {
			m.H.Started = m.H.Started.Add(time.Duration(i) * 300 * time.Millisecond)
		})
		out := filepath.Join(t.TempDir(), "merged.db")
		if err := Merge(paths, out); err != nil {
			t.Fatal(err)
		}
		if n := note(collect(t, reopen(t, out)), "shard_offset"); n == nil || n.Measured != 0.3 {
			t.Errorf("%+v", n)
		}
	})
}

func TestMergeRefuses(t *testing.T) {
	twice := shards(t, 2, nil)
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"nothing":         {nil, "no shards"},
		"a shard twice":   {[]string{twice[0], twice[0]}, "both shard 0"},
		"another plan":    {shards(t, 2, func(i int, m *record.Memory) { m.H.PlanDigest += string(rune('0' + i)) }), "plan digest"},
		"another seed":    {shards(t, 2, func(i int, m *record.Memory) { m.H.Seed += uint64(i) }), "seed"},
		"other steps":     {shards(t, 2, func(i int, m *record.Memory) { m.P[1].TargetRPS += float64(i) }), "same steps"},
		"whole runs":      {shards(t, 1, nil), "not a shard"},
		"a shard too far": {shards(t, 2, func(i int, m *record.Memory) { m.H.Shard += 5 }), "shard 5 of 2"},
	} {
		dir := t.TempDir()
		err := Merge(c.paths, filepath.Join(dir, "merged.db"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}
