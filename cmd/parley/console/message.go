package console

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	mostThread = 200       // messages of a conversation on one page
	mostSteps  = 200       // steps on one page
	mostWhole  = 256 << 10 // bytes of a text on its own page
)

// messagePage is the page of one message: all of it, its conversation, and what became of it.
type messagePage struct {
	said
	Signed  string
	Waits   bool // it waits for the human
	Thread  []branch
	Left    int  // messages of the conversation that are not in Thread
	Waiting bool // somebody may still answer it
	Causes  []causes.Found
	Steps   []step
	More    int // steps that are not in Steps
	Write   write
}

// branch is a message in the tree of a conversation.
type branch struct {
	said
	Depth int // drawn; from the eighth on the tree is not drawn wider
	Here  bool
}

// step is a step of a message, or of one that was sent because of it.
type step struct {
	control.TraceStep
	Text string
}

func showMessage(a *asking) (any, string) {
	m := need(a, control.Show, control.ShowRequest{Path: a.PathValue("path")})
	page := messagePage{said: a.c.said(m), Signed: talk.Signed(a.c.view(), m.Signature)}
	page.Text = begin(m.Body, mostWhole)
	page.Cut = len(page.Text) < len(m.Body)
	path := m.Path.String()
	page.conversation(a.c, need(a, control.Thread, control.ThreadRequest{Path: path}))
	page.Waiting = m.Type == protocol.TypeText && m.Act.Wakes() && m.Act != protocol.ActReply && m.Stage < protocol.StageAnswered
	why := need(a, control.Why, control.WhyRequest{Of: path, Here: true})
	page.Causes = why.Causes
	page.Steps, page.More = a.c.steps(why.Steps)
	self := need(a, control.Whoami.Verb, control.None{})
	human := self.Human.String()
	page.Waits = slices.ContainsFunc(m.Addressees, func(one control.Addressee) bool { return one.Name == human && one.Stage < protocol.StageRead })
	page.Write = write{Re: path, Names: a.names()}
	if m.From == human && m.Host == self.Host { // who wrote it goes on to those whom it was for
		page.Write.Channel, page.Write.Re, page.Write.To = m.Channel.String(), "", strings.Join(m.To, ", ")
	}
	return page, "Message " + m.Path.Short()
}

// conversation is that part of a conversation which stands around the message.
func (p *messagePage) conversation(c *console, tree []control.ThreadMessage) {
	at := slices.IndexFunc(tree, func(m control.ThreadMessage) bool { return m.Path == p.Path })
	from := max(0, min(at-mostThread/2, len(tree)-mostThread))
	shown := tree[from:min(len(tree), from+mostThread)]
	p.Left = len(tree) - len(shown)
	p.Thread = each.Of(shown, func(m control.ThreadMessage) branch {
		return branch{c.inList(m.Message), min(m.Depth, 8), m.Path == p.Path}
	})
}

func (c *console) steps(all []control.TraceStep) (steps []step, more int) {
	steps = each.Of(all[:min(len(all), mostSteps)], func(s control.TraceStep) step { return step{s, runs.StepText(c.view(), s)} })
	return steps, len(all) - len(steps)
}

// whyPage says why a message has no answer, as far as any host knows.
type whyPage struct {
	control.Reason
	Steps []step
	More  int
}

func showWhy(a *asking) (any, string) {
	page := whyPage{Reason: need(a, control.Why, control.WhyRequest{Of: a.PathValue("path")})}
	page.Steps, page.More = a.c.steps(page.Reason.Steps)
	return page, "Why"
}
