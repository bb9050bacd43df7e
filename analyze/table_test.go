package analyze

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"headroom/analyze/stat/queueing"
)

// tableOf is what M/M/8/108 with a capacity of 800/s does, exactly.
func tableOf(rates []float64, capRPS, seconds float64) [][]string {
	rows := [][]string{{"target_rps", "achieved_rps", "goodput_rps", "p50_ms"}}
	if seconds > 0 {
		rows[0] = append(rows[0], "duration_s")
	}
	for _, r := range rates {
		sent := r
		if capRPS > 0 {
			sent = min(sent, capRPS)
		}
		q := queueing.MMCK{Servers: 8, K: 108, Lambda: sent, Mu: 100}
		row := []string{fmt.Sprint(r), fmt.Sprint(sent), fmt.Sprint(q.Goodput()), fmt.Sprint(1000 * q.ResponseQuantile(0.5))}
		if seconds > 0 {
			row = append(row, fmt.Sprint(seconds))
		}
		rows = append(rows, row)
	}
	return rows
}

func TestTables(t *testing.T) {
	all := ladder(280, 1.12, 1450)
	for _, c := range []struct {
		name   string
		rows   [][]string
		status string
		method string
	}{
		{"with durations", tableOf(all, 0, 120), KneeFound, "hinge"},
		{"without durations", tableOf(all, 0, 0), KneeFound, "bracket"},
		{"not reached", tableOf(ladder(100, 1.2, 600), 0, 60), NotReached, ""},
		{"not reached, without durations", tableOf(ladder(100, 1.2, 600), 0, 0), NotReached, ""},
		{"already saturated", tableOf(ladder(1000, 1.1, 2000), 0, 60), AlreadySaturated, ""},
		{"the generator gave out", tableOf(all, 650, 60), GeneratorLimited, ""},
		{"three rows", tableOf([]float64{300, 600, 1200}, 0, 60), KneeInconclusive, ""},
		{"a second each", tableOf(ladder(280, 1.12, 760), 0, 1), KneeInconclusive, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Table(c.rows, Options{PeakRPS: 400})
			if err != nil {
				t.Fatal(err)
			}
			k := a.Knee
			if k.Status != c.status || k.Method != c.method {
				t.Fatalf("%s, want %s %s", tellKnee(k), c.status, c.method)
			}
			sane(t, k)
			if k.RPS != nil && (k.CI95[0] > 800 || k.CI95[1] < 800) {
				t.Errorf("%s does not contain 800", tellKnee(k))
			}
			if a.Run != nil || a.Trust.Verdict != Suspect || a.Sentence.EN == "" || len(a.Steps) != len(c.rows)-1 {
				t.Errorf("run %v, trust %s, %q, %d steps", a.Run, a.Trust.Verdict, a.Sentence.EN, len(a.Steps))
			}
		})
	}
}

func TestTableGates(t *testing.T) {
	a, err := Table(tableOf(ladder(280, 1.12, 1450), 0, 120), Options{PeakRPS: 400, Gates: []string{"margin >= 1.9", "knee >= 900", "response(p99) <= 1s", "omission <= 2"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Verdict{Pass, Fail, NoData, NoData} {
		if a.Gates[i].Outcome != want {
			t.Errorf("%s: %s, want %s", a.Gates[i].Rule, a.Gates[i].Outcome, want)
		}
	}
	if a.Verdict != Fail {
		t.Errorf("verdict %s", a.Verdict)
	}
}

func TestBadTables(t *testing.T) {
	head := []string{"offered_rps", "sent_rps", "goodput_rps"}
	for _, c := range []struct {
		name string
		rows [][]string
		want string
	}{
		{"empty", nil, "no steps"},
		{"header only", [][]string{head}, "no steps"},
		{"no rate sent", [][]string{{"offered_rps", "goodput_rps"}, {"1", "1"}}, "no column sent_rps or achieved_rps"},
		{"an empty goodput", [][]string{head, {"100", "100", ""}}, "line 2: goodput_rps"},
		{"not a number", [][]string{head, {"100", "100", "many"}}, `line 2: goodput_rps is "many"`},
		{"NaN", [][]string{head, {"100", "100", "NaN"}}, "line 2"},
		{"negative", [][]string{head, {"100", "-1", "90"}}, "line 2: sent_rps"},
		{"zero rate", [][]string{head, {"0", "0", "0"}}, "above zero"},
		{"more answers than requests", [][]string{head, {"100", "100", "120"}}, "more good answers"},
		{"short row", [][]string{head, {"100"}}, "line 2"},
	} {
		if _, err := Table(c.rows, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

// Tables that others published, or that a simulator wrote whose capacity is
// known; see the README of the data.
func TestPublishedTables(t *testing.T) {
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "C")); err != nil {
		t.Skip("no published step tables here: set HEADROOM_DATA to the folder of the shared test data")
	}
	for _, c := range []struct {
		file   string
		status []string
		truth  float64
	}{
		{"sim_mm1_capacity1000.csv", []string{KneeFound}, 1000},
		{"sim_md4_capacity4000.csv", []string{KneeFound}, 4000},
		{"nodemysql_mysql2-1.0.0-rc13_steps.csv", []string{NotReached}, 0}, // two dips that recover
		{"wrk2_kv_get_c1_steps.csv", []string{GeneratorLimited}, 0},
		{"wrk2_kv_get_c64_steps.csv", []string{GeneratorLimited}, 0},
	} {
		file, err := os.Open(filepath.Join(dir, "C", c.file))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		a, err := Table(rows, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		t.Logf("%s: %s; held %v, failed %v", c.file, tellKnee(a.Knee), orElse(a.Knee.HighestHeld, 0), orElse(a.Knee.LowestFailed, 0))
		if !slices.Contains(c.status, a.Knee.Status) {
			t.Errorf("%s: %s, want %v", c.file, tellKnee(a.Knee), c.status)
		}
		if k := a.Knee; c.truth > 0 && k.CI95 != nil && (k.CI95[0] > c.truth || k.CI95[1] < c.truth) {
			t.Errorf("%s: %s does not contain %v", c.file, tellKnee(k), c.truth)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("offered_rps,sent_rps,goodput_rps\n100,100,100\n200,200,150")
	f.Add("target_rps,achieved_rps,goodput_rps,duration_s,p50_ms\n1e9,1e9,1,0,1\n1,1,1,1,1")
	f.Add("offered_rps,sent_rps,goodput_rps\n1e-300,1,1\n1e300,1e300,0\n5,5,5\n6,6,6\n7,7,7\n8,8,8")
	f.Fuzz(func(t *testing.T, text string) {
		var rows [][]string
		for _, line := range strings.Split(text, "\n") {
			rows = append(rows, strings.Split(line, ","))
		}
		a, err := Table(rows, Options{PeakRPS: 10})
		if err != nil {
			return
		}
		if _, err := jsonOf(a); err != nil {
			t.Fatalf("an analysis that JSON cannot hold: %v", err)
		}
	})
}
