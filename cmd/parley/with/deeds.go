package with

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func runDeed(ctx context.Context, c *call, a action) error {
	r := control.TopicDeedRequest{Acting: c.acting, With: c.partner(), Topic: c.topic(), Deed: a.deed, Item: c.item, Reason: c.reason, Text: c.text}
	value, err := c.value(a)
	if err != nil {
		return err
	}
	switch a.takes {
	case "ITEM":
		r.Item = value
	case "TEXT":
		r.Text = value
	case "REASON":
		r.Reason = value
	}
	if r.Text == "-" {
		if r.Text, err = c.read([]string{"-"}); err != nil {
			return err
		}
	}
	if a.deed == protocol.ActDefer {
		if r.Until, err = cli.ParseUntil(c.until, c.view.Zone); err != nil {
			return control.Errorf(control.KindUsage, "", "%v", err)
		}
	}
	deed, err := control.DoInTopic.Ask(ctx, c.client, r)
	if err != nil && control.AsError(err).Kind == control.KindNotFound && r.Topic != "" && strings.Contains(a.beside, "new") {
		if _, err := c.open(ctx, control.Topic{}); err != nil {
			return err
		}
		deed, err = control.DoInTopic.Ask(ctx, c.client, r)
	}
	if err != nil {
		return err
	}
	done := c.persisted(ctx, deed)
	return c.view.Show(done, nil, func() { c.told(a, done) })
}

// value returns the value of the flag, or for "-" all of standard input.
func (c *call) value(a action) (string, error) {
	if a.takes == "" {
		return "", nil
	}
	value := c.flags[a.flag]
	if value != "-" {
		return value, nil
	}
	text, err := c.read([]string{"-"})
	return strings.TrimSpace(text), err
}

func (c *call) told(a action, done Done) {
	t, out := done.Topic, c.view.Out
	items := strings.Join(done.Items, ", ")
	name, me, with := term.Line(t.Name), term.Line(done.Me), term.Line(t.With)
	switch a.deed {
	case protocol.ActAgree:
		out.Printf("[%s] is proposed in %q; %s is asked\n", items, name, with)
	case protocol.ActOpen:
		out.Printf("[%s] is on the list of %q\n", items, name)
	case protocol.ActResolve:
		out.Printf("[%s] of %q is settled\n", items, name)
	case protocol.ActTeachBack:
		out.Printf("[%s] is noted: what %s learned from %s\n", items, me, with)
	case protocol.ActDisagree:
		out.Printf("[%s] is kept: where %s sees it otherwise\n", items, me)
	case protocol.ActAccept:
		out.Printf("✓ %s accepts %s of %q%s\n", me, items, name, agreedOn(t, done.Items))
	case protocol.ActReject:
		out.Printf("%s declines %s of %q\n", me, items, name)
	case protocol.ActDefer:
		out.Printf("⏸ %s puts %s of %q off%s\n", me, items, name, c.untilOf(t, done.TopicDeed))
	case protocol.ActRevoke:
		out.Printf("%s takes the decision on %s of %q back: it is pending again\n", me, items, name)
	case protocol.ActReAccept:
		out.Printf("✓ %s commits to %s of %q anew%s\n", me, items, name, agreedOn(t, done.Items))
	case protocol.ActValidate:
		out.Printf("%s is asked whether %s of %q still holds\n", with, items, name)
	case protocol.ActCheckpoint:
		out.Printf("Checkpoint of %q; %s is asked to ratify it:\n", name, with)
		c.checkpointLines(t.Checkpoints[len(t.Checkpoints)-1])
		if len(done.Validate) > 0 {
			out.Printf("%s is asked whether %s still holds\n", t.With, strings.Join(done.Validate, ", "))
		}
	case protocol.ActRatified:
		out.Printf("✓ %s ratifies the checkpoint of %q\n", me, name)
	case protocol.ActAmendment:
		out.Printf("%s asks for a change of the checkpoint of %q\n", me, name)
	case protocol.ActRejected:
		out.Printf("%s rejects the checkpoint of %q\n", me, name)
	case protocol.ActJoinRequest:
		out.Printf("%s and %s are asked whether %s may join %q\n", term.Line(t.Me), with, me, name)
		out.Printf("%s\n", out.Dim("a human decides; if they agree, a party on it begins, and you are invited"))
	case protocol.ActClose:
		out.Printf("📦 %s has closed %q with %s; all of it stays in the record\n", me, name, with)
	}
	showComment(c.view, done.Comment)
	if done.Comment != nil && done.Comment.Skipped != "" && t.Anchor != "" {
		c.view.Next(c.command(term.Shell(t.With), term.Shell(t.Name), "--persist"), "try the comment again; it is told once")
	}
	c.because(done.Me, done.Chosen)
}

func agreedOn(t control.Topic, items []string) string {
	for _, it := range t.Items {
		if len(items) == 1 && it.Label.String() == items[0] && it.Agreed {
			return ": both have accepted it"
		}
	}
	return ""
}

// untilOf says until when a deferred item waits.
func (c *call) untilOf(t control.Topic, done control.TopicDeed) string {
	for _, it := range t.Items {
		for _, st := range it.Stands {
			if len(done.Items) > 0 && it.Label.String() == done.Items[0] && st.Who == done.Me && !st.Until.IsZero() {
				return " until " + c.view.Stamp(st.Until)
			}
		}
	}
	return ""
}

// because says for which agent something was done, if the person did not name it (R59).
func (c *call) because(me, chosen string) {
	if chosen == "only" {
		c.view.Out.Printf("%s\n", c.view.Out.Dim("for "+term.Line(me)+", the only agent of this host"))
	}
}
