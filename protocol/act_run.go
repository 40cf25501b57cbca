package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	RunRetry = runWord(ActRunRetry, "RUN-RETRY", "Has an agent work anew on a message that it failed on.",
		RunWord{Of: exampleRun, Agent: "mawjs", Reason: "the model is back"})
	RunDrop = runWord(ActRunDrop, "RUN-DROP", "Puts a message away that an agent failed on.",
		RunWord{Of: exampleRun, Agent: "mawjs"})
)

// RunHeld and TalkHeld are the acts by which a host says, once, that messages wait because agents
// have had an agent run too often (R13). Resume lets the waiting messages go on. In `because`, a
// message of these acts also names the first message that waits. So it is part of that conversation
// without being an answer.
var (
	RunHeld = runWord(ActRunHeld, "RUN-HELD", "Says that messages for an agent wait, because agents have had it run too often in an hour.",
		RunWord{Of: exampleRun, Agent: "mawjs", Reason: "agents have had it run 60 times within an hour (max_runs is 60)"})
	TalkHeld = runWord(ActTalkHeld, "TALK-HELD", "Says that a conversation waits for a human, because agents have had each other run too often in it.",
		RunWord{Of: exampleRun, Agent: "mawjs", Reason: "agents have had each other run 30 times in this conversation since a human spoke in it (max_conversation_runs is 30)"})
	Resume = runWord(ActResume, "RUN-RESUME", "Lets a conversation of agents go on: a human has spoken in it.",
		RunWord{Of: exampleRun, Agent: "mawjs", Reason: "they are getting somewhere"})
)

const agentField = " | agent: "

var exampleRun, _ = ParsePath("7a1c3b8e-52d6-4f7a-9a0e-0d8f6b2c4e10/2026/05/23/190100000Z-b2c3d4e5.md")

func runWord(act Act, heading, doc string, example RunWord) WordAct[RunWord] {
	return NewAct(ActSpec{Act: act, Heading: heading, Class: ClassNotice, Doc: doc}, parseRunWord, func(w RunWord) string { return formatRunWord(heading, w) }, example)
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

// RunClaimed says that the host which signs it has claimed an agent's work on a message,
// and does it from now on (R7).
type RunClaimed struct {
	Of    Path
	Agent string
	Epoch int  // how often somebody had the message tried again before
	From  Name // the host that was to do the work: the signing host itself, unless the work was another host's
}

// ActRunClaim is the act of a RunClaimed.
const ActRunClaim Act = "run-claim"

// RunClaim is the act by which a host takes the work on a message, if several hosts serve its agent.
var RunClaim = NewAct(ActSpec{
	Act: ActRunClaim, Heading: "RUN-CLAIM", Class: ClassNotice,
	Doc: "Says which host has claimed an agent's work on a message.",
}, parseRunClaimed, formatRunClaimed, RunClaimed{Of: exampleRun, Agent: "mawjs", From: "white"})

// ClaimName is the name at the remote of the claim of an agent's work on a message. `epoch` is how
// often somebody has had the message tried again: each time, it is another claim (R7).
func ClaimName(p Path, agent string, epoch int) string {
	sum := sha256.Sum256([]byte(p.String() + "\n" + agent))
	return fmt.Sprintf("%x-%d", sum[:20], epoch)
}

func formatRunClaimed(c RunClaimed) string {
	return NormalBody(fmt.Sprintf("%s\nepoch: %d\nhost: %s\n", formatRunWord("RUN-CLAIM", RunWord{Of: c.Of, Agent: c.Agent}), c.Epoch, c.From))
}

func parseRunClaimed(body string) (c RunClaimed, err error) {
	w, err := parseRunWord(body)
	if err != nil {
		return RunClaimed{}, err
	}
	c.Of, c.Agent = w.Of, w.Agent
	_, fields, _ := strings.Cut(body, "\n")
	said := false
	for line := range strings.SplitSeq(strings.ReplaceAll(fields, "\r\n", "\n"), "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "epoch":
			if c.Epoch, err = strconv.Atoi(value); err != nil || c.Epoch < 0 {
				return RunClaimed{}, fmt.Errorf("%q is no epoch", value)
			}
			said = true
		case "host":
			if c.From, err = ParseName(value); err != nil {
				return RunClaimed{}, err
			}
		}
	}
	if !said || c.From == "" {
		return RunClaimed{}, errors.New("it does not say which epoch of which host's work is claimed")
	}
	return c, nil
}

// Failure says why an agent gives no answer, in the body of a message with the act `failed` (R16).
type Failure struct {
	Problem  string // who failed, and how: "mawjs: the command ended with exit code 1"
	Attempts int    // how often the agent's command was started for the message; 0 if it never will be
	Tier     string // of the last attempt
	Ran      time.Duration
	Text     string // what else there is to say, such as what the command had printed
}

// ActFailed is the act of a Failure.
const ActFailed Act = "failed"

// Failed is the act by which an agent's host says that there will be no answer. A Failure without
// attempts can also say why something else ended, such as a conversation.
var Failed = NewAct(ActSpec{
	Act: ActFailed, Class: ClassNotice, Doc: "An answer that says why there is none.",
}, parseFailure, formatFailure, Failure{
	Problem: "mawjs: the command ended with exit code 1: no such model", Attempts: 3, Tier: "opus", Ran: 1200 * time.Millisecond,
})

func formatFailure(f Failure) string {
	problem, more, _ := strings.Cut(f.Problem, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "FAILED | %s\nattempts: %d\n", problem, f.Attempts)
	if f.Tier != "" {
		fmt.Fprintf(&b, "tier: %s\n", oneLine(f.Tier))
	}
	if f.Ran > 0 {
		fmt.Fprintf(&b, "ran: %s\n", f.Ran)
	}
	for _, text := range []string{more, f.Text} {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	return NormalBody(b.String())
}

// parseFailure reads fields only before the first empty line. All that follows is text, so that
// nothing that a command printed can pass for a field.
func parseFailure(body string) (Failure, error) {
	head, text, _ := strings.Cut(body, "\n\n")
	first, fields, _ := strings.Cut(head, "\n")
	f, counted := Failure{Problem: strings.TrimPrefix(first, "FAILED | "), Text: text}, false
	for line := range strings.SplitSeq(fields, "\n") {
		var err error
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "attempts":
			f.Attempts, err = strconv.Atoi(value)
			counted = true
		case "tier":
			f.Tier = value
		case "ran":
			f.Ran, err = time.ParseDuration(value)
		}
		if err != nil {
			return Failure{}, fmt.Errorf("line %q: %w", line, err)
		}
	}
	if !counted || f.Attempts < 0 {
		return Failure{}, errors.New("it does not say how often the agent's command was started")
	}
	return f, nil
}
