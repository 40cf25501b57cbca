package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// RunWord is what somebody says of one agent's work on a message, or wants to be done about that
// work. It does not name the message in `re`, because it is no answer to it.
type RunWord struct {
	Of     Path
	Agent  string
	Reason string // in one line; may be empty
}

// The acts of a RunWord.
const (
	ActRunRetry Act = "run-retry"
	ActRunDrop  Act = "run-drop"
	ActRunHeld  Act = "run-held"
	ActTalkHeld Act = "talk-held"
	ActResume   Act = "run-resume"
)

// RunRetry and RunDrop are the acts by which somebody takes a message that an agent
// failed on out of the dead letters.
var (
	RunRetry = runWord(ActSpec{
		Act: ActRunRetry, Heading: "RUN-RETRY", Class: ClassNotice,
		Doc: "Has an agent work anew on a message that it failed on.",
	}, RunWord{Of: exampleRun, Agent: "mawjs", Reason: "the model is back"})
	RunDrop = runWord(ActSpec{
		Act: ActRunDrop, Heading: "RUN-DROP", Class: ClassNotice,
		Doc: "Puts a message away that an agent failed on.",
	}, RunWord{Of: exampleRun, Agent: "mawjs"})
)

// RunHeld and TalkHeld are the acts by which a host says, once, that messages wait because agents
// have had an agent run too often (R13). Resume lets the waiting messages go on. In `because`, a
// message of these acts also names the first message that waits. So it is part of that conversation
// without being an answer.
var (
	RunHeld = runWord(ActSpec{
		Act: ActRunHeld, Heading: "RUN-HELD", Class: ClassNotice,
		Doc: "Says that messages for an agent wait, because agents have had it run too often in an hour.",
	}, RunWord{Of: exampleRun, Agent: "mawjs", Reason: "agents have had it run 60 times within an hour (max_runs is 60)"})
	TalkHeld = runWord(ActSpec{
		Act: ActTalkHeld, Heading: "TALK-HELD", Class: ClassNotice,
		Doc: "Says that a conversation waits for a human, because agents have had each other run too often in it.",
	}, RunWord{Of: exampleRun, Agent: "mawjs", Reason: "agents have had each other run 30 times in this conversation since a human spoke in it (max_conversation_runs is 30)"})
	Resume = runWord(ActSpec{
		Act: ActResume, Heading: "RUN-RESUME", Class: ClassNotice,
		Doc: "Lets a conversation of agents go on: a human has spoken in it.",
	}, RunWord{Of: exampleRun, Agent: "mawjs", Reason: "they are getting somewhere"})
)

const agentField = " | agent: "

var exampleRun, _ = ParsePath("7a1c3b8e-52d6-4f7a-9a0e-0d8f6b2c4e10/2026/05/23/190100000Z-b2c3d4e5.md")

func runWord(spec ActSpec, example RunWord) WordAct[RunWord] {
	return NewAct(spec, parseRunWord, func(w RunWord) string { return formatRunWord(spec.Heading, w) }, example)
}

func formatRunWord(heading string, w RunWord) string {
	text := fmt.Sprintf("%s | of: %s%s%s\n", heading, w.Of, agentField, oneLine(w.Agent))
	if w.Reason != "" {
		text += "reason: " + oneLine(w.Reason) + "\n"
	}
	return NormalBody(text)
}

func parseRunWord(body string) (w RunWord, err error) {
	first, rest, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	_, fields, _ := strings.Cut(first, " | of: ")
	at := strings.LastIndex(fields, agentField)
	if at < 0 || strings.TrimSpace(fields[at+len(agentField):]) == "" {
		return RunWord{}, errors.New("it names no agent")
	}
	w.Agent = strings.TrimSpace(fields[at+len(agentField):])
	if w.Of, err = ParsePath(fields[:at]); err != nil {
		return RunWord{}, fmt.Errorf("it names no message: %w", err)
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if reason, ok := strings.CutPrefix(line, "reason: "); ok {
			w.Reason = strings.TrimSpace(reason)
		}
	}
	return w, nil
}
