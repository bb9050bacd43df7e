package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// StreamType is the media type of an upload.
const StreamType = "application/vnd.headroom.records"

const (
	// idle is how long an upload may say nothing.
	idle = 20 * time.Second
	// longest is how long an upload may take.
	longest = 15 * time.Minute
)

// Outcomes of uploads, in the order of counters.uploads.
const (
	uploadReceived = iota
	uploadAlready
	uploadRefused
	uploadFailed
)

var uploadNames = [...]string{"received", "already", "refused", "failed"}

// statusOf is the status of HTTP for each code of a Refusal.
var statusOf = map[string]int{
	"not_a_run": http.StatusUnprocessableEntity, "too_large": http.StatusRequestEntityTooLarge,
	"conflict": http.StatusConflict, "interrupted": http.StatusBadRequest, "slow": http.StatusRequestTimeout, "busy": http.StatusTooManyRequests,
}

// upload receives a run.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) error {
	how, err := s.uploaded(w, r)
	s.count.uploads[how].Add(1)
	if err != nil {
		// The rest of the body is not wanted.
		w.Header().Set("Connection", "close")
	}
	return err
}

func (s *Server) uploaded(w http.ResponseWriter, r *http.Request) (how int, err error) {
	if err := s.mayUpload(w, r); err != nil {
		return uploadRefused, err
	}
	select {
	case s.receive <- struct{}{}:
		defer func() { <-s.receive }()
	default:
		w.Header().Set("Retry-After", "5")
		return uploadRefused, &problem{http.StatusTooManyRequests, "busy", "other runs are being received; try again in a few seconds"}
	}
	body := &slowBody{
		body: http.MaxBytesReader(w, r.Body, s.cfg.MaxUpload), control: http.NewResponseController(w), now: s.cfg.Now,
		until: s.cfg.Now().Add(longest),
	}
	got, err := s.cfg.Library.Receive(r.Context(), body)
	if err == nil {
		how, status := uploadReceived, http.StatusCreated
		if got.Already {
			how, status = uploadAlready, http.StatusOK
		}
		s.wake()
		return how, writeJSONAs(w, status, got)
	}
	var refusal *Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refusal = &Refusal{"too_large", fmt.Sprintf("an upload may have %d bytes", large.Limit)}
	case body.slow:
		refusal = &Refusal{"slow", "the upload was too slow"}
	case !errors.As(err, &refusal):
		s.cfg.Log("receiving a run: %v", err)
		return uploadFailed, &problem{http.StatusInternalServerError, "failed", "the run can't be kept; the server's log says why"}
	}
	status, ok := statusOf[refusal.Code]
	if !ok {
		status = http.StatusUnprocessableEntity
	}
	return uploadRefused, &problem{status, refusal.Code, refusal.Text}
}

// mayUpload checks who asks, before a byte of the body is read.
func (s *Server) mayUpload(w http.ResponseWriter, r *http.Request) error {
	if len(s.cfg.Token) == 0 {
		return &problem{http.StatusForbidden, "read_only", "this server receives no runs; start it with --token-file"}
	}
	if err := s.cross.Check(r); err != nil {
		return &problem{http.StatusForbidden, "cross_origin", "a page of another site can't upload runs"}
	}
	if !s.cfg.ReadToken { // otherwise it was checked already
		who, now := address(r), s.cfg.Now()
		if s.wrong.exhausted(who, now) {
			w.Header().Set("Retry-After", "10")
			return &problem{http.StatusTooManyRequests, "too_many_wrong_tokens", "too many wrong tokens from this address; wait a minute"}
		}
		token, shown := tokenOf(r)
		if !sameToken(token, s.cfg.Token) {
			if shown {
				s.wrong.take(who, now)
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			return &problem{http.StatusUnauthorized, "unauthorized", "uploads want the server's token: `Authorization: Bearer TOKEN`, or `headroom push --token-file`"}
		}
	}
	if wait, ok := s.uploads.take(address(r), s.cfg.Now()); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		return &problem{http.StatusTooManyRequests, "rate_limited", "too many uploads from this address; wait a minute"}
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != StreamType {
		return &problem{http.StatusUnsupportedMediaType, "media_type", "an upload has the type " + StreamType + ", which `headroom push` sends"}
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return &problem{http.StatusUnsupportedMediaType, "media_type", "an upload is not compressed"}
	}
	if r.ContentLength > s.cfg.MaxUpload {
		return &problem{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("an upload may have %d bytes", s.cfg.MaxUpload)}
	}
	return nil
}

// slowBody is a body whose sender must say something now and then, and come to
// an end.
type slowBody struct {
	body    io.Reader
	control *http.ResponseController
	now     func() time.Time
	until   time.Time
	slow    bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	now := b.now()
	deadline := now.Add(idle)
	if b.until.Before(deadline) {
		deadline = b.until
	}
	// Where the connection has no deadlines (in tests), there is no limit.
	_ = b.control.SetReadDeadline(deadline)
	n, err := b.body.Read(p)
	var timeout interface{ Timeout() bool }
	if err != nil && errors.As(err, &timeout) && timeout.Timeout() {
		b.slow = true
	}
	return n, err
}
