package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

type heyArguments struct {
	To      string `json:"to" jsonschema:"whom: NAME, NAME@HOST, several with commas between, or all"`
	Text    string `json:"text" jsonschema:"what you say"`
	Channel string `json:"channel,omitempty" jsonschema:"the channel, by name or id; usually left out"`
	Wait    int    `json:"wait,omitempty" jsonschema:"seconds to wait for the answer, at most 3600"`
	FYI     bool   `json:"fyi,omitempty" jsonschema:"a note: nobody is to answer"`
	Request string `json:"request,omitempty" jsonschema:"an id of your own: said again within a day, nothing is sent twice"`
	masking
}

func (s *server) hey(ctx context.Context, c call, in heyArguments) (answer, error) {
	within, err := waitOf(in.Wait)
	switch {
	case err != nil:
		return answer{}, err
	case in.FYI && within > 0:
		return answer{}, control.Errorf(control.KindUsage, "leave one of the two out", "cannot wait for an answer to a note: fyi asks nobody for one")
	}
	return c.send(ctx, control.SendRequest{To: cli.SplitNames([]string{in.To}), Channel: in.Channel, Act: protocol.ActHey, Body: in.Text, Request: in.Request}, in.FYI, within)
}

type replyArguments struct {
	ID      string `json:"id" jsonschema:"the message that you answer"`
	Text    string `json:"text" jsonschema:"what you answer"`
	FYI     bool   `json:"fyi,omitempty" jsonschema:"a note: nobody is to answer"`
	Request string `json:"request,omitempty" jsonschema:"an id of your own: said again within a day, nothing is sent twice"`
	masking
}

func (s *server) reply(ctx context.Context, c call, in replyArguments) (answer, error) {
	return c.send(ctx, control.SendRequest{Re: in.ID, Act: protocol.ActReply, Body: in.Text, Request: in.Request}, in.FYI, 0)
}

// send sends a message. If `within` is above zero, it waits for the answer. A message that was sent
// is no failure, whatever comes of it: a model that reads of one would send it again.
func (c call) send(ctx context.Context, r control.SendRequest, note bool, within time.Duration) (answer, error) {
	if strings.TrimSpace(r.Body) == "" {
		return answer{}, control.Errorf(control.KindUsage, "", "cannot send a message: its text is empty")
	}
	if note {
		r.Act = protocol.ActNote
	}
	r.HeardWithin, r.ByAgent = talk.HeardWithin, true
	m, err := control.Send.Ask(ctx, c.node, r)
	if err != nil {
		if _, none := c.speaker(ctx); none != nil {
			err = none // it says what to do about that
		}
		return answer{}, err
	}
	done := answer{Text: fmt.Sprintf("Sent as %s to %s: %s.\n", id(m.Path), strings.Join(m.To, ", "), m.Stage), Messages: []message{about(m)}}
	for _, name := range m.Unserved {
		done.Text += fmt.Sprintf("%s is served by no host any more: nobody may ever read it.\n", prompt.Name(name))
	}
	for _, line := range talk.Delays(ctx, m, c.node, cli.View{Zone: time.UTC, Now: time.Now, Command: strings.Clone}) {
		done.Text += line + ".\n"
	}
	if within == 0 {
		return done, nil
	}
	var reply control.Message
	err = c.wait(ctx, within, "waiting for an answer", func(ctx context.Context) (err error) {
		reply, err = control.Wait.Ask(ctx, c.node, control.WaitRequest{Re: m.Path.String(), Within: within})
		return err
	})
	if err != nil {
		why := "no answer within " + span.Text(within)
		if control.AsError(err).Kind != control.KindTimeout {
			why = "cannot wait for the answer: " + control.AsError(err).Message
		}
		done.Text += why + ". Do not send it again: an answer comes into your inbox.\n"
		return done, nil
	}
	self, _ := control.Whoami.Ask(ctx, c.node) // an answer that is here is shown all the same
	blocks, refs, whole := shownMail(self, []control.Message{reply})
	c.seen(ctx, whole...)
	done.Text, done.Messages = tell(done.Text+"The answer:", blocks...), append(done.Messages, refs...)
	return done, nil
}

