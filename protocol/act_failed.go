package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
