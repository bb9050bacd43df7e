package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"headroom/report/web"
	"headroom/runner/live"
	"headroom/store"
	"headroom/store/record"
)

// folder is a folder of evidence as the analysis server sees it.
type folder struct {
	dir   string
	inbox *store.Inbox // nil: read-only
	extra []string     // feeds that were named, by address
	feeds *feeds

	mu    sync.Mutex
	seen  map[string]seenFile // by name
	paths map[string]string   // by key
}

// seenFile is a sealed or refused file that is not read again until it changes.
type seenFile struct {
	size  int64
	mod   time.Time
	entry store.Entry
}

func newFolder(dir string, extra []string) *folder {
	return &folder{dir: dir, extra: extra, feeds: newFeeds(), seen: map[string]seenFile{}, paths: map[string]string{}}
}

// List reads the folder. Files that did not change are not opened again.
func (f *folder) List(ctx context.Context) ([]web.Entry, error) {
	entries, err := f.files()
	if err != nil {
		return nil, err
	}
	stems := map[string]int{}
	ids := map[string]int{}
	for _, e := range entries {
		stems[stem(e.Path)]++
		ids[e.RunID]++
	}
	out := make([]web.Entry, 0, len(entries)+len(f.extra))
	paths := make(map[string]string, len(entries))
	for _, e := range entries {
		w := f.entryOf(ctx, e)
		switch {
		case ids[e.RunID] == 1:
			w.Key = e.RunID
		case stems[stem(e.Path)] == 1 && ids[stem(e.Path)] == 0:
			w.Key = stem(e.Path)
		default:
			w.Key = filepath.Base(e.Path)
		}
		paths[w.Key] = e.Path
		out = append(out, w)
	}
	for _, url := range f.extra {
		if s, err := f.feeds.status(ctx, url); err == nil && ids[s.RunID] == 0 {
			w := web.Entry{Key: s.RunID, RunID: s.RunID, Version: "feed " + s.RunID, Recording: true, Feed: true, State: record.Recording}
			named(&w, s)
			out = append(out, w)
		}
	}
	f.mu.Lock()
	f.paths = paths
	f.mu.Unlock()
	return out, nil
}

func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// files lists what store.List lists, from memory where it can.
func (f *folder) files() ([]store.Entry, error) {
	names, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	old := f.seen
	f.mu.Unlock()
	seen := make(map[string]seenFile, len(names))
	var all []store.Entry
	for _, n := range names {
		ext := filepath.Ext(n.Name())
		if ext != ".db" && ext != ".part" || n.IsDir() {
			continue
		}
		info, err := n.Info()
		if err != nil {
			continue // it has just been renamed or removed
		}
		s, ok := old[n.Name()]
		if !ok || s.size != info.Size() || !s.mod.Equal(info.ModTime()) || ext == ".part" {
			s = seenFile{info.Size(), info.ModTime(), store.Stat(filepath.Join(f.dir, n.Name()))}
		}
		if errors.Is(s.entry.Err, fs.ErrNotExist) {
			continue
		}
		seen[n.Name()] = s
		all = append(all, s.entry)
	}
	f.mu.Lock()
	f.seen = seen
	f.mu.Unlock()
	store.SortEntries(all)
	return all, nil
}

// entryOf says of a file what the server shows.
func (f *folder) entryOf(ctx context.Context, e store.Entry) web.Entry {
	w := web.Entry{
		Version: e.Digest, RunID: e.RunID, State: e.State, Started: e.Header.Started, Bytes: e.Bytes, Digest: e.Digest,
		Header: e.Header, End: e.End,
	}
	if w.Version == "" {
		w.Version = fmt.Sprintf("%s %d %d", filepath.Base(e.Path), e.Bytes, e.Modified.UnixNano())
	}
	switch {
	case errors.Is(e.Err, store.ErrRecording):
		w.Recording, w.State, w.Started = true, record.Recording, e.Modified
		a, err := live.ReadAnnouncement(filepath.Join(f.dir, stem(e.Path)+live.Suffix))
		if err != nil {
			break
		}
		if s, err := f.feeds.status(ctx, a.URL); err == nil && s.RunID == e.RunID {
			w.Feed = true
			named(&w, s)
		}
	case e.Err != nil:
		w.Refused, w.Started, w.Header, w.End = f.plainly(e.Err), e.Modified, record.Header{}, record.End{}
	}
	return w
}

// named takes what a feed says of its run into an entry.
func named(w *web.Entry, s *web.LiveStatus) {
	w.Header.Name, w.Header.Release, w.Header.Format, w.Header.Model = s.Name, s.Release, s.Format, record.Model(s.Model)
	if t, err := time.Parse(time.RFC3339, s.Started); err == nil {
		w.Started = t
	}
}

