// Package calls words what agents are asked in an inquiry, and reads what they answer. It is pure.
// What a prompt says follows from the inquiry and from what the caller gives. An answer becomes a
// command, or a reason why it does not serve, in words that the agent can be given.
//
// Agents are usually language models: what they say around the form is ignored, and the rules of
// inquiries check the form itself before anything is written.
package calls

import (
	"fmt"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// Surroundings is what a prompt contains besides the inquiry.
type Surroundings struct {
	Earlier []inquiries.Inquiry // inquiries that are over: their lenses and gaps are told to proposals (F11)
	Agents  []Candidate         // agents that could be members
	Made    []protocol.Address  // agents that are made if none fits, one for each perspective
	Files   []string            // files in what is investigated
	Refused string              // why the last answer to this call did not serve; "" at first
	Member  protocol.Address    // the agent that is started; zero: the one that was mapped
	Last    string              // the last answer
	Alone   bool                // the member's session does not go on: it is told again what it found (R52)
}

// Candidate is an agent that could be a member.
type Candidate struct {
	Agent protocol.Address
	About string // what it is for, by its profile
}

// Prompt is what the agent of a call is given. `ok` is false for a call that needs no agent.
func Prompt(v inquiries.Inquiry, c inquiries.Call, s Surroundings) (text string, ok bool) {
	w, asks := words(v, c, s)
	if !asks {
		return "", false
	}
	if s.Refused != "" {
		if s.Last != "" {
			w += "\nYour last answer was:\n" + quote(within(maxContext, s.Last)[0])
		}
		w += "\nYour last answer did not do: " + s.Refused + "\nAnswer again, in the form asked for, with all that it has to have.\n"
	}
	return w, true
}

func words(v inquiries.Inquiry, c inquiries.Call, s Surroundings) (text string, ok bool) {
	switch c.Do {
	case protocol.ActFrameBrief:
		return briefWords(v), true
	case protocol.ActFrameContext:
		return contextWords(v, s), true
	case protocol.ActFrameProposals:
		return proposalWords(v, s), true
	case protocol.ActFrameMap:
		return mapWords(v, s), len(s.Agents) > 0
	case protocol.ActFramePreview:
		return previewWords(v), true
	case protocol.ActFrameDetection:
		return detectionWords(v), true
	case protocol.ActFrameExchange, protocol.ActFrameReport, protocol.ActFrameFollowAnswer:
		return peerWords(v, c, s), true
	case protocol.ActFrameFollowUp:
		return followUpWords(v, c), true
	case protocol.ActFrameOutcomes:
		return outcomeWords(v), true
	case protocol.ActFrameSynthesis:
		return synthesisWords(v), true
	case protocol.ActFrameTrace:
		return traceWords(v), true
	case protocol.ActFrameGate:
		return routeWords(v), c.Gate == protocol.GateRoute
	}
	return "", false
}

// Read makes a command from what an agent has answered to a call. `answer` is "" for a call that
// needs no agent. The error says why the answer does not serve.
func Read(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, c inquiries.Call, s Surroundings, answer string) (affair.Command, error) {
	switch c.Do {
	case protocol.ActFrameBrief:
		return readBrief(a, inquiry, answer)
	case protocol.ActFrameContext:
		return readContext(a, inquiry, answer)
	case protocol.ActFrameProposals:
		return readProposals(a, inquiry, answer)
	case protocol.ActFrameEstablished:
		return establish(a, inquiry, v), nil
	case protocol.ActFrameMap:
		return readMap(a, inquiry, v, s, answer)
	case protocol.ActFrameStart:
		m := v.Member(c.Perspective)
		if m == nil {
			return affair.Command{}, fmt.Errorf("nobody investigates %q", c.Perspective)
		}
		member := m.Agent
		if s.Member != (protocol.Address{}) {
			member = s.Member
		}
		orientation := m.Orientation // a later attempt gets the same as the first one
		if m.Prompt == "" {
			orientation = Orientation(v.Brief)
		}
		return a.Start(inquiry, c.Perspective, member, orientation, ""), nil
	case protocol.ActFrameTask:
		return a.Task(inquiry, c.Perspective), nil
	case protocol.ActFramePreview:
		return readPreview(a, inquiry, v, answer)
	case protocol.ActFrameDetection:
		return readDetection(a, inquiry, v, s, answer)
	case protocol.ActFrameTopic:
		return a.Topic(inquiry, c.Tension), nil
	case protocol.ActFrameExchange:
		text, done := cutDone(answer)
		return a.Exchange(inquiry, c.Tension, c.Perspective, text, done), nil
	case protocol.ActFrameReport:
		return readReport(a, inquiry, c, s, answer)
	case protocol.ActFrameFollowUp:
		return a.FollowUp(inquiry, c.Tension, c.Perspective, Bare(answer)), nil
	case protocol.ActFrameFollowAnswer:
		return a.FollowAnswer(inquiry, c.Tension, c.Perspective, Bare(answer)), nil
	case protocol.ActFrameOutcomes:
		return readOutcomes(a, inquiry, v, answer)
	case protocol.ActFrameSynthesis:
		return readSynthesis(a, inquiry, v, answer)
	case protocol.ActFrameTrace:
		return readTrace(a, inquiry, v, answer)
	case protocol.ActFrameGate:
		return readGate(a, inquiry, v, c, answer)
	case protocol.ActFrameShutdown, protocol.ActFrameTeamEnd:
		return a.End(inquiry), nil
	case protocol.ActFrameFindings:
		return findings(a, inquiry, v), nil
	}
	return affair.Command{}, fmt.Errorf("%s is no call of an inquiry", c.Do)
}
