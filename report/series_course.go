package report

import (
	"headroom/report/plot"
	"headroom/store/record"
)

// seriesSlots bounds how many values of a series a picture is given.
const seriesSlots = 2400

// gatherSeries reads the resource series once. Of a series with very many
// readings each slot of time has their mean, so that memory does not grow with
// the length of a run.
func gatherSeries(ev record.Evidence) ([]plot.Series, error) {
	infos := ev.Header().Observed
	infos = infos[:min(len(infos), plot.MostSeries)]
	if len(infos) == 0 {
		return nil, nil
	}
	var from, to int64
	for i, p := range ev.Phases() {
		if i == 0 {
			from = p.StartNS
		}
		from, to = min(from, p.StartNS), max(to, p.EndNS)
	}
	slot := max((to-from)/seriesSlots, 1)
	type course struct {
		last   int64 // slot
		n, sum float64
		out    plot.Series
	}
	all := make([]course, len(infos))
	where := map[int]int{}
	for i, s := range infos {
		where[s.ID] = i
		all[i].out = plot.Series{Name: s.Name, Unit: s.Unit}
	}
	for s, err := range ev.Samples() {
		if err != nil {
			return nil, err
		}
		i, ok := where[s.Series]
		if !ok {
			continue
		}
		c := &all[i]
		at := (s.AtNS - from) / slot
		if c.n > 0 && at == c.last {
			c.n, c.sum = c.n+1, c.sum+s.Value
			c.out.Value[len(c.out.Value)-1] = c.sum / c.n
			continue
		}
		if len(c.out.AtS) >= 2*seriesSlots { // readings far outside of the run
			continue
		}
		c.last, c.n, c.sum = at, 1, s.Value
		c.out.AtS, c.out.Value = append(c.out.AtS, seconds(s.AtNS)), append(c.out.Value, s.Value)
	}
	var out []plot.Series
	for i := range all {
		if len(all[i].out.AtS) > 0 {
			out = append(out, all[i].out)
		}
	}
	return out, nil
}
