package with

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// runList lists all active collaborations (seed, "--list").
func runList(ctx context.Context, c *call) error {
	list, err := c.topics(ctx, false)
	switch {
	case err != nil:
		return err
	case c.view.JSON:
		return c.view.WriteJSON(list)
	case len(list.Topics) == 0:
		c.view.Out.Printf("No active collaborations.\n")
		c.view.Next(c.command("mawjs", `"topic"`), "start one")
		return nil
	}
	c.view.Out.Printf("🤝 Active Collaborations\n\n")
	t := term.Table{Heading: []string{"Oracle", "Topic", "Anchor", "Score", "Decayed", "Last Sync"}, Flexible: 1, Style: func(row int, cell string) string { return c.coloured(list.Topics[row].Colour, cell) }}
	partners := map[string]bool{}
	for _, topic := range list.Topics {
		partners[topic.With] = true
		t.Rows = append(t.Rows, []string{
			term.Line(topic.With), term.Line(topic.Name), cli.Dash(topic.Anchor), cli.Percent(topic.Raw), cli.Percent(topic.Decayed), c.view.Age(topic.LastSync)})
	}
	c.view.Table(t)
	c.view.Out.Printf("\nTotal: %s with %s\n", cli.Count(len(list.Topics), "collaboration"), cli.Count(len(partners), "oracle"))
	c.because(list.Me, list.Chosen)
	return nil
}

// topics returns the topics of a list; if a topic is named, only that one.
func (c *call) topics(ctx context.Context, items bool) (control.TopicList, error) {
	list, err := control.Topics.Ask(ctx, c.client, control.TopicsRequest{Viewing: c.viewing(), With: c.partner(), Items: items})
	if err != nil || c.topic() == "" {
		return list, err
	}
	slug, err := protocol.SlugOf(c.topic())
	if err != nil {
		return list, control.Errorf(control.KindUsage, "", "cannot find the topic: %v", err)
	}
	list.Topics = slices.DeleteFunc(list.Topics, func(t control.Topic) bool { return t.Slug != slug.String() })
	if len(list.Topics) == 0 {
		return list, control.Errorf(control.KindNotFound, "parley work-with --list", "no topic %q with %s is active", c.topic(), c.partner())
	}
	return list, nil
}

// runStatus lists a partner's topics with phases and pending items (R32).
func runStatus(ctx context.Context, c *call) error {
	list, err := c.topics(ctx, true)
	switch {
	case err != nil:
		return err
	case c.view.JSON:
		return c.view.WriteJSON(list)
	case len(list.Topics) == 0:
		c.view.Out.Printf("No active collaborations%s.\n", withPartner(c))
		return nil
	}
	for i, topic := range list.Topics {
		if i > 0 {
			c.view.Out.Printf("\n")
		}
		c.view.Out.Printf("%s (↔ %s)  %s\n", c.view.Out.Bold(term.Line(topic.Name)), term.Line(topic.With), c.score(topic))
		for _, it := range topic.Items {
			switch {
			case it.Sort == "agreement":
				c.view.Out.Printf("  %s %s %s%s\n", term.Pad(it.ID, 4), mark(it.Phase), term.Line(it.Text), c.aside(topic, it))
			case it.Sort == "question" && it.Resolved == nil:
				c.view.Out.Printf("  %s · open      %s\n", term.Pad(it.ID, 4), term.Line(it.Text))
			}
		}
	}
	c.because(list.Me, list.Chosen)
	return nil
}

func withPartner(c *call) string {
	if c.partner() == "" {
		return ""
	}
	return " with " + term.Line(c.partner())
}

// mark is a phase with its sign (seed, "--state").
func mark(phase string) string {
	signs := map[string]string{"accept": "✓", "reject": "✗", "defer": "⏸", "timeout": "⏱", "pending": "·"}
	return signs[phase] + " " + term.Pad(phase, 8)
}

