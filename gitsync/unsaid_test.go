package gitsync

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

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
	h := newHome(t, "a", "")
	tip, _ := h.mainTip()
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
		"of main":                 {about(mainRef), nil},
	} {
		side := &netSide{store: h.store, session: taker{report: c.report}, adverts: packp.NewAdvRefs()}
		if err := side.push(t.Context(), objects.Zero, tip); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
