package inquiries

import "github.com/parleyfleet/parley/protocol"

// Line is one thing that must hold for every inquiry, by the checklist.
type Line struct {
	ID   string // such as F42
	Text string
	// Stages are those at which it is checked: acts, gates and the stages below. An inquiry without
	// any of them has not reached the line. A line without stages is not checked.
	Stages []string
}

// Stages of an inquiry that are no act.
const (
	stageAccepted  = "accepted"  // the human accepted the brief beforehand
	stageAgain     = "again"     // the brief was modified
	stageNamed     = "named"     // the human named perspectives
	stageSeveral   = "several"   // several agents fit
	stageDeeper    = "deeper"    // a member goes deeper
	stageInput     = "input"     // the human added something
	stageWithdrawn = "withdrawn" // the human withdrew
)

// Lines are all lines that the checklist calls provable, in their order.
func Lines() []Line {
	line := func(id, text string, stages ...protocol.Act) Line {
		l := Line{ID: id, Text: text}
		for _, s := range stages {
			l.Stages = append(l.Stages, string(s))
		}
		return l
	}
	gate := func(name string) protocol.Act { return protocol.Act("gate " + name) }
	return []Line{
		line("F1", "the question is kept byte for byte, and every later use has its hash", protocol.ActFrame),
		line("F2", "it is known where the question is from", protocol.ActFrame),
		line("F3", "the brief has intent, deliverable and scope", protocol.ActFrameBrief),
		line("F4", "the brief is shown before its gate, which has no context", gate(protocol.GateBrief), protocol.ActFrameBrief),
		line("F5", "nothing is gathered before the brief is confirmed", protocol.ActFrameContext),
		line("F6", "the brief's gate has exactly its options", gate(protocol.GateBrief)),
		line("F7", "brief and mode are asked in one interaction", gate(protocol.GateBrief)),
		line("F9", "a modification asks for the brief alone, and the mode stays", stageAgain),
		line("F10", "the brief is accepted beforehand only by a human who gave the question", stageAccepted),
		line("F11", "perspectives of an earlier inquiry can be taken up, and its gaps are told"),
		line("F12", "the context is recorded before perspectives are proposed", protocol.ActFrameProposals),
		line("F13", "the context is in no member's prompt", protocol.ActFrameStart),
		line("F14", "perspectives are always chosen at a gate", protocol.ActFrameMap, protocol.ActFrameEstablished),
		line("F15", "several can be chosen there", gate(protocol.GatePerspectives)),
		line("F16", "each option is one perspective", protocol.ActFrameProposals),
		line("F17", "what the human named is chosen and is no option", stageNamed),
		line("F18", "what the human named stands in the text of the gate"),
		line("F19", "with what the human named there is a new one at least", stageNamed),
		line("F20", "there are two perspectives at least", protocol.ActFrameProposals),
		line("F21", "an inquiry has two perspectives, or its gate", protocol.ActFrameMap),
		line("F24", "that none was found is said with reasons, and at a gate", gate(protocol.GateZero)),
		line("F25", "what recommends ends with its trace and its tier, without a team", protocol.ActFrameEstablished),
		line("F26", "several agents that fit are a gate, one or none are not", protocol.ActFrameMap),
		line("F27", "who investigates changes no perspective", protocol.ActFrameMap),
		line("F28", "there is one member for each perspective", protocol.ActFrameStart),
		line("F29", "each has one task, with question and scope", protocol.ActFrameTask),
		line("F30", "a member's prompt follows from brief, perspective and question alone", protocol.ActFrameStart),
		line("F31", "the question is the same for all", protocol.ActFrameStart),
		line("F32", "the orientation is words of the brief", protocol.ActFrameStart),
		line("F33", "the four sections and the demand for evidence are in the prompt", protocol.ActFrameStart),
		line("F34", "the form of the report and the kinds of tension are not", protocol.ActFrameStart),
		line("F35", "it forbids to talk to others unasked", protocol.ActFrameStart),
		line("F36", "the coordinator analyses nothing", protocol.ActFrameMap, protocol.ActFrameStart),
		line("F37", "the coordinator writes to no member who works", protocol.ActFrameSignal),
		line("F39", "it goes on when all have signalled", protocol.ActFrameReveal),
		line("F40", "no time ends the waiting, and nothing goes on without a member", protocol.ActFrameReveal),
		line("F41", "no result is left out without a human", protocol.ActFramePreview),
		line("F42", "the hash of each result is there before the text of any", protocol.ActFrameReveal),
		line("F43", "the team is kept until the human ends it", protocol.ActFrameShutdown),
		line("F44", "each result is shown by itself before anything is made of them", protocol.ActFramePreview, protocol.ActFrameDetection),
		line("F46", "tensions are looked for before the synthesis", protocol.ActFrameSynthesis),
		line("F47", "tensions rest on exact quotes", protocol.ActFrameDetection),
		line("F48", "that none was found is said for all kinds", protocol.ActFrameDetection),
		line("F49", "peers are not told the kind of tension", protocol.ActFrameTopic),
		line("F50", "peers are addressed by their exact names", protocol.ActFrameTopic),
		line("F51", "topic and form of the report reach both", protocol.ActFrameTopic),
		line("F52", "a pair has three messages at most", protocol.ActFrameExchange),
		line("F53", "a pair may stop early, and then says no more", protocol.ActFrameExchange),
		line("F54", "what peers say is their own", protocol.ActFrameExchange),
		line("F55", "each peer reports four fields", protocol.ActFrameReport),
		line("F56", "only who reports divergence is asked again, once", protocol.ActFrameReport),
		line("F57", "the coordinator is silent after the answers", protocol.ActFrameReport),
		line("F58", "what came of each dialogue is shown", protocol.ActFrameOutcomes),
		line("F59", "the synthesis reads results, reports and the human's input alone", protocol.ActFrameSynthesis),
		line("F60", "the synthesis has its four sections", protocol.ActFrameSynthesis),
		line("F61", "each claim has a basis, whose words stand there", protocol.ActFrameSynthesis),
		line("F62", "the coordinator's own joining is marked", protocol.ActFrameSynthesis),
		line("F63", "agreement without dialogue is independent convergence", protocol.ActFrameSynthesis),
		line("F64", "each claim says whether it is from isolation or dialogue", protocol.ActFrameSynthesis),
		line("F66", "the synthesis is shown whole before it is asked how to go on", protocol.ActFrameSynthesis),
		line("F67", "no gate carries context", protocol.ActFrameGate),
		line("F71", "the options of each gate are exactly the defined ones", protocol.ActFrameGate),
		line("F73", "there are four ways to go on", gate(protocol.GateRoute)),
		line("F74", "each way is concrete; that of withdrawing is fixed", gate(protocol.GateRoute)),
		line("F75", "input gives another synthesis, without another inquiry", stageInput),
		line("F76", "an extension is a new perspective, a deepening or a review", gate(protocol.GateExtend)),
		line("F77", "what a deepening carries over is recorded", stageDeeper),
		line("F78", "the trace is shown before a wrap-up ends", protocol.ActFrameTrace),
		line("F79", "only a wrap-up asks what is preserved, and only that is kept", protocol.ActFrameFindings, stageWithdrawn),
		line("F80", "answer, shutdown, end of the team, findings: in this order", protocol.ActFrameFindings),
		line("F81", "who withdraws keeps no findings", stageWithdrawn),
		line("F82", "only a human ends it at once", protocol.ActFrame),
		line("F83", "coverage gaps are the limits that nobody addressed", protocol.ActFrameTrace),
		line("F84", "it goes on until it is wrapped up, withdrawn or ended", protocol.ActFrame),
	}
}
