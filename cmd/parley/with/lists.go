package with

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
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
	t := term.Table{Heading: []string{"Oracle", "Topic", "Anchor", "Raw", "Decay", "Last Sync"}, Flexible: 1, Style: func(row int, cell string) string { return c.coloured(list.Topics[row].Colour, cell) }}
	partners := map[string]bool{}
	for _, of := range list.Topics {
		partners[of.With] = true
		t.Rows = append(t.Rows, []string{
			term.Line(of.With), term.Line(of.Name), cli.Dash(of.Anchor), raw(of), cli.Percent(of.Decayed), c.view.Age(of.LastSync)})
	}
	c.view.Table(t)
	c.view.Out.Printf("\nTotal: %s with %s\n", cli.Count(len(list.Topics), "collaboration"), cli.Count(len(partners), "oracle"))
	c.because(list.Me, list.Chosen)
	return nil
}

// raw is the raw score of a topic in a list, with a mark if no host signed the answer.
func raw(t control.Topic) string {
	if t.Unverified {
		return cli.Percent(t.Raw) + " (unverified)"
	}
	return cli.Percent(t.Raw)
}

func (c *call) topics(ctx context.Context, items bool) (control.TopicList, error) {
	list, err := control.Topics.Ask(ctx, c.client, control.TopicsRequest{Viewing: c.viewing(), With: c.partner(), Items: items})
	if err != nil || c.topic() == "" {
		return list, err
	}
	slug, err := protocol.SlugOf(c.topic())
	if err != nil {
		return list, control.Errorf(control.KindUsage, "", "cannot find the topic: %v", err)
	}
	list.Topics = slices.DeleteFunc(list.Topics, func(t control.Topic) bool { return t.Slug != slug })
	if len(list.Topics) == 0 {
		return list, control.Errorf(control.KindNotFound, "parley work-with --list", "no topic %q with %s is active", c.topic(), c.partner())
	}
	return list, nil
}

// runStatus lists a partner's topics with phases and pending items (R32).
func runStatus(ctx context.Context, c *call) error {
	list, err := c.topics(ctx, true)
	return c.view.Show(list, err, func() {
		if len(list.Topics) == 0 {
			c.view.Out.Printf("No active collaborations%s.\n", cli.Lead(" with ", c.partner()))
			return
		}
		for i, of := range list.Topics {
			if i > 0 {
				c.view.Out.Printf("\n")
			}
			c.view.Out.Printf("%s (↔ %s)  %s\n", c.view.Out.Bold(term.Line(of.Name)), term.Line(of.With), c.score(of))
			for _, it := range of.Items {
				switch {
				case it.Sort == topic.Agreement:
					c.view.Out.Printf("  %s %s %s%s\n", term.Pad(it.Label.String(), 4), mark(it.Phase), term.Line(it.Text), c.aside(of, it))
				case it.Sort == topic.Question && it.Resolved == nil:
					c.view.Out.Printf("  %s · open      %s\n", term.Pad(it.Label.String(), 4), term.Line(it.Text))
				}
			}
		}
		c.because(list.Me, list.Chosen)
	})
}

// mark is a phase with its sign (seed, "--state").
func mark(phase topic.Phase) string {
	signs := map[topic.Phase]string{topic.Accepted: "✓", topic.Rejected: "✗", topic.Deferred: "⏸", topic.TimedOut: "⏱", topic.Pending: "·"}
	return signs[phase] + " " + term.Pad(string(phase), 8)
}

// runState shows how each participant stands on each item (seed, "--state"; R60).
func runState(ctx context.Context, c *call) error {
	of, err := control.ShowTopic.Ask(ctx, c.client, control.TopicRequest{Viewing: c.viewing(), With: c.partner(), Topic: c.topic()})
	return c.view.Show(of, err, func() {
		out := c.view.Out
		out.Printf("🗂 %s (↔ %s)\n\n", of.Slug, term.Line(of.With))
		t := term.Table{Heading: []string{"ID", "Who", "Phase", "Decided", "Text"}, Flexible: 4}
		var notes []string
		for _, it := range of.Items {
			if it.Sort != topic.Agreement {
				continue
			}
			for i, st := range it.Stands {
				id, text := it.Label.String(), it.Text
				if i > 0 {
					id, text = "", ""
				}
				decided := st.Decided
				if st.Phase == topic.TimedOut {
					decided = st.TimeoutAt
				}
				t.Rows = append(t.Rows, []string{id, term.Line(st.Who), mark(st.Phase), c.view.StampOrEmpty(decided), term.Line(text)})
				if note := c.noteOf(of, it, st); note != "" {
					notes = append(notes, note)
				}
			}
			for _, v := range it.Validations {
				if v.Stale {
					notes = append(notes, fmt.Sprintf("%s, %s: asked whether it still holds %s, and silent: --revoke %s or --re-accept %s says.", it.Label, term.Line(v.Of), c.view.Age(v.Time), it.Label, it.Label))
				}
			}
		}
		if len(t.Rows) == 0 {
			out.Printf("Nothing is proposed yet.\n")
			c.view.Next(c.command(term.Shell(of.With), term.Shell(of.Name), `--agree "text"`), "propose something")
			return
		}
		c.view.Table(t)
		if len(notes) > 0 {
			out.Printf("\n")
		}
		for _, note := range notes {
			out.Printf("%s\n", note)
		}
	})
}

