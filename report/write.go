package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"headroom/analyze"
	"headroom/store/record"
)

// Options of Write.
type Options struct {
	Lang  Lang // of the pages and pictures; English where empty
	NoPNG bool // leaves the PNG files out: they take most of the time
}

// File is one file of a report.
type File struct {
	Name string
	Data []byte
}

// Files renders every file of a report, in the order in which people look at
// them: report.html, report.md, analysis.json, steps.csv, intervals.csv, then
// the pictures. Without evidence there is no intervals.csv and no picture over time.
func Files(a *analyze.Analysis, ev record.Evidence, opts Options) ([]File, error) {
	if opts.Lang == "" {
		opts.Lang = English
	}
	pictures, err := Pictures(a, ev, opts.Lang)
	if err != nil {
		return nil, err
	}
	var figures []figure
	var images []File
	for _, p := range pictures {
		svg, err := p.Figure.SVG()
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{p.Name, p.Figure.Title(), wordsOf(opts.Lang).Captions[p.Name], svg})
		images = append(images, File{p.Name + ".svg", svg})
		if opts.NoPNG {
			continue
		}
		png, err := p.Figure.PNG()
		if err != nil {
			return nil, err
		}
		images = append(images, File{p.Name + ".png", png})
	}
	html, err := htmlWith(a, figures, opts.Lang)
	if err != nil {
		return nil, err
	}
	json, err := JSON(a)
	if err != nil {
		return nil, err
	}
	steps, err := StepsCSV(a)
	if err != nil {
		return nil, fmt.Errorf("steps.csv: %w", err)
	}
	files := []File{{"report.html", html}, {"report.md", markdownWith(a, figures, opts.Lang)}, {"analysis.json", json}, {"steps.csv", steps}}
	if ev != nil {
		var intervals bytes.Buffer
		if err := record.WriteIntervalsCSV(&intervals, ev); err != nil {
			return nil, fmt.Errorf("intervals.csv: %w", err)
		}
		files = append(files, File{"intervals.csv", intervals.Bytes()})
	}
	return append(files, images...), nil
}

// Write renders a report into dir, which it makes if needed, and returns the
// paths. Either all files are in place at the end or none was touched, short of
// a crash between two renames. Files of an earlier report are replaced, and
// those of its pictures that this one lacks are removed; a folder that holds
// files of these names but no analysis.json of ours is refused.
func Write(dir string, a *analyze.Analysis, ev record.Evidence, opts Options) ([]string, error) {
	files, err := Files(a, ev, opts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	stale, err := replaceable(dir, files)
	if err != nil {
		return nil, err
	}
	if err := place(dir, files); err != nil {
		return nil, err
	}
	for _, name := range stale {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("report: remove a picture of the earlier report: %w", err)
		}
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.Name)
	}
	return paths, nil
}

var pictureNames = []string{"knee", "latency", "spectrum", "timeline", "resources", "heat", "lag"}

// replaceable checks that whatever has one of our names is an earlier report,
// and returns the files of that report which the new one does not have.
func replaceable(dir string, files []File) (stale []string, err error) {
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = true
	}
	all := []string{"intervals.csv"}
	for n := range names {
		all = append(all, n)
	}
	for _, p := range pictureNames {
		all = append(all, p+".svg", p+".png")
	}
	slices.Sort(all)
	var there []string
	for _, name := range slices.Compact(all) {
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("report: %s is in the way and is not a regular file; choose another folder", filepath.Join(dir, name))
		}
		there = append(there, name)
		if !names[name] {
			stale = append(stale, name)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	head, err := readHead(filepath.Join(dir, "analysis.json"))
	if err != nil || !strings.Contains(head, `"schema": "headroom.analysis/`) {
		return nil, fmt.Errorf("report: %s has a %s, but no analysis.json of an earlier report; choose another folder or move it away", dir, there[0])
	}
	return stale, nil
}

func readHead(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b [256]byte
	n, err := f.Read(b[:])
	return string(b[:n]), err
}

// place writes all files beside their targets, on disk, and only then renames
// them one by one.
func place(dir string, files []File) (err error) {
	stage, err := os.MkdirTemp(dir, ".report-")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	for _, f := range files {
		if err := writeSynced(filepath.Join(stage, f.Name), f.Data); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	for _, f := range files {
		if err := os.Rename(filepath.Join(stage, f.Name), filepath.Join(dir, f.Name)); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
