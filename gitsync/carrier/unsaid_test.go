package carrier

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// taker is a server that takes every push and reports only what it is told to.
type taker struct {
	transport.ReceivePackSession // of what push does not ask it for

	report *packp.ReportStatus
}

func (s taker) ReceivePack(_ context.Context, r *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	_, err := io.Copy(io.Discard, r.Packfile)
	return s.report, err
}

// TestBuiltinWantsAReport prevents: without the git program a push counts because no error
// came of it; a server that reports nothing even ended the node.
func TestBuiltinWantsAReport(t *testing.T) {
	store, tip := newStore(t)
	about := func(ref plumbing.ReferenceName) *packp.ReportStatus {
		return &packp.ReportStatus{UnpackStatus: "ok", CommandStatuses: []*packp.CommandStatus{{ReferenceName: ref, Status: "ok"}}}
	}
	for name, c := range map[string]struct {
		report *packp.ReportStatus
		want   error
	}{
		"no report":               {nil, errUnsaid},
		"a report without a line": {&packp.ReportStatus{UnpackStatus: "ok"}, errUnsaid},
		"of another branch":       {about("refs/heads/other"), errUnsaid},
		"of main":                 {about(MainRef), nil},
	} {
		side := &netSide{store: store, session: taker{report: c.report}, adverts: packp.NewAdvRefs()}
		if err := side.push(t.Context(), MainRef, objects.Zero, tip); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// newStore is a repository with one commit.
func newStore(t *testing.T) (*objects.Store, objects.Hash) {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	store, err := objects.Open(dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	var b objects.Builder
	tree, err := store.Update(objects.Zero, map[string]objects.Change{"a": {Hash: b.Blob([]byte("a"))}}, &b)
	if err != nil {
		t.Fatal(err)
	}
	tip := b.Commit(objects.Commit{Tree: tree, When: time.Unix(1, 0), Message: "a"})
	if err := store.Install(&b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Seal(); err != nil {
			t.Error(err)
		}
	})
	return store, tip
}