// noteOf is what else one should know about how somebody stands on an item.
func (c *call) noteOf(t control.Topic, it control.TopicItem, st topic.Stand) string {
	head := fmt.Sprintf("%s, %s: ", it.Label, term.Line(st.Who))
	reason := ""
	if st.Reason != "" {
		reason = "  reason: " + term.Line(st.Reason)
	}
	switch st.Phase {
	case topic.Deferred:
		return fmt.Sprintf("%suntil %s (%s)%s", head, c.view.At(st.Until, time.DateOnly), inDays(st.Until.Sub(c.view.Now())), reason)
	case topic.TimedOut:
		return fmt.Sprintf("%sUnknown state, not rejection. %s to revisit.", head, c.command(term.Shell(t.With), term.Shell(t.Slug.String()), "--sync"))
	case topic.Rejected:
		return head + "rejected" + reason
	case topic.Pending:
		switch {
		case st.Previous == topic.Accepted && st.Path.IsZero(): // nothing that they wrote came after it
			return head + "had accepted other words; these are new: " + term.Line(it.Text)
		case st.Previous == topic.Accepted:
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
	return c.items(ctx, true, "Nothing awaits a decision of %s.\n", "⏳ Awaiting a decision of %s\n\n", func(st topic.Stand) bool {
		return st.Phase == topic.Pending || st.Phase == topic.TimedOut && st.Previous != topic.Deferred
	})
}

// toRatify is the partner's last checkpoint of a topic, if I have not said anything to it.
func toRatify(t control.Topic) (cp control.TopicCheckpoint, waits bool) {
	for _, cp := range slices.Backward(t.Checkpoints) {
		if cp.By == t.With {
			return cp, cp.State == "pending"
		}
	}
	return cp, false
}

// invites are the invites of an agent on which a human of this host has to decide. If gates cannot
// be asked for, there are none.
func (c *call) invites(ctx context.Context) func(me string) []control.Gate {
	list, _ := control.Gates.Ask(ctx, c.client, control.GatesRequest{})
	return func(me string) (mine []control.Gate) {
		for _, g := range list.Gates {
			if who, _ := protocol.ParseAddress(g.Whom); g.For == "invite" && (who.Name == me || list.Human.String() == me) {
				mine = append(mine, g)
			}
		}
		return mine
	}
}

// runDeferred lists what I have deferred, and what is due again.
func runDeferred(ctx context.Context, c *call) error {
	return c.items(ctx, false, "%s has put nothing off.\n", "⏸ Put off by %s\n\n", func(st topic.Stand) bool {
		return st.Phase == topic.Deferred || st.Phase == topic.TimedOut && st.Previous == topic.Deferred
	})
}

// Pending is what awaits a decision: topics with the items and checkpoints, and invites.
type Pending struct {
	control.TopicList
	Invites []control.Gate `json:"invites"` // of the agent into parties; a human decides
}

// items lists my agreements for which `is` returns true, the oldest first. With `more`, it also
// lists checkpoints to ratify and invites.
func (c *call) items(ctx context.Context, more bool, none, title string, is func(topic.Stand) bool) error {
	var invites func(me string) []control.Gate
	if more {
		invites = c.invites(ctx)
	}
	list, err := c.topics(ctx, true)
	if err != nil {
		return err
	}
	shown := []control.Topic{}
	t := term.Table{Heading: []string{"Partner", "Topic", "ID", "Phase", "When", "Text"}, Flexible: 5}
	for _, of := range list.Topics {
		items := []control.TopicItem{}
		for _, it := range of.Items {
			for _, st := range it.Stands {
				if st.Who != list.Me || !is(st) {
					continue
				}
				items = append(items, it)
				when := "by " + c.view.At(st.AnswerBy, time.DateOnly)
				switch {
				case !st.Until.IsZero():
					when = "until " + c.view.At(st.Until, time.DateOnly)
				case st.Phase == topic.TimedOut:
					when = c.view.Age(st.TimeoutAt)
				}
				t.Rows = append(t.Rows, []string{term.Line(of.With), term.Line(of.Name), it.Label.String(), mark(st.Phase), when, term.Line(it.Text)})
			}
		}
		cp, ratify := toRatify(of)
		of.Items, of.Checkpoints = items, nil
		if ratify && more {
			of.Checkpoints = []control.TopicCheckpoint{cp}
			t.Rows = append(t.Rows, []string{term.Line(of.With), term.Line(of.Name), "—", "· checkpoint", c.view.Age(cp.Time), term.Line(cp.Summary)})
		}
		if len(items)+len(of.Checkpoints) > 0 {
			shown = append(shown, of)
		}
	}
	list.Topics = shown
	pending := Pending{TopicList: list, Invites: []control.Gate{}}
	if more {
		for _, g := range invites(list.Me) {
			pending.Invites = append(pending.Invites, g)
			t.Rows = append(t.Rows, []string{term.Line(g.By), term.Line(g.Party), g.ID, "· invite", c.view.Age(g.Time), term.Line(g.Title) + ": " + c.view.Command("parley gates")})
		}
	}
	switch {
	case c.view.JSON && more:
		return c.view.WriteJSON(pending)
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
