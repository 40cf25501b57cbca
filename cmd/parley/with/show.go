package with

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// coloured is a text in the colour of a decayed score. Divergence is cyan, never red.
func (c *call) coloured(colour topic.Colour, text string) string {
	return c.view.Out.Colour(string(colour), text)
}

// runRelation shows what there is with a partner (seed, "Show Relationship").
func runRelation(ctx context.Context, c *call) error {
	r, err := control.ShowRelation.Ask(ctx, c.client, control.RelationRequest{Viewing: c.viewing(), With: c.partner()})
	return c.view.Show(r, err, func() {
		out, with := c.view.Out, term.Line(r.With)
		if len(r.Topics) == 0 {
			out.Printf("No active collaborations with %s.\n", with)
			c.view.Next(c.command(term.Shell(r.With), `"topic"`), "start one")
			c.because(r.Me, r.Chosen)
			return
		}
		out.Printf("🤝 Collaborations with %s\n\n", with)
		c.topicTable(r.Topics, false)
		out.Printf("\nRelationship:\n")
		label := func(name, value string) { out.Printf("  %s %s\n", term.Pad(name+":", 12), value) }
		label("Since", c.view.At(r.Since, time.DateOnly))
		label("Decay", fmt.Sprintf("λ=%.2f (%s)", r.Topics[0].Lambda.Value, term.Line(string(r.Topics[0].Tier))))
		label("Trust", fmt.Sprintf("%s (%s, %s)", strings.ToUpper(string(r.Trust)), cli.Count(r.Sessions, "session"), cli.Count(r.Messages, "message")))
		label("Teach-backs", fmt.Sprintf("%d received, %d given", r.TeachReceived, r.TeachGiven))
		if r.Dissents > 0 {
			label("Differences", cli.Count(r.Dissents, "difference")+" kept")
		}
		style, prose := styleIn(r.Prose)
		if style != "" {
			label("Style", term.Line(style))
		}
		label("Reached by", transportText(r))
		if prose != "" {
			out.Printf("\nFrom %s's context.md:\n", term.Line(r.Me))
			for line := range strings.SplitSeq(prose, "\n") {
				out.Printf("  %s\n", term.Line(line))
			}
		}
		c.because(r.Me, r.Chosen)
	})
}

// styleIn takes from a person's prose what it says of how the partner works, as one line. `rest` is
// what else is in that prose.
func styleIn(prose string) (style, rest string) {
	var styles, others []string
	within := false
	for line := range strings.SplitSeq(prose, "\n") {
		if strings.HasPrefix(line, "#") {
			within = line == "## Working Style"
		}
		switch {
		case !within:
			others = append(others, line)
		case !strings.HasPrefix(line, "#"):
			styles = append(styles, line)
		}
	}
	return strings.Join(styles, " "), strings.Join(others, "\n")
}

func transportText(r control.Relation) string {
	switch r.Transport {
	case "wormhole":
		return "wormhole, on " + r.Host
	case "hey":
		return "hey, on this host"
	}
	if r.Transport == "issue" {
		return "an issue alone: no host serves it"
	}
	if r.Node != "" {
		return "the record alone: no host serves it, contacts.json has it on " + term.Line(r.Node)
	}
	return "the record alone: no host serves it"
}

