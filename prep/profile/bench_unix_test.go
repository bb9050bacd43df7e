//go:build unix

package profile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what the process has used of processors, which says more than
// time by the wall on a machine that others use.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var agents = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0",
	"okhttp/4.12.0",
}

// shopLog writes a combined log of at least so many bytes: a shop with 200,000
// customers, 50,000 products and 1,000 requests per second.
func shopLog(w io.Writer, size int64) error {
	r := rand.New(rand.NewPCG(1, 1))
	z := rand.NewZipf(r, 1.1, 5, 200_000)
	start := time.Date(2024, 1, 3, 8, 0, 0, 0, time.UTC)
	var line []byte
	var written int64
	for i := 0; written < size; i++ {
		line = fmt.Appendf(line[:0], "192.0.%d.%d - - [", z.Uint64()%200, r.IntN(250))
		line = start.Add(time.Duration(i)*time.Millisecond).AppendFormat(line, "02/Jan/2006:15:04:05 -0700")
		line = append(line, `] "`...)
		id := z.Uint64()*7919%200_000 + 100_000
		switch n := r.IntN(100); {
		case n < 50:
			line = fmt.Appendf(line, "GET /customers/%d/orders?limit=%d&page=%d", id, 20, r.IntN(3))
		case n < 80:
			line = fmt.Appendf(line, "GET /products/%d", id%50_000)
		case n < 95:
			line = fmt.Appendf(line, "GET /static/js/app-%d.js", r.IntN(20))
		default:
			line = fmt.Appendf(line, "POST /carts/%d/items", id)
		}
		line = append(line, ` HTTP/1.1" `...)
		line = append(line, "200 "...)
		line = strconv.AppendInt(line, int64(r.IntN(50_000)), 10)
		line = fmt.Appendf(line, " \"https://shop.example/c/%d\" \"%s\"\n", r.IntN(500), agents[r.IntN(len(agents))])
		n, err := w.Write(line)
		if err != nil {
			return err
		}
		written += int64(n)
	}
	return nil
}

// wideLog is made against bounds: a thousand routes, each with identifiers and
// parameters that never repeat, as of somebody who scans.
func wideLog(w io.Writer, size int64) error {
	r := rand.New(rand.NewPCG(1, 1))
	out := bufio.NewWriterSize(w, 1<<20)
	start := time.Date(2024, 1, 3, 8, 0, 0, 0, time.UTC)
	var line []byte
	var written int64
	for i := 0; written < size; i++ {
		line = fmt.Appendf(line[:0], "10.%d.%d.%d - - [%s] \"GET /%c%c/%c%c/%d/%x?session=%x&q=%d HTTP/1.1\" 200 17 \"-\" \"x\"\n",
			r.IntN(250), r.IntN(250), r.IntN(250), start.Add(time.Duration(i)*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"),
			'a'+r.IntN(20), 'a', 'a'+r.IntN(20), 'b', r.Uint32(), r.Uint64(), r.Uint64(), r.Uint64())
		n, err := out.Write(line)
		if err != nil {
			return err
		}
		written += int64(n)
	}
	return out.Flush()
}

func BenchmarkRead(b *testing.B) {
	var log bytes.Buffer
	if err := shopLog(&log, 64<<20); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(log.Len()))
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		if _, err := Read(context.Background(), []Input{bytesInput("shop", log.Bytes())}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(log.Len())*float64(b.N)/1e6/(cpuTime(b)-start).Seconds(), "MB/cpu-s")
}

// TestBigLog reads a log of HEADROOM_BIG_LOG megabytes, generated, and reports
// speed and memory. It is for a quiet machine.
func TestBigLog(t *testing.T) {
	mb, err := strconv.Atoi(os.Getenv("HEADROOM_BIG_LOG"))
	if err != nil || mb < 1 {
		t.Skip("set HEADROOM_BIG_LOG to a size in MB")
	}
	name := filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	write := shopLog
	if os.Getenv("HEADROOM_BIG_LOG_KIND") == "wide" {
		write = wideLog
	}
	if err := write(f, int64(mb)<<20); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	start, cpu := time.Now(), cpuTime(t)
	var most uint64
	p := mustRead(t, Options{Progress: func(Progress) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
	}}, fileInput(name))
	took, used := time.Since(start), cpuTime(t)-cpu
	t.Logf("%d MB, %d requests in %v: %.0f MB/s, %.0f MB per second of processor, %d MB of memory at most",
		mb, p.Requests, took.Round(time.Millisecond), float64(mb)/took.Seconds(), float64(mb)/used.Seconds(), most>>20)
	if most > 200<<20 {
		t.Errorf("%d MB of memory, 200 allowed", most>>20)
	}
}
