package collab

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// maxNamed is how many items a line of a mechanical summary names.
const maxNamed = 4

// mechanical is a summary of a topic, since its last checkpoint, that a program puts together: what
// holds, what was decided, what is open and what is kept apart. It only lists.
func mechanical(t topics.Topic) string {
	var since time.Time
	if n := len(t.Checkpoints); n > 0 {
		since = t.Checkpoints[n-1].Time
	}
	var holds, open, apart, decided []string
	for _, it := range t.Items {
		name := fmt.Sprintf("[%s] %s", it.Label, it.Text())
		switch {
		case it.Agreed():
			holds = append(holds, name)
		case it.Sort == topic.Question && it.Resolved == nil:
			open = append(open, name)
		case it.Sort == topic.Agreement:
			open = append(open, name+" ("+string(it.Shown().Phase)+" of "+it.Shown().Who+")")
		case it.Sort == topic.Dissent && it.Resolved == nil:
			apart = append(apart, name)
		}
		for _, d := range it.Log {
			if d.Time.After(since) {
				decided = append(decided, fmt.Sprintf("%s: %s %s", d.Who, d.Act, it.Label))
			}
		}
	}
	lines := []string{counted("Agreed", holds), counted("Open", open)}
	if len(decided) > 0 {
		lines = append(lines, counted("Decided since the last checkpoint", decided))
	}
	if len(apart) > 0 {
		lines = append(lines, counted("Differences kept", apart))
	}
	if scored := t.Scored(""); len(scored) > 0 {
		last := scored[len(scored)-1]
		lines = append(lines, fmt.Sprintf("Last sync: raw %s, answered by %s on %s", last.Raw.Percent(), last.By, last.Time.UTC().Format(time.DateOnly)))
	} else {
		lines = append(lines, "Never synced")
	}
	return strings.Join(lines, "\n")
}

// counted is a line that names the first ones of `all`, and says how many there are.
func counted(what string, all []string) string {
	if len(all) == 0 {
		return what + ": nothing"
	}
	text := strings.Join(all[:min(len(all), maxNamed)], "; ")
	if more := len(all) - maxNamed; more > 0 {
		text += fmt.Sprintf("; %d more", more)
	}
	return fmt.Sprintf("%s (%d): %s", what, len(all), text)
}

// checkpointText is what a checkpoint says, and its mark. If `text` is empty, the node lists what
// was decided, and says that it did.
func checkpointText(t topics.Topic, text string) (summary, mark string) {
	if strings.TrimSpace(text) != "" {
		return text, ""
	}
	return mechanical(t), protocol.Mechanical
}
