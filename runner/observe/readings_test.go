package observe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"headroom/store/record"
)

// fake reads two series; what it does is set by the test.
type fake struct {
	name    string
	collect func(ctx context.Context, at int64) ([]record.Sample, error)
}

func (f fake) Series() []record.SeriesInfo {
	return []record.SeriesInfo{{ID: 0, Name: f.name + ".a", Source: f.name}, {ID: 1, Name: f.name + ".b", Source: f.name}}
}

func (f fake) Collect(ctx context.Context, at int64) ([]record.Sample, error) {
	return f.collect(ctx, at)
}

func steadily(_ context.Context, at int64) ([]record.Sample, error) {
	return []record.Sample{{Series: 0, AtNS: at, Value: 1}, {Series: 1, AtNS: at, Value: 2}}, nil
}

func TestReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := func(_ context.Context, at int64) ([]record.Sample, error) {
			return []record.Sample{{Series: 1, AtNS: at, Value: 9}}, errors.New("half of it")
		}
		panics := func(context.Context, int64) ([]record.Sample, error) { panic("parser") }
		r := StartReadings(fake{"one", steadily}, fake{"two", broken}, fake{"three", panics})
		var ids []int
		for _, s := range r.Series() {
			ids = append(ids, s.ID)
		}
		if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5}, ids); d != "" {
			t.Error(d)
		}
		if got := r.Resources(1000); len(got) != 0 {
			t.Errorf("samples before the first reading: %v", got)
		}
		synctest.Wait()
		got := map[int]float64{}
		for _, s := range r.Resources(2000) {
			if s.AtNS != 1000 {
				t.Errorf("sample of series %d at %d, want 1000", s.Series, s.AtNS)
			}
			got[s.Series] = s.Value
		}
		if d := cmp.Diff(map[int]float64{0: 1, 1: 2, 3: 9}, got); d != "" {
			t.Error(d)
		}
		synctest.Wait()
		notes := r.Notes(3000, false)
		if len(notes) != 2 || notes[0].Measured != 2 || !strings.HasPrefix(notes[0].Text, "two: 2 of 2 readings failed") {
			t.Errorf("notes %+v", notes)
		}
		if again := r.Notes(3000, false); len(again) != 0 {
			t.Errorf("told twice: %+v", again)
		}
		if end := r.Notes(4000, true); len(end) != 2 {
			t.Errorf("at the end: %+v", end)
		}
		if left := r.Stop(); len(left) != 3 {
			t.Errorf("%d samples left, want 3", len(left))
		}
		r.Stop()
	})
}

func TestASlowCollectorHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ int64) ([]record.Sample, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r := StartReadings(fake{"slow", slow}, fake{"fast", steadily})
		start := time.Now()
		n := 0
		for i := range int64(20) {
			n += len(r.Resources(i * 1e9))
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if d := time.Since(start); d != 20*time.Second {
			t.Errorf("took %v, want 20s", d)
		}
		n += len(r.Stop())
		if n != 40 {
			t.Errorf("%d samples of the fast one, want 40", n)
		}
		notes := r.Notes(0, true)
		if len(notes) != 1 || !strings.Contains(notes[0].Text, "slow: ") || notes[0].Measured < 15 {
			t.Errorf("notes %+v", notes)
		}
	})
}

func TestReadingIsStampedWhenItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(_ context.Context, at int64) ([]record.Sample, error) {
			time.Sleep(3 * time.Second)
			return []record.Sample{{AtNS: at}}, nil
		}
		r := StartReadings(fake{"late", late})
		r.Resources(0)
		synctest.Wait()
		time.Sleep(time.Second)
		r.Resources(1e9) // waits until 3 s
		time.Sleep(5 * time.Second)
		synctest.Wait()
		var at []int64
		for _, s := range r.Stop() {
			at = append(at, s.AtNS)
		}
		if d := cmp.Diff([]int64{0, 3e9}, at); d != "" {
			t.Error(d)
		}
	})
}