// runState shows how each participant stands on each item (seed, "--state"; R60).
func runState(ctx context.Context, c *call) error {
	if err := c.needsPartner("state"); err != nil {
		return err
	}
	topic, err := control.ShowTopic.Ask(ctx, c.client, control.TopicRequest{Viewing: c.viewing(), With: c.partner(), Topic: c.topic()})
	switch {
	case err != nil:
		return err
	case c.view.JSON:
		return c.view.WriteJSON(topic)
	}
	out := c.view.Out
	out.Printf("🗂 %s (↔ %s)\n\n", topic.Slug, term.Line(topic.With))
	t := term.Table{Heading: []string{"ID", "Who", "Phase", "Decided", "Text"}, Flexible: 4}
	var notes []string
	for _, it := range topic.Items {
		if it.Sort != "agreement" {
			continue
		}
		for i, st := range it.Stands {
			id, text := it.ID, it.Text
			if i > 0 {
				id, text = "", ""
			}
			decided := st.Decided
			if st.Phase == "timeout" {
				decided = st.TimeoutAt
			}
			t.Rows = append(t.Rows, []string{id, term.Line(st.Who), mark(st.Phase), c.view.StampOrEmpty(decided), term.Line(text)})
			if note := c.noteOf(topic, it, st); note != "" {
				notes = append(notes, note)
			}
		}
		for _, v := range it.Validations {
			if v.Stale {
				notes = append(notes, fmt.Sprintf("%s, %s: asked whether it still holds %s, and silent: --revoke %s or --re-accept %s says.", it.ID, term.Line(v.Of), c.view.Age(v.Time), it.ID, it.ID))
			}
		}
	}
	if len(t.Rows) == 0 {
		out.Printf("Nothing is proposed yet.\n")
		c.view.Next(c.command(term.Shell(topic.With), term.Shell(topic.Name), `--agree "text"`), "propose something")
		return nil
	}
	c.view.Table(t)
	if len(notes) > 0 {
		out.Printf("\n")
	}
	for _, note := range notes {
		out.Printf("%s\n", note)
	}
	return nil
}

// noteOf is what else one should know about how somebody stands on an item.
func (c *call) noteOf(topic control.Topic, it control.TopicItem, st control.TopicStand) string {
	head := fmt.Sprintf("%s, %s: ", it.ID, term.Line(st.Who))
	reason := ""
	if st.Reason != "" {
		reason = "  reason: " + term.Line(st.Reason)
	}
	switch st.Phase {
	case "defer":
		return fmt.Sprintf("%suntil %s (%s)%s", head, c.view.At(st.Until, time.DateOnly), inDays(st.Until.Sub(c.view.Now())), reason)
	case "timeout":
		return fmt.Sprintf("%sUnknown state, not rejection. %s to revisit.", head, c.command(term.Shell(topic.With), term.Shell(topic.Slug), "--sync"))
	case "reject":
		return head + "rejected" + reason
	case "pending":
		switch {
		case st.Previous == "accept" && st.Path == "": // nothing that they wrote came after it
			return head + "had accepted other words; these are new: " + term.Line(it.Text)
		case st.Previous == "accept":
			return head + "was accepted and taken back" + reason
		}
	}
	return ""
}

// inDays is how much longer something lasts: "3d", "5h", "20 min".
func inDays(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	}
	return fmt.Sprintf("%d min", max(0, int(d/time.Minute)))
}

// runPending lists what waits for my decision, in all topics (R60: pending means that I have to
// decide).
func runPending(ctx context.Context, c *call) error {
	return c.items(ctx, "Nothing awaits a decision of %s.\n", "⏳ Awaiting a decision of %s\n\n", func(st control.TopicStand) bool {
		return st.Phase == "pending" || st.Phase == "timeout" && st.Previous != "defer"
	})
}

// runDeferred lists what I have deferred, and what is due again.
func runDeferred(ctx context.Context, c *call) error {
	return c.items(ctx, "%s has put nothing off.\n", "⏸ Put off by %s\n\n", func(st control.TopicStand) bool {
		return st.Phase == "defer" || st.Phase == "timeout" && st.Previous == "defer"
	})
}

// items lists my agreements for which `is` returns true, the oldest first.
func (c *call) items(ctx context.Context, none, title string, is func(control.TopicStand) bool) error {
	list, err := c.topics(ctx, true)
	if err != nil {
		return err
	}
	shown := []control.Topic{}
	t := term.Table{Heading: []string{"Partner", "Topic", "ID", "Phase", "When", "Text"}, Flexible: 5}
	for _, topic := range list.Topics {
		items := []control.TopicItem{}
		for _, it := range topic.Items {
			for _, st := range it.Stands {
				if st.Who != list.Me || !is(st) {
					continue
				}
				items = append(items, it)
				when := "by " + c.view.At(st.AnswerBy, time.DateOnly)
				switch {
				case !st.Until.IsZero():
					when = "until " + c.view.At(st.Until, time.DateOnly)
				case st.Phase == "timeout":
					when = c.view.Age(st.TimeoutAt)
				}
				t.Rows = append(t.Rows, []string{term.Line(topic.With), term.Line(topic.Name), it.ID, mark(st.Phase), when, term.Line(it.Text)})
			}
		}
		if len(items) > 0 {
			topic.Items = items
			shown = append(shown, topic)
		}
	}
	list.Topics = shown
	switch {
	case c.view.JSON:
		return c.view.WriteJSON(list)
	case len(t.Rows) == 0:
		c.view.Out.Printf(none, term.Line(list.Me))
		return nil
	}
	c.view.Out.Printf(title, term.Line(list.Me))
	c.view.Table(t)
	c.because(list.Me, list.Chosen)
	return nil
}
