package loop

import (
	"bytes"

	"headroom/store/record"
)

type stage uint8

const (
	inHead stage = iota
	inBody
	toClose // the body ends with the connection
	chunkSize
	chunkExt
	chunkSizeLF
	chunkData
	chunkDataCR
	chunkDataLF
	trailerStart
	trailerLine
	trailerLF
	trailerEndLF
	complete
)

const (
	defaultMaxHead = 64 << 10
	maxInterim     = 32      // 1xx answers before the final one
	maxChunkLine   = 4 << 10 // size and extensions of one chunk
	maxLength      = 18      // digits of a Content-Length
	maxChunkDigits = 15      // hexadecimal digits of a chunk's size
	unknownLength  = int64(-1)
)

// answer reads one HTTP/1.1 answer piece by piece. It is strict where two
// readers could disagree about where an answer ends: no folded fields, no space
// before a colon, no Content-Length beside Transfer-Encoding, no coding but
// chunked, no bare line feed between chunks.
type answer struct {
	pool *buffers

	// What begin sets.
	maxHead int
	noBody  bool // the answer to HEAD
	keep    int
	maxBody int64

	// What the reader may look at.
	status  int
	text    []byte // the final head, while stage is past inHead
	kept    []byte
	total   int64 // body bytes
	close   bool  // the connection ends with this answer
	idleFor int64 // Keep-Alive: timeout, seconds; -1 unknown
	idleMax int64 // Keep-Alive: max, further requests; -1 unknown

	stage     stage
	alias     bool // text is part of the caller's buffer
	keepAlive bool // Connection: keep-alive
	minor     byte
	chunked   bool
	coding    bool  // a Transfer-Encoding field came
	length    int64 // Content-Length
	left      int64 // of the body or the chunk
	digits    int   // of the chunk size
	lineLen   int   // of the chunk line, or of all trailers
	colon     bool  // in the trailer line
	interim   int
	own       []byte
	line      int // where the current line begins in the head
	scan      int // up to where it is known to hold no line feed
}

// begin prepares for the answer to one request.
func (a *answer) begin(noBody bool, keep int, maxBody int64) {
	*a = answer{
		pool: a.pool, maxHead: a.maxHead,
		noBody: noBody, keep: keep, maxBody: maxBody,
		length: unknownLength, idleFor: -1, idleMax: -1,
	}
}

// release gives the buffers back; text and kept end with it.
func (a *answer) release() {
	if a.own != nil {
		a.pool.put(a.own)
	}
	if a.kept != nil {
		a.pool.put(a.kept)
	}
	a.own, a.kept, a.text = nil, nil, nil
}

// started reports whether any byte of the final answer came.
func (a *answer) started() bool { return a.stage != inHead || len(a.own) > 0 }

// take reads p and says how much of it belongs to the answer: all of it, unless
// the answer is complete or an error came.
func (a *answer) take(p []byte) (int, record.ErrorKind) {
	used := 0
	for used < len(p) && a.stage != complete {
		var n int
		var kind record.ErrorKind
		switch a.stage {
		case inHead:
			n, kind = a.takeHead(p[used:])
		case inBody, toClose, chunkData:
			n, kind = a.takeBody(p[used:])
		default:
			n, kind = a.takeChunk(p[used:])
		}
		used += n
		if kind != record.ErrNone {
			return used, kind
		}
	}
	if a.alias && a.stage != complete {
		a.own = append(a.pool.get(), a.text...)
		a.text, a.alias = a.own, false
	}
	return used, record.ErrNone
}

// end is told that the connection was closed in an orderly way.
func (a *answer) end() record.ErrorKind {
	switch a.stage {
	case toClose:
		a.stage = complete
		return record.ErrNone
	case complete:
		return record.ErrNone
	case inHead:
		return record.ErrClosed
	}
	return record.ErrTruncated
}

func (a *answer) takeBody(p []byte) (int, record.ErrorKind) {
	n := len(p)
	if a.stage != toClose && int64(n) > a.left {
		n = int(a.left)
	}
	p = p[:n]
	a.total += int64(n)
	if room := a.keep - len(a.kept); room > 0 {
		if a.kept == nil {
			a.kept = a.pool.get()
		}
		a.kept = append(a.kept, p[:min(room, n)]...)
	}
	if a.maxBody > 0 && a.total > a.maxBody {
		return n, record.ErrTooLarge
	}
	if a.stage == toClose {
		return n, record.ErrNone
	}
	if a.left -= int64(n); a.left == 0 {
		if a.stage == inBody {
			a.stage = complete
		} else {
			a.stage = chunkDataCR
		}
	}
	return n, record.ErrNone
}

// takeChunk reads what stands between the chunks.
func (a *answer) takeChunk(p []byte) (int, record.ErrorKind) {
	for i, b := range p {
		switch a.stage {
		case chunkSize:
			if d := hexDigit[b]; d >= 0 {
				if a.digits++; a.digits > maxChunkDigits {
					return i, record.ErrProtocol
				}
				a.left = a.left<<4 | int64(d)
				continue
			}
			if a.digits == 0 {
				return i, record.ErrProtocol
			}
			switch b {
			case '\r':
				a.stage = chunkSizeLF
			case ';', ' ', '\t':
				a.stage, a.lineLen = chunkExt, 0
			default:
				return i, record.ErrProtocol
			}
		case chunkExt:
			if a.lineLen++; a.lineLen > maxChunkLine || b == '\n' {
				return i, record.ErrProtocol
			}
			if b == '\r' {
				a.stage = chunkSizeLF
			}
		case chunkSizeLF:
			if b != '\n' {
				return i, record.ErrProtocol
			}
			if a.left == 0 {
				a.stage, a.lineLen = trailerStart, 0
				continue
			}
			a.stage = chunkData
			return i + 1, record.ErrNone
		case chunkDataCR:
			if b != '\r' {
				return i, record.ErrProtocol
			}
			a.stage = chunkDataLF
		case chunkDataLF:
			if b != '\n' {
				return i, record.ErrProtocol
			}
			a.stage, a.left, a.digits = chunkSize, 0, 0
		case trailerStart:
			if b == '\r' {
				a.stage = trailerEndLF
				continue
			}
			if !token[b] {
				return i, record.ErrProtocol
			}
			a.stage, a.colon = trailerLine, false
			a.lineLen++
		case trailerLine:
			if a.lineLen++; a.lineLen > a.maxHead || b == '\n' || b == 0 {
				return i, record.ErrProtocol
			}
			if b == '\r' {
				if !a.colon {
					return i, record.ErrProtocol
				}
				a.stage = trailerLF
			} else if b == ':' {
				a.colon = true
			} else if !a.colon && !token[b] {
				return i, record.ErrProtocol
			}
		case trailerLF:
			if b != '\n' {
				return i, record.ErrProtocol
			}
			a.stage = trailerStart
		case trailerEndLF:
			if b != '\n' {
				return i, record.ErrProtocol
			}
			a.stage = complete
			return i + 1, record.ErrNone
		}
	}
	return len(p), record.ErrNone
}

// header is the value of the first field of that name in a head, "" where
// there is none.
func header(text []byte, name string) string {
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		line := text[:i]
		text = text[i+1:]
		if len(line) > len(name) && line[len(name)] == ':' && fold(line[:len(name)], name) {
			return string(bytes.Trim(line[len(name)+1:], " \t\r"))
		}
	}
}
