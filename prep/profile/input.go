package profile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Input is one log. Open is called once, or twice where there are several logs
// and Once is not set: their first lines tell their order.
type Input struct {
	Name string // for messages
	Size int64  // bytes as stored, 0 where unknown
	Once bool   // a pipe
	Open func() (io.ReadCloser, error)
}

const (
	maxLine = 1 << 20 // bytes of a line that is read; longer ones are counted and skipped
	block   = 256 << 10
	// zstd frames may ask for a window of any size.
	maxWindow = 64 << 20
)

// counter counts bytes as they are read, and tells somebody.
type counter struct {
	r    io.Reader
	n    int64
	tell func(int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.tell != nil {
		c.tell(c.n)
	}
	return n, err
}

// unpacked returns a reader of the text in r, which may be gzip of any number
// of members, zstd or plain, and a function that frees what it holds.
func unpacked(r io.Reader) (*bufio.Reader, func(), error) {
	raw := bufio.NewReaderSize(r, block)
	magic, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("it begins like gzip, but: %w", err)
		}
		return bufio.NewReaderSize(z, maxLine), func() { z.Close() }, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, fmt.Errorf("it begins like zstd, but: %w", err)
		}
		return bufio.NewReaderSize(z, maxLine), z.Close, nil
	}
	return bufio.NewReaderSize(raw, maxLine), func() {}, nil
}

// lines calls f for each line of r without its end, and with tooLong set and
// no text where it is longer than maxLine. It returns whether the input ended
// before its end: a compressed file that is cut or damaged, a read that failed.
// The last line of such an input is not whole and is left out. An error of f
// ends it.
func lines(r *bufio.Reader, f func(line []byte, tooLong bool) error) (cut error, err error) {
	if bom, _ := r.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		_, _ = r.Discard(3)
	}
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			if err := f(line[:len(line)-1], false); err != nil {
				return nil, err
			}
		case errors.Is(err, bufio.ErrBufferFull):
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			if stop := f(nil, true); stop != nil {
				return nil, stop
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return err, nil
			}
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				return nil, f(line, false)
			}
			return nil, nil
		default:
			return err, nil
		}
	}
}
