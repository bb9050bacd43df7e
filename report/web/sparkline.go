package web

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// sparkline draws values from left to right as one small line; NaN is a gap. The
// last value is a dot. name says it to those who can't see it. It has no style of
// its own: the colour is the text's.
func sparkline(values []float64, name string) template.HTML {
	const w, h, pad = 132.0, 30.0, 3.5
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if math.IsInf(low, 1) {
		return ""
	}
	if low > 0 {
		low = min(low, high*0.8) // a change of a percent is not a cliff
	}
	x := func(i int) float64 {
		if len(values) == 1 {
			return w / 2
		}
		return pad + float64(i)*(w-2*pad)/float64(len(values)-1)
	}
	y := func(v float64) float64 {
		if high == low {
			return h / 2
		}
		return h - pad - (v-low)/(high-low)*(h-2*pad)
	}
	var path strings.Builder
	pen, last := "M", -1
	for i, v := range values {
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, x(i), y(v))
		pen, last = "L", i
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s">`+
		`<path d="%s" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"/><circle cx="%.1f" cy="%.1f" r="2.6" fill="currentColor"/></svg>`,
		w, h, w, h, template.HTMLEscapeString(plain(name)), path.String(), x(last), y(values[last])))
}
