package analyze

import "headroom/store/record"

// TrustSoFar applies the clauses of trust to what a run has shown so far, the
// processors left out: counts of the requests that ended, sends later than
// 1 ms, 10 ms, 100 ms and 1 s, histograms of the three clocks, and the time
// covered and spent at limits of our own, in ns. Without a request the verdict
// is "".
func TrustSoFar(h record.Header, c record.Counts, late [4]uint64, response, service, lag *record.Histogram, widthNS, limitedNS int64) PlateauTrust {
	if c.Scheduled == 0 {
		return PlateauTrust{}
	}
	return judgeTrust(trustEvidence{
		counts: c, late: late, lag: lag, response: response, service: service,
		widthNS: widthNS, limitedNS: limitedNS, model: h.Model,
	}, "so far")
}
