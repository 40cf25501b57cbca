package inquiry

import (
	"slices"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A document tells of each perspective what it reveals, also of those of an earlier proposal: an
// inquiry that was extended would have a line under its last perspectives alone.
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
	want := []control.FramePerspective{{Name: "Cost", Contribution: "money"}, {Name: "Safety", Contribution: "harm"}}
	if got := proposedBefore(v); !slices.Equal(got, want) {
		t.Errorf("before the last proposal: %v, want %v", got, want)
	}
}
