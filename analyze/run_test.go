package analyze

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/store/record"
)

func stepRun(s system, seed uint64) *record.Memory {
	return simulate(s, load{rates: append(ladder(290, 1.12, 1150), 1200), plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: seed})
}

var admission = system{servers: 8, service: 10 * time.Millisecond, room: 108}

func analyse(t testing.TB, m *record.Memory, opt Options) *Analysis {
	t.Helper()
	a, err := Run(m, opt)
	if err != nil {
		t.Fatal(err)
	}
	noNaN(t, reflect.ValueOf(a), "analysis")
	return a
}

// noNaN asserts that no number of an analysis is NaN or infinite.
func noNaN(t testing.TB, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noNaN(t, v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			noNaN(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			noNaN(t, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			noNaN(t, v.MapIndex(k), fmt.Sprintf("%s[%v]", path, k))
		}
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	}
}

func TestSameEvidenceSameBytes(t *testing.T) {
	m := stepRun(admission, 11)
	m.H.Production = &record.Production{PeakRPS: 400}
	first, err := json.Marshal(analyse(t, m, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := json.Marshal(analyse(t, m, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(again) {
			t.Fatal("the same evidence gave another answer")
		}
	}
}

func TestStepRunEndToEnd(t *testing.T) {
	m := stepRun(admission, 12)
	m.H.Production = &record.Production{PeakRPS: 400, Taken: "2026-10-01", Source: "edge"}
	a := analyse(t, m, Options{Gates: []string{"margin >= 1.8", "post_saturation(1.5) >= 0.9", "knee >= 780", "response(p99) <= 150ms"}})
	if a.Verdict != Pass {
		t.Errorf("verdict %s, gates %+v", a.Verdict, a.Gates)
	}
	near(t, "knee", *a.Knee.RPS, 800, 16)
	near(t, "margin", *a.Margin.Value, 2, 0.04)
	near(t, "age in days", *a.Margin.AgeDays, 31, 0)
	if len(a.Steps) != len(m.P)/2 {
		t.Errorf("%d steps of %d plateaus", len(a.Steps), len(m.P)/2)
	}
	p := a.PostSaturation[0]
	if p.At != 1.5 || p.Ratio == nil || *p.Ratio < 0.95 || p.Shape != "holds" || p.CI95 == nil || p.CI95[0] > *p.Ratio {
		t.Errorf("past the knee: %+v", p)
	}
	near(t, "Little's law", *a.Trust.LittlesLawRatio, 1, 0.05)
	var sum uint64
	for _, c := range a.Classes {
		for _, n := range c.Outcomes {
			sum += n
		}
	}
	var judged uint64
	for _, s := range a.Steps {
		for _, n := range s.Outcomes {
			judged += n
		}
	}
	if sum != judged || sum == 0 || sum > a.Accounting.Scheduled {
		t.Errorf("classes hold %d requests, steps %d, the run %d", sum, judged, a.Accounting.Scheduled)
	}
	if !strings.Contains(a.Sentence.EN, "production peak 400") || !strings.Contains(a.Sentence.PTBR, "pico de produção 400") {
		t.Errorf("sentences: %q, %q", a.Sentence.EN, a.Sentence.PTBR)
	}
}

func TestBrokenLaw(t *testing.T) {
	breaks := map[string]func(*record.Interval){
		"one too many scheduled": func(iv *record.Interval) { iv.Cells[0].Counts.Scheduled++ },
		"one sent too few":       func(iv *record.Interval) { iv.Cells[0].Counts.Sent-- },
		"an answer that no histogram holds": func(iv *record.Interval) {
			iv.Cells[0].Counts.By[record.OK]++
			iv.Cells[0].Counts.Scheduled++
			iv.Cells[0].Counts.Sent++
		},
	}
	for name, change := range breaks {
		t.Run(name, func(t *testing.T) {
			m := stepRun(admission, 13)
			change(m.Iv[40])
			a := analyse(t, m, Options{Gates: []string{"wrong == 0"}})
			if a.Verdict != Inconclusive || a.Gates[0].Outcome != Inconclusive || a.Knee.RPS != nil {
				t.Errorf("verdict %s, gate %s, knee %v", a.Verdict, a.Gates[0].Outcome, a.Knee.RPS)
			}
			if i := slices.IndexFunc(a.Findings, func(f Finding) bool { return f.Code == "law_broken" && f.Severity == "invalidates" }); i < 0 {
				t.Errorf("no finding law_broken in %v", a.Findings)
			}
		})
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		state record.State
		want  string
	}{{record.Interrupted, "interrupted"}, {record.Failed, "failed"}, {record.Recording, "interrupted"}} {
		m := steadyRun(20, times(1000, 20e6), nil)
		m.E.State = c.state
		a := analyse(t, m, Options{Gates: []string{"wrong == 0"}})
		if a.Run.State != c.want || a.Verdict != Inconclusive {
			t.Errorf("%s: state %s, verdict %s", c.state, a.Run.State, a.Verdict)
		}
		// What certainly failed stays failed.
		if a := analyse(t, m, Options{Gates: []string{"wrong == 1"}}); a.Verdict != Fail {
			t.Errorf("%s: verdict %s, want fail", c.state, a.Verdict)
		}
	}
}

// What the engine says of its timer is told, and does not touch trust.
func TestPlainTimer(t *testing.T) {
	for timer, want := range map[string]int{"": 0, "timerfd": 0, "plain": 1} {
		m := steadyRun(20, []int64{5000, 5000}, nil)
		before := analyse(t, m, Options{}).Trust.Verdict
		m.F.Target = map[string]string{"timer": timer, "protocol": "HTTP/1.1"}
		a := analyse(t, m, Options{})
		n := 0
		for _, f := range a.Findings {
			if f.Code == "plain_timer" {
				n++
				if f.Severity != "note" || f.Scope != "run" {
					t.Errorf("%+v", f)
				}
			}
		}
		if n != want || a.Trust.Verdict != before {
			t.Errorf("timer %q: told %d times, want %d; trust %s, was %s", timer, n, want, a.Trust.Verdict, before)
		}
	}
}

func TestNothingHappened(t *testing.T) {
	m := steadyRun(20, nil, nil)
	a := analyse(t, m, Options{Gates: []string{"wrong == 0", "response(p99) <= 1s", "error_ratio <= 1"}})
	if a.Verdict != Inconclusive || a.Trust.Verdict != Untrusted {
		t.Errorf("verdict %s, trust %s", a.Verdict, a.Trust.Verdict)
	}
	for _, g := range a.Gates {
		if g.Outcome != NoData {
			t.Errorf("%s on no requests: %s", g.Rule, g.Outcome)
		}
	}
	empty := &record.Memory{H: m.H}
	if a := analyse(t, empty, Options{}); a.Verdict != Inconclusive || a.Run.State != "interrupted" {
		t.Errorf("an empty file: verdict %s, state %s", a.Verdict, a.Run.State)
	}
}

// A generator that gives out past the knee leaves the knee and a caution; one
// that gives out below it takes the knee away.
func TestUntrustedPlateaus(t *testing.T) {
	limit := func(m *record.Memory, from, to float64) *record.Memory {
		for _, iv := range m.Iv {
			if r := m.P[iv.Phase].TargetRPS; r >= from && r <= to {
				iv.Moment.LimitedNS = iv.WidthNS / 2
			}
		}
		return m
	}
	past := analyse(t, limit(stepRun(admission, 14), 1195, 1300), Options{Gates: []string{"knee >= 700", "wrong == 0"}})
	if past.Knee.Status != KneeFound || past.Trust.Verdict != Suspect || past.Verdict != Pass || len(past.Trust.UntrustedPlateaus) != 1 {
		t.Errorf("past the knee: %s, trust %s %v, verdict %s", past.Knee.Status, past.Trust.Verdict, past.Trust.Reasons, past.Verdict)
	}
	for _, p := range past.PostSaturation {
		if p.At == 1.5 && p.Refused != GeneratorLimited {
			t.Errorf("goodput where the generator gave out: %+v", p)
		}
	}
	above := analyse(t, limit(stepRun(admission, 14), 700, 2000), Options{Gates: []string{"knee >= 100", "margin >= 1"}, PeakRPS: 100})
	if above.Knee.Status != GeneratorLimited || above.Knee.RPS != nil || above.Verdict != Inconclusive || above.Margin.Value != nil {
		t.Errorf("at the knee: %s, verdict %s, margin %v", above.Knee.Status, above.Verdict, above.Margin.Value)
	}
	for _, g := range above.Gates {
		if g.Outcome != Inconclusive {
			t.Errorf("%s without a knee: %s", g.Rule, g.Outcome)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		knee   Knee
		en, pt string
	}{
		{Knee{Status: KneeFound, RPS: number(1200.4), CI95: &Interval{1160.2, 1239.8}}, "saturation at 1200 requests per second (95 %: 1160–1240)", "saturação em 1200 requisições por segundo (95 %: 1160–1240)"},
		{Knee{Status: KneeFound, RPS: number(9.84), CI95: &Interval{9.1, 10.62}}, "saturation at 9.84 requests per second (95 %: 9.1–10.6)", "saturação em 9,84 requisições por segundo (95 %: 9,1–10,6)"},
		{Knee{Status: NotReached, HighestHeld: number(1500)}, "saturation was not reached: the service kept up at 1500", "a saturação não foi atingida: o serviço acompanhou 1500"},
		{Knee{Status: AlreadySaturated, LowestFailed: number(900)}, "saturated from the start: it did not keep up at 900", "não acompanhou 900"},
		{Knee{Status: GeneratorLimited, HighestHeld: number(600)}, "the load generator gave out before the service, which kept up at 600", "o gerador de carga cedeu antes do serviço, que acompanhou 600"},
		{Knee{Status: GeneratorLimited}, "the load generator gave out before the service did", "o gerador de carga cedeu antes do serviço"},
		{Knee{Status: Soft, LowestFailed: number(650)}, "losses begin at 650", "as perdas começam em 650"},
		{Knee{Status: KneeInconclusive, Reason: reasonBaseErrors, BaseErrorRatio: number(0.034)}, "3.4 % of the requests fail", "3,4 % das requisições falham"},
		{Knee{Status: KneeInconclusive, Reason: reasonTooFewSteps}, "too few plateaus", "poucos patamares"},
		{Knee{Status: KneeInconclusive, Reason: reasonTooNoisy}, "too noisy", "ruidosos"},
		{Knee{Status: KneeInconclusive, Reason: reasonUnstable}, "after failing at a lower one", "depois de falhar em uma menor"},
		{Knee{Status: KneeInconclusive, Reason: reasonUntrusted}, "did not keep its schedule", "não cumpriu o seu cronograma"},
		{Knee{Status: KneeInconclusive, Reason: reasonNoPlateaus}, "no plateau was recorded", "nenhum patamar"},
		{Knee{Status: KneeInconclusive, Reason: reasonClosed}, "users who wait", "usuários que esperam"},
	} {
		en, pt := kneeWords(&c.knee, english), kneeWords(&c.knee, portuguese)
		if !strings.Contains(en, c.en) || !strings.Contains(pt, c.pt) {
			t.Errorf("%s %s:\n%s\n%s", c.knee.Status, c.knee.Reason, en, pt)
		}
		if strings.Contains(en+pt, "%!") || strings.ContainsAny(en, "\n") {
			t.Errorf("badly formatted: %q %q", en, pt)
		}
	}
}

func TestOldPeakIsAFinding(t *testing.T) {
	m := stepRun(admission, 15)
	m.H.Production = &record.Production{PeakRPS: 400, Taken: "2026-01-01"}
	a := analyse(t, m, Options{})
	if !slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Code == "old_peak" }) {
		t.Errorf("a peak of %v days ago is no finding", *a.Margin.AgeDays)
	}
}

func jsonOf(a *Analysis) (string, error) {
	b, err := json.Marshal(a)
	return string(b), err
}

// sends adds two windows of send instants to every judged plateau: Poisson at
// its rate, each instant changed by disturb.
func sends(m *record.Memory, disturb func(at int64, i int) int64) *record.Memory {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, p := range m.P {
		if p.Kind == record.Drain {
			continue
		}
		for w := range 2 {
			s := &record.SendSample{Phase: p.Index, Window: w}
			at := float64(p.StartNS) + float64(w)*8e9
			for i := range 3000 {
				at += rng.ExpFloat64() / p.TargetRPS * 1e9
				s.Scheduled = append(s.Scheduled, int64(at))
				s.Sent = append(s.Sent, disturb(int64(at), i))
			}
			m.Sends = append(m.Sends, s)
		}
	}
	return m
}

func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		name    string
		disturb func(int64, int) int64
		verdict string
		code    string
	}{
		{"as scheduled", func(at int64, _ int) int64 { return at + 40_000 }, "accepted", ""},
		{"rounded to a millisecond", func(at int64, _ int) int64 { return (at + 999_999) / 1e6 * 1e6 }, "rejected", "arrivals_rounded"},
		{"stalled", func(at int64, i int) int64 {
			if i%100 < 4 {
				return at + 30e6
			}
			return at
		}, "rejected", "arrivals_stalled"},
	} {
		a := analyse(t, sends(stepRun(admission, 16), c.disturb), Options{})
		fit := a.Trust.Arrivals
		if fit.Verdict != c.verdict || fit.Windows == 0 {
			t.Errorf("%s: %s %s in %d windows, want %s", c.name, fit.Verdict, fit.Reason, fit.Windows, c.verdict)
		}
		found := slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Code == c.code })
		if c.code != "" && !found {
			t.Errorf("%s: no finding %s; the reason is %s", c.name, c.code, fit.Reason)
		}
	}
}

// Phases that follow each other without a drain hand their backlog on.
func TestBacklogIsHandedOn(t *testing.T) {
	m := stepRun(system{servers: 8, service: 10 * time.Millisecond}, 17)
	a := analyse(t, m, Options{})
	for _, f := range a.Findings {
		if f.Code == "conservation" {
			t.Errorf("%s: %s", f.Scope, f.Text)
		}
	}
	for i := range m.P {
		if m.P[i].Kind == record.Drain {
			m.P[i].Kind = record.Recovery
		} else {
			m.P[i].SettleNS, m.P[i].Kind = 0, record.Burst
		}
	}
	for _, f := range analyse(t, m, Options{}).Findings {
		if f.Code == "conservation" {
			t.Errorf("without drains, %s: %s", f.Scope, f.Text)
		}
	}
}
