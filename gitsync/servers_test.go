package gitsync

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// strange is a server that wants a name and a password and keeps what it is told.
type strange struct {
	*httptest.Server

	mu    sync.Mutex // guards the fields below
	asked int
	told  string
}

func stranger(t *testing.T) *strange {
	s := &strange{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		s.told += r.Header.Get("Authorization")
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *strange) got() (asked int, told string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.told
}

// redirect returns the URL of a repository on a server that sends everybody on to another server.
func redirect(t *testing.T, to string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/x.git"
}
