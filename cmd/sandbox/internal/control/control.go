// Package control lets another process of the same user ask a running sandbox what it does, and have it do something:
// HTTP with JSON over a Unix socket in the sandbox's private folder.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"cli.holdfast.dev/holdfast/cmd/sandbox/internal/supervise"
)

const (
	socket      = "control.sock"
	statusPath  = "/v1/status"
	quitPath    = "/v1/quit"
	actPath     = "/v1/components/{name}/{action}"
	closeWithin = 2 * time.Second
)

// Report is what a sandbox tells about itself.
type Report struct {
	PID         int                `json:"pid"`
	Dir         string             `json:"dir"`
	Ready       bool               `json:"ready"`
	AgeSeconds  float64            `json:"ageSeconds"`
	Kubeconfigs []Kubeconfig       `json:"kubeconfigs"`
	Components  []supervise.Status `json:"components"`
}

// Kubeconfig is where a person's kubeconfig is.
type Kubeconfig struct {
	Person string `json:"person"`
	Path   string `json:"path"`
}

// Target is the sandbox behind the endpoint.
type Target interface {
	Report() Report
	// Act does the action to the component and blocks until it is done.
	Act(ctx context.Context, action, component string) error
	// Quit asks the sandbox to end; it does not block.
	Quit()
}

// Server is a running endpoint.
type Server struct {
	http *http.Server
	dir  *os.File
}

// Serve opens the endpoint in the folder and answers until Close. It does not block.
func Serve(dir string, t Target) (*Server, error) {
	folder, path, err := shortPath(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control endpoint in %s: %w", dir, err), folder.Close())
	}
	if err := os.Chmod(filepath.Join(dir, socket), 0o600); err != nil {
		return nil, errors.Join(err, l.Close(), folder.Close())
	}
	s := &Server{http: &http.Server{Handler: handler(t), ReadHeaderTimeout: 5 * time.Second}, dir: folder}
	go func() { _ = s.http.Serve(l) }() // ends with Close, for which its error stands
	return s, nil
}

// Close stops answering and removes the socket. A request in progress gets some seconds.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	return errors.Join(err, s.dir.Close())
}

// shortPath returns a path to the socket by way of an open descriptor of its folder: a socket's own path may have no
// more than 107 bytes, a data folder's may.
func shortPath(dir string) (*os.File, string, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, "", err
	}
	return folder, fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), socket), nil
}

type failure struct {
	Error string `json:"error"`
}

func handler(t Target) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, _ *http.Request) {
		r := t.Report()
		r.PID = os.Getpid()
		answer(w, http.StatusOK, r)
	})
	mux.HandleFunc("POST "+quitPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusAccepted, struct{}{})
		t.Quit()
	})
	mux.HandleFunc("POST "+actPath, func(w http.ResponseWriter, r *http.Request) {
		if err := t.Act(r.Context(), r.PathValue("action"), r.PathValue("name")); err != nil {
			answer(w, http.StatusConflict, failure{err.Error()})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
	return mux
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client went away; nothing to do about it
}

// Client asks the sandbox of one folder.
type Client struct {
	http *http.Client
}

// Dial returns a client for the sandbox in the folder; it does not connect yet.
func Dial(dir string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		folder, path, err := shortPath(dir)
		if err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }() // a connection needs it no longer
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &Client{http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Report asks for the sandbox's state.
func (c *Client) Report(ctx context.Context) (Report, error) {
	var r Report
	err := c.do(ctx, http.MethodGet, statusPath, &r)
	return r, err
}

// Act has the action done to the component and blocks until it is done.
func (c *Client) Act(ctx context.Context, action, component string) error {
	return c.do(ctx, http.MethodPost, "/v1/components/"+component+"/"+action, nil)
}

// Quit asks the sandbox to end; it does not wait for the end.
func (c *Client) Quit(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, quitPath, nil)
}

func (c *Client) do(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://sandbox"+path, bytes.NewReader(nil))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("the sandbox does not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		var f failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("the sandbox answers %s", resp.Status)
		}
		return errors.New(f.Error)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