// plainly is an error without the folder: readers need not know where it is.
func (f *folder) plainly(err error) string {
	return strings.ReplaceAll(err.Error(), f.dir+string(filepath.Separator), "")
}

// Open opens the evidence of an entry.
func (f *folder) Open(_ context.Context, e web.Entry) (web.Evidence, error) {
	f.mu.Lock()
	path, ok := f.paths[e.Key]
	f.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s is not there any more", e.Key)
	}
	run, err := store.Open(path)
	if err != nil {
		return nil, errors.New(f.plainly(err))
	}
	return run, nil
}

// Live asks the feed of a run.
func (f *folder) Live(ctx context.Context, e web.Entry) (*web.LiveStatus, error) {
	if !e.Recording || !e.Feed {
		return nil, web.ErrNoFeed
	}
	for _, url := range f.extra {
		if s, err := f.feeds.status(ctx, url); err == nil && s.RunID == e.RunID {
			return s, nil
		}
	}
	f.mu.Lock()
	path, ok := f.paths[e.Key]
	f.mu.Unlock()
	if !ok {
		return nil, web.ErrNoFeed
	}
	a, err := live.ReadAnnouncement(filepath.Join(f.dir, stem(path)+live.Suffix))
	if err != nil {
		return nil, web.ErrNoFeed
	}
	s, err := f.feeds.status(ctx, a.URL)
	if err != nil {
		return nil, fmt.Errorf("the feed of this run does not answer: %w", err)
	}
	return s, nil
}

// Receive writes a run that was uploaded.
func (f *folder) Receive(ctx context.Context, from io.Reader) (web.Receipt, error) {
	if f.inbox == nil {
		return web.Receipt{}, &web.Refusal{Code: "read_only", Text: "this server receives no runs"}
	}
	got, err := f.inbox.Receive(from, func(h record.Header, digest string) error {
		all, err := f.files()
		if err != nil {
			return err
		}
		for _, e := range all {
			if e.RunID == h.RunID && e.Digest != digest {
				return fmt.Errorf("%w: %s", store.ErrConflict, h.RunID)
			}
		}
		return ctx.Err()
	})
	if err == nil {
		return web.Receipt{RunID: got.RunID, Digest: got.Digest, Already: got.Already}, nil
	}
	for _, c := range []struct {
		kind error
		code string
	}{{store.ErrTooLarge, "too_large"}, {store.ErrConflict, "conflict"}, {store.ErrInterrupted, "interrupted"}, {store.ErrStream, "not_a_run"}} {
		if errors.Is(err, c.kind) {
			return web.Receipt{}, fmt.Errorf("%w%w", &web.Refusal{Code: c.code, Text: f.plainly(err)}, hidden{err})
		}
	}
	return web.Receipt{}, err
}

// hidden keeps the cause of a refusal for errors.As without saying it twice.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }

// feeds asks recorders what they show, each at most about once a second.
type feeds struct {
	client *http.Client
	mu     sync.Mutex
	last   map[string]*feedAnswer
}

type feedAnswer struct {
	mu     sync.Mutex
	at     time.Time
	status *web.LiveStatus
	err    error
}

func newFeeds() *feeds {
	return &feeds{
		last: map[string]*feedAnswer{},
		client: &http.Client{
			Timeout:       2 * time.Second,
			Transport:     &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// maxFeed bounds what a feed may answer, in bytes.
const maxFeed = 4 << 20

func (f *feeds) status(ctx context.Context, url string) (*web.LiveStatus, error) {
	f.mu.Lock()
	a := f.last[url]
	if a == nil {
		if len(f.last) > 200 {
			clear(f.last)
		}
		a = &feedAnswer{}
		f.last[url] = a
	}
	f.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.at) < 900*time.Millisecond {
		return a.status, a.err
	}
	s, err := f.ask(ctx, url)
	if ctx.Err() == nil {
		a.status, a.err, a.at = s, err, time.Now()
	}
	return s, err
}

func (f *feeds) ask(ctx context.Context, url string) (*web.LiveStatus, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live.json", nil)
	if err != nil {
		return nil, err
	}
	res, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", res.Status)
	}
	var s web.LiveStatus
	if err := json.NewDecoder(io.LimitReader(res.Body, maxFeed)).Decode(&s); err != nil {
		return nil, err
	}
	if s.Schema != live.Schema || s.RunID == "" {
		return nil, errors.New("it is not the feed of a run")
	}
	return &s, nil
}

var _ web.Library = (*folder)(nil)
