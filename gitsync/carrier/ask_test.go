//go:build !windows

package carrier

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// A node asked for a password by the window of a program that was named in the environment of
// whoever started it, every few seconds, and init waited an hour for its answer.
func TestNobodyIsAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	program := filepath.Join(dir, "ask")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$1\" >> "+asked+"\n[ -e "+dir+"/hangs ] && exec sleep 3600\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "gitconfig")
	if err := os.WriteFile(config, []byte("[core]\n\taskPass = "+program+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"GIT_ASKPASS": program, "SSH_ASKPASS": program, "DISPLAY": ":0", "GIT_CONFIG_GLOBAL": config} {
		t.Setenv(name, value)
	}
	store, tip := newStore(t)
	if err := os.WriteFile(filepath.Join(store.Dir(), "HEAD"), []byte("ref: "+MainRef+"\n"), 0o600); err != nil { // without it git sees no repository
		t.Fatal(err)
	}
	g := newGitProgram(store.Dir(), server.URL+"/x.git", store)
	all := func() {
		t.Helper()
		_, err := g.Heads(t.Context())
		for _, err := range []error{err, g.FetchMain(t.Context()), g.Push(t.Context(), tip, objects.Zero, false)} {
			if err == nil || !strings.Contains(err.Error(), "could not read Username") {
				t.Errorf("it says %v", err)
			}
		}
	}
	all()
	if text, err := os.ReadFile(asked); err == nil {
		t.Errorf("it was asked: %s", text)
	}
	g.MayAsk()
	all()
	if text, _ := os.ReadFile(asked); strings.Count(string(text), "\n") != 1 || !strings.HasPrefix(string(text), "Username") {
		t.Errorf("where a person may be asked it asked %q", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "hangs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := g.Heads(ctx); err == nil || ctx.Err() == nil {
		t.Errorf("a program that never answers: %v", err)
	}
}
