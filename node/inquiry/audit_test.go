package inquiry

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// A document tells what each perspective reveals, also the perspectives of an earlier proposal. It
// prevents: in an inquiry that was extended, only the last perspectives have such a line.
func TestADocumentHasThePerspectivesOfEveryProposal(t *testing.T) {
	asks := func(gate string, options ...protocol.InquiryOption) *inquiries.Gate {
		return &inquiries.Gate{Gate: gate, Questions: []protocol.InquiryQuestion{{ID: "perspectives", Options: options}}}
	}
	v := inquiries.Inquiry{Gates: []*inquiries.Gate{
		asks(protocol.GateBrief, protocol.InquiryOption{Key: "confirm"}),
		asks(protocol.GatePerspectives, protocol.InquiryOption{Key: "Cost", About: "money"}, protocol.InquiryOption{Key: "Safety", About: "harm"}),
		asks(protocol.GatePerspectives, protocol.InquiryOption{Key: "Cost", About: "money"}),
		asks(protocol.GatePerspectives, protocol.InquiryOption{Key: "Law", About: "duties"}),
	}}
	v.Proposal.Perspectives = []protocol.InquiryPerspective{{Name: "Law", Contribution: "duties"}}
	want := []protocol.InquiryPerspective{{Name: "Cost", Contribution: "money"}, {Name: "Safety", Contribution: "harm"}}
	if got := proposedBefore(v); !slices.Equal(got, want) {
		t.Errorf("before the last proposal: %v, want %v", got, want)
	}
}

// It prevents: whoever verifies a record holds the list of all its files in memory, however many
// somebody pushed.
func TestTheListOfFilesIsReadAsItIsUsed(t *testing.T) {
	const entry = "abcd channels/0f8fad5b-d9cb-469f-a165-70867728950e/2026/05/23/190100000Z-b2c3d4e5.md\x00"
	list := strings.NewReader("ef01 channels/" + strings.Repeat("x", 3*maxEntry) + "\x00" + strings.Repeat(strings.Replace(entry, "channels", protocol.ChannelsDir, 1), 10_000))
	ctx, stop := context.WithCancel(t.Context())
	paths, ended := make(chan protocol.Path), make(chan error, 1)
	var asked bytes.Buffer
	go func() { ended <- eachPath(ctx, list, &asked, paths) }()
	<-paths
	<-paths
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || list.Len() < 10_000*len(entry)-2*maxEntry || !strings.HasPrefix(asked.String(), "abcd\n") || asked.Len() > 10 {
		t.Errorf("%v: %d bytes of the list are left, and %q is asked for", err, list.Len(), asked.String())
	}
}
