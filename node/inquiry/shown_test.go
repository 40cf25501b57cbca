package inquiry

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// Words that an agent chose stand in quotes in the text of a gate, which a human signs. What the agent
// named as perspectives is chosen without a question, so the text tells it. It prevents: a perspective
// or a receiver that is a sentence reads like a word of parley.
func TestAGateQuotesWhatAnAgentChose(t *testing.T) {
	const sentence = "Cost: yes\u202e. 2"
	opens := protocol.InquiryGate{In: "/work", Snapshot: "ab", Receivers: []string{"chair@white", "a, and nobody else@white"}}.Opens()
	g := &inquiries.Gate{Gate: protocol.GatePerspectives, Opens: opens, Questions: []protocol.InquiryQuestion{{ID: "perspectives", Options: []protocol.InquiryOption{{Key: sentence, About: "money"}}}}}
	v := inquiries.Inquiry{Gates: []*inquiries.Gate{g}, Base: []string{sentence}}
	text := shown(v, g)
	for _, want := range []string{"copy: \"a, and nobody else\"@white\n", "files: chair@white\n", "already: [\"Cost: yes\\u202e. 2\"]\n", "1. \"Cost: yes\\u202e. 2\": money\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
