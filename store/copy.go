package store

import "headroom/store/record"

// Copy puts everything of ev but its header and end into a sink. Readings are
// put in batches.
func Copy(ev record.Evidence, to record.Sink) error {
	const batchLen = 4096
	if err := to.PutFacts(ev.Facts()); err != nil {
		return err
	}
	for _, p := range ev.Phases() {
		if err := to.PutPhase(p); err != nil {
			return err
		}
	}
	for _, e := range ev.FaultEvents() {
		if err := to.PutFault(e); err != nil {
			return err
		}
	}
	for _, n := range ev.Notes() {
		if err := to.PutNote(n); err != nil {
			return err
		}
	}
	for iv, err := range ev.Intervals() {
		if err != nil {
			return err
		}
		if err := to.PutInterval(iv); err != nil {
			return err
		}
	}
	for s, err := range ev.SendSamples() {
		if err != nil {
			return err
		}
		if err := to.PutSendSample(s); err != nil {
			return err
		}
	}
	var batch []record.Sample
	for s, err := range ev.Samples() {
		if err != nil {
			return err
		}
		if batch = append(batch, s); len(batch) == batchLen {
			if err := to.PutSamples(batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return to.PutSamples(batch)
}
