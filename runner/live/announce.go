package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
)

// Suffix is that of announcements: <run-id>.live beside <run-id>.part.
const Suffix = ".live"

// Announcement says where the feed of a run is.
type Announcement struct {
	Schema string `json:"schema"` // headroom.announcement/1
	RunID  string `json:"run_id"`
	URL    string `json:"url"` // of the feed, without a path
	PID    int    `json:"pid"`
}

const announcementSchema = "headroom.announcement/1"

// Announce writes the announcement of a run beside its evidence and returns
// what removes it again.
func Announce(dir, runID, feed string) (remove func() error, err error) {
	b, err := json.Marshal(Announcement{Schema: announcementSchema, RunID: runID, URL: feed, PID: os.Getpid()})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, runID+Suffix)
	temp := path + ".tmp"
	err = os.WriteFile(temp, append(b, '\n'), 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return nil, fmt.Errorf("announcing the run: %w", errors.Join(err, removed(temp)))
	}
	return func() error { return removed(path) }, nil
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadAnnouncement reads an announcement. Only feeds on this machine are
// believed, since the file may have come from elsewhere with its folder.
func ReadAnnouncement(path string) (Announcement, error) {
	var a Announcement
	f, err := os.Open(path)
	if err != nil {
		return a, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil || a.Schema != announcementSchema {
		return a, fmt.Errorf("%s: not an announcement of a run", path)
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Path != "" {
		return a, fmt.Errorf("%s: %q is not the address of a feed", path, a.URL)
	}
	host, _, err := net.SplitHostPort(u.Host)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return a, fmt.Errorf("%s: the feed %s is not on this machine; name it with --live", path, a.URL)
	}
	return a, nil
}
