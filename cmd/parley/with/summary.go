package with

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Bounds of a summary, and how long it is waited for if no time is given.
const (
	maxSummaryLines = 5
	maxSummaryBytes = 2000
	maxGiven        = 16 << 10 // bytes of the topic's page that the agent is given
	waitSummary     = time.Minute
)

// summarizer asks an agent to write a checkpoint in its own words (seed,
// "Summarize current state"). If the agent does not answer once, it is not asked again: the end of
// a session must not wait for each of its topics.
type summarizer struct {
	call *call
	why  string // why the agent is not asked any more; "" while it is
}

// text is the text for the checkpoint of a topic. It is "" if the node is to list what was decided.
func (s *summarizer) text(ctx context.Context, t control.Topic) string {
	if s.why != "" {
		return ""
	}
	text, err := s.ask(ctx, t)
	if err != nil {
		s.why = err.Error()
		s.call.view.Err.Printf("%s is not asked to sum it up: %s; a list of what was decided stands in its place\n", term.Line(t.Me), term.Line(s.why))
	}
	return text
}

func (s *summarizer) ask(ctx context.Context, t control.Topic) (string, error) {
	c := s.call
	if c.byAgent {
		return "", fmt.Errorf("it calls itself: --text gives its words")
	}
	a, err := control.ShowAgent.Ask(ctx, c.client, control.AgentRequest{Name: t.Me})
	switch {
	case err != nil && control.AsError(err).Kind == control.KindNotFound:
		return "", fmt.Errorf("this host serves no agent of that name")
	case err != nil:
		return "", err
	case a.Door != configs.DoorExec:
		return "", fmt.Errorf("it asks for its mail itself")
	case a.Paused:
		return "", fmt.Errorf("it is paused")
	}
	page, err := control.PageOfTopic.Ask(ctx, c.client, control.TopicRequest{Viewing: control.Viewing{For: t.Me}, With: t.With, Topic: t.Name})
	if err != nil {
		return "", err
	}
	asked, err := control.Send.Ask(ctx, c.client, control.SendRequest{To: []string{t.Me}, Body: request(t, page.Text)})
	if err != nil {
		return "", err
	}
	wait := cmp.Or(c.wait, waitSummary)
	c.view.Err.Printf("%s is asked to sum %q up, for at most %s\n", term.Line(t.Me), term.Line(t.Name), span.Text(wait))
	reply, err := control.Wait.Ask(ctx, c.client, control.WaitRequest{Re: asked.Path.String(), Within: wait})
	switch {
	case err != nil:
		return "", err
	case reply.Act == protocol.ActFailed:
		return "", fmt.Errorf("its command failed: parley show %s", reply.Path)
	}
	return firstLines(reply.Body)
}

func request(t control.Topic, page string) string {
	if len(page) > maxGiven {
		page = strings.ToValidUTF8(page[:maxGiven], "") + "\n…"
	}
	return fmt.Sprintf("Sum up our topic %q with %s in 3 to %d lines, for a checkpoint that both will read: what holds, what is open, what comes next. "+
		"Answer with these lines alone. This is what the record has of it:\n\n%s", t.Name, t.With, maxSummaryLines, page)
}

// firstLines are the first lines of an answer that say something.
func firstLines(answer string) (string, error) {
	var lines []string
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "```") && len(lines) < maxSummaryLines {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		return "", fmt.Errorf("its answer is empty")
	}
	if len(text) > maxSummaryBytes {
		text = strings.ToValidUTF8(text[:maxSummaryBytes], "") + "…"
	}
	return text, nil
}
