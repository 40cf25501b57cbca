package inquiry

import (
	"slices"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
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
	want := []control.FramePerspective{{Name: "Cost", Contribution: "money"}, {Name: "Safety", Contribution: "harm"}}
	if got := proposedBefore(v); !slices.Equal(got, want) {
		t.Errorf("before the last proposal: %v, want %v", got, want)
	}
}