// topicTable lists topics as the seed does. With `partner`, it shows the partner's names.
func (c *call) topicTable(list []control.Topic, partner bool) {
	t := term.Table{Heading: []string{"Topic", "Anchor", "Last Sync", "Raw", "Decay", "λ", "Status"}, Flexible: 0}
	if partner {
		t = term.Table{Heading: []string{"Partner", "Topic", "Anchor", "Last Sync", "Raw", "Decay", "λ", "Status"}, Flexible: 1}
	}
	t.Style = func(row int, cell string) string { return c.coloured(list[row].Colour, cell) }
	for _, topic := range list {
		status := string(topic.Status)
		if topic.Mechanical {
			status += " (mechanical)"
		}
		if topic.Unverified {
			status += " (unverified)"
		}
		row := []string{
			term.Line(topic.Name), cli.Dash(topic.Anchor), c.view.Age(topic.LastSync), cli.Percent(topic.Raw), cli.Percent(topic.Decayed),
			fmt.Sprintf("%.2f", topic.Lambda.Value), status,
		}
		if partner {
			row = append([]string{term.Line(topic.With)}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	c.view.Table(t)
}

// showTopic shows one topic (seed, "Load or Create Topic").
func (c *call) showTopic(t control.Topic) error {
	if c.view.JSON {
		return c.view.WriteJSON(t)
	}
	out := c.view.Out
	out.Printf("🤝 work-with %s: %q\n\n", term.Line(t.With), term.Line(t.Name))
	label := func(name, value string) { out.Printf("  %s %s\n", term.Pad(name+":", 11), value) }
	if t.AnchorURL != "" {
		label("Anchor", term.Line(t.AnchorURL))
	} else {
		label("Anchor", cli.Dash(t.Anchor))
	}
	label("Last sync", c.view.Age(t.LastSync))
	label("Score", c.score(t))
	for _, closed := range t.Closed {
		label("Closed", strings.TrimSuffix(fmt.Sprintf("by %s, %s: %s", term.Line(closed.By), c.view.Age(closed.Time), term.Line(closed.Text)), ": "))
	}
	c.section("Agreements", t.Items, topic.Agreement, func(it control.TopicItem) string {
		mark := "[spec]"
		if it.Agreed {
			mark = "✓ ACCEPTED:"
		}
		return fmt.Sprintf("[%s] %s %s%s", it.Label, mark, term.Line(it.Text), c.aside(t, it))
	})
	c.section("Pending", t.Items, topic.Question, func(it control.TopicItem) string {
		if it.Resolved != nil {
			return ""
		}
		return fmt.Sprintf("[%s] %s", it.Label, term.Line(it.Text))
	})
	c.waits(t)
	c.section("Teach-backs", t.Items, topic.Lesson, func(it control.TopicItem) string {
		return fmt.Sprintf("[%s] %s learned: %s", it.Label, term.Line(it.By), term.Line(it.Text))
	})
	c.section("Differences, kept", t.Items, topic.Dissent, func(it control.TopicItem) string {
		if it.Resolved != nil {
			return ""
		}
		return fmt.Sprintf("[%s] %s: %s", it.Label, term.Line(it.By), term.Line(it.Text))
	})
	c.lastCheckpoint(t)
	c.talk(t)
	if len(t.Void) > 0 {
		out.Printf("\nDoes not count:\n")
		for _, v := range t.Void {
			out.Printf("  %s of %s, %s: %s\n", v.Act, term.Line(v.By), c.view.Age(v.Time), term.Line(v.Why))
		}
	}
	out.Printf("\n")
	c.view.Next(c.command(term.Shell(t.With), term.Shell(t.Name), "--sync"), "how far you are in sync")
	return nil
}

// maxTalk is how many of the messages between the two are named.
const maxTalk = 3

// talk names the last messages that the two have written to each other meanwhile (seed,
// "/talk-to Integration").
func (c *call) talk(t control.Topic) {
	if len(t.Exchanges) == 0 {
		return
	}
	c.view.Out.Printf("\nWritten beside it, the last ones:\n")
	for _, w := range t.Exchanges[max(0, len(t.Exchanges)-maxTalk):] {
		c.view.Out.Printf("  %s, %s: %s\n", term.Line(w.By), c.view.Age(w.Time), c.view.Command("parley show "+c.view.Named(w.Path.String())))
	}
}

func (c *call) score(t control.Topic) string {
	if t.Raw == (protocol.Score{}) {
		return "— (never synced)"
	}
	text := fmt.Sprintf("raw %s → decayed %s (λ=%.2f %s) %s", cli.Percent(t.Raw), c.coloured(t.Colour, cli.Percent(t.Decayed)), t.Lambda.Value, t.Tier, t.Status)
	if line := cli.Sparkline(t.Sparkline); line != "" {
		text += "  " + line
	}
	if t.Mechanical {
		text += "  mechanical"
	}
	if t.Unverified {
		text += "  unverified: no host signed it"
	}
	return text
}

// section lists the items of one sort, as the seed does.
func (c *call) section(title string, items []control.TopicItem, sort topic.Sort, line func(control.TopicItem) string) {
	var lines []string
	for _, it := range items {
		if it.Sort == sort {
			if text := line(it); text != "" {
				lines = append(lines, text)
			}
		}
	}
	if len(lines) == 0 {
		if sort != topic.Agreement && sort != topic.Question {
			return
		}
		lines = []string{"(none)"}
	}
	c.view.Out.Printf("\n%s:\n", title)
	for _, text := range lines {
		c.view.Out.Printf("  - %s\n", text)
	}
}

// aside is what else one should know about an agreement: who has not accepted it, who wrote without
// a key, and who was asked whether it still holds and has not answered yet.
func (c *call) aside(t control.Topic, it control.TopicItem) string {
	var words []string
	for _, st := range it.Stands {
		if st.Phase != topic.Accepted {
			words = append(words, term.Line(st.Who)+": "+string(st.Phase))
		} else if !st.Signed {
			words = append(words, term.Line(st.Who)+" unverified")
		}
	}
	for _, v := range it.Validations {
		switch {
		case v.Stale:
			words = append(words, term.Line(v.Of)+" does not say whether it still holds")
		case v.Answer.IsZero():
			words = append(words, term.Line(v.Of)+" is asked whether it still holds")
		}
	}
	if len(words) == 0 {
		return ""
	}
	return c.view.Out.Dim("  (" + strings.Join(words, ", ") + ")")
}

func (c *call) waits(t control.Topic) {
	for i, check := range t.Checks {
		later := func(other control.TopicCheck) bool { return other.By == check.By && !other.Answer.IsZero() }
		switch {
		case !check.Answer.IsZero(), slices.ContainsFunc(t.Checks[i+1:], later): // it is answered, if not at once
		case !check.Prose.IsZero():
			c.view.Out.Printf("  - answered in prose by %s: its claims stay unanswered\n", term.Line(check.Of))
		case check.TimedOut:
			c.view.Out.Printf("  - ⏱ no answer of %s to the sync-check, %s: unknown, not a no\n", term.Line(check.Of), c.view.Age(check.Time))
		default:
			c.view.Out.Printf("  - waiting for %s's response on the sync-check, %s\n", term.Line(check.Of), c.view.Age(check.Time))
		}
	}
	for _, join := range t.Joins {
		c.view.Out.Printf("  - %s asks to take part\n", term.Line(join.By))
	}
}

func (c *call) checkpointLines(cp control.TopicCheckpoint) {
	for line := range strings.Lines(cp.Summary) {
		c.view.Out.Printf("  %s\n", term.Line(strings.TrimRight(line, "\n")))
	}
}

func (c *call) lastCheckpoint(t control.Topic) {
	if len(t.Checkpoints) == 0 {
		return
	}
	cp := t.Checkpoints[len(t.Checkpoints)-1]
	state := "partner: " + string(cp.State)
	if cp.State == protocol.ActRatified {
		state = "ratified, " + c.view.Age(cp.Ratified)
	}
	if cp.Mechanical {
		state += ", mechanical"
	}
	c.view.Out.Printf("\nLast checkpoint, by %s, %s (%s):\n", term.Line(cp.By), c.view.Age(cp.Time), state)
	c.checkpointLines(cp)
	for _, said := range cp.Verdicts {
		if said.Text != "" {
			c.view.Out.Printf("  %s: %s\n", term.Line(said.By), term.Line(said.Text))
		}
	}
}
