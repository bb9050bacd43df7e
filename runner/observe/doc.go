// Package observe reads what goes on beside the requests: the generator itself
// and resource series of the service, on the run's time axis.
//
// Nothing here is called on the sending loop. The Watch is sampled once for
// each interval; Readings run every collector on a goroutine of its own. A
// reading that fails is counted, never fatal. What a system cannot tell is left
// out: NaN or 0 for a number, no entry for a fact.
package observe

import "headroom/store/record"

// Observer watches the generator and reads resource series.
type Observer struct {
	*Watch
	*Readings
}

// Start starts a watch and the readings of the collectors. Stop ends both.
func Start(collectors ...Collector) *Observer {
	return &Observer{StartWatch(), StartReadings(collectors...)}
}

// Stop ends the goroutines and returns what was read and not yet taken.
func (o *Observer) Stop() []record.Sample {
	o.Watch.Stop()
	return o.Readings.Stop()
}