type inboxArguments struct {
	Wait  int      `json:"wait,omitempty" jsonschema:"seconds to wait where nothing is there, at most 3600"`
	Limit int      `json:"limit,omitempty" jsonschema:"at most so many messages; usually 10"`
	Done  []string `json:"done,omitempty" jsonschema:"ids of messages that you were given and need not answer: their senders are told that you read them"`
}

// usualMail is how many messages inbox brings if no number is given.
const usualMail = 10

// inbox takes mail, so that no other session of the agent is given it. What was taken before and is
// not answered or read is named, so that nothing is forgotten.
func (s *server) inbox(ctx context.Context, c call, in inboxArguments) (answer, error) {
	within, err := waitOf(in.Wait)
	switch {
	case err != nil:
		return answer{}, err
	case in.Limit < 0:
		return answer{}, control.Errorf(control.KindUsage, "", "cannot look into the inbox: limit is not below zero")
	case in.Limit == 0:
		in.Limit = usualMail
	}
	self, err := c.speaker(ctx)
	if err != nil {
		return answer{}, err
	}
	for _, id := range in.Done {
		if _, err := control.Read.Ask(ctx, c.node, control.ReadRequest{Path: id}); err != nil {
			return answer{}, err
		}
	}
	var mail []control.Message
	err = c.wait(ctx, within, "waiting for mail", func(ctx context.Context) (err error) {
		mail, err = control.Inbox.Ask(ctx, c.node, control.InboxRequest{Limit: in.Limit, Claim: true, Within: within})
		return err
	})
	if err != nil && control.AsError(err).Kind != control.KindTimeout {
		return answer{}, err
	}
	before, more := c.before(ctx, mail)
	lead := "No new mail."
	if len(mail) > 0 {
		lead = fmt.Sprintf("%s for %s. Answer by reply and the id; where no answer is needed, name the ids in done when you next ask.", cli.Count(len(mail), "new message"), self.Name)
	}
	if more {
		lead += " There is more: ask again."
	}
	blocks, refs, _ := shownMail(self, mail)
	if len(before) > 0 {
		block, _ := listed("Given before, to this session or another one of "+self.Name.String()+", and neither answered nor read:\n", before)
		blocks = append(blocks, block)
	}
	return answer{Text: tell(lead, blocks...), Messages: refs}, nil
}

// before is the mail that sessions were given earlier, and that nobody has answered or read: the
// oldest of it. `more` says whether some waits that no session was given. If that cannot be found
// out, the mail that was just taken must be shown all the same.
func (c call) before(ctx context.Context, taken []control.Message) (before []control.Message, more bool) {
	all, _ := control.Inbox.Ask(ctx, c.node, control.InboxRequest{Limit: mostList})
	for _, m := range all {
		switch {
		case slices.ContainsFunc(taken, func(t control.Message) bool { return t.Path == m.Path }):
		case m.Claimed == nil:
			more = true
		case len(before) < usualMail:
			before = append(before, m)
		}
	}
	return before, more
}

type readArguments struct {
	ID     string `json:"id" jsonschema:"the message"`
	Offset int    `json:"offset,omitempty" jsonschema:"of a long text: the byte from which on it is shown"`
}

func (s *server) read(ctx context.Context, c call, in readArguments) (answer, error) {
	if in.Offset < 0 {
		return answer{}, control.Errorf(control.KindUsage, "", "cannot read from byte %d: offset is not below zero", in.Offset)
	}
	self, err := c.speaker(ctx)
	if err != nil {
		return answer{}, err
	}
	m, err := control.Read.Ask(ctx, c.node, control.ReadRequest{Path: in.ID})
	if err != nil {
		return answer{}, err
	}
	block, _ := shownTo(self, m, in.Offset, mostAtOnce)
	lead := "Answer by reply and the id."
	if next := in.Offset + mostAtOnce; next < len(m.Body) {
		lead = fmt.Sprintf("It goes on: read with offset %d.", next)
	}
	return answer{Text: tell(lead, block), Messages: []message{about(m)}}, nil
}
