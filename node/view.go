package node

import (
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// facts is what the state says of a message, taken under mu so that the rest of
// a view can be read from the record without it.
type facts struct {
	item      *fleet.Item
	signature protocol.Signature
	stage     protocol.Stage
	progress  []fleet.Progress
	channel   string // its name, "" for none
	direct    bool   // it is the channel that those who take part have in common
}

// factsOf collects the facts of a message. The caller holds mu.
func (n *Node) factsOf(it *fleet.Item) facts {
	return facts{
		item: it, signature: n.state.Signature(it), stage: n.state.Talk.Stage(it.Path), progress: n.state.Talk.Progress(it),
		channel: n.state.Channels.Name(it.Path.Channel()), direct: n.state.Talk.InCommon(it),
	}
}

// factsOfAll collects the facts of several messages. The caller holds mu.
func (n *Node) factsOfAll(items []*fleet.Item) []facts {
	all := make([]facts, len(items))
	for i, it := range items {
		all[i] = n.factsOf(it)
	}
	return all
}

// view is the message as it is shown and put in JSON (R17). The caller does not
// hold mu.
func (n *Node) view(f facts) (control.Message, error) {
	whole, err := n.loadItem(f.item)
	if err != nil {
		return control.Message{}, err
	}
	it := f.item
	m := control.Message{
		Path: it.Path, Channel: it.Path.Channel(), ChannelName: f.channel, Direct: f.direct, From: it.From, To: it.Names(), Timestamp: it.Timestamp,
		Type: it.Type, Act: it.Act, Ref: wholePath(it.Ref, it.ReadPath), Re: wholePath(it.Re, it.AnsweredPath), Host: it.Host, Run: it.Run, Seq: it.Seq, Request: it.Request,
		Because: wholePath(it.Because, it.CausePath), Unattended: it.Unattended, Heard: n.live.Hearers(it.Path), Signature: f.signature, Body: whole.Body,
	}
	m.Stage = max(f.stage, n.ownStage(it, m.Heard))
	for _, p := range f.progress {
		m.Addressees = append(m.Addressees, addressee(p))
	}
	return m, nil
}

// wholePath is a reference with its channel, whatever its author wrote; one that is no
// path stays as it is.
func wholePath(written string, resolve func() (protocol.Path, bool)) string {
	if p, ok := resolve(); ok {
		return p.String()
	}
	return written
}

func addressee(p fleet.Progress) control.Addressee {
	a := control.Addressee{Name: p.Name}
	switch {
	case p.Answered:
		a.Stage = protocol.StageAnswered
	case p.Read:
		a.Stage = protocol.StageRead
	}
	return a
}

// ownStage is the last of the first four stages that this node knows to hold.
func (n *Node) ownStage(it *fleet.Item, heard []protocol.Name) protocol.Stage {
	stage := protocol.StageNone
	switch n.record.Place(it.Path) {
	case gitsync.Pushed:
		return protocol.StagePushed
	case gitsync.Recorded:
		return protocol.StageRecorded
	case gitsync.Stored:
		stage = protocol.StageStored
	}
	if len(heard) > 0 {
		stage = protocol.StageHeard
	}
	return stage
}

// views makes views of several messages; one that cannot be read is left out
// and logged.
func (n *Node) views(all []facts) []control.Message {
	messages := make([]control.Message, 0, len(all))
	for _, f := range all {
		m, err := n.view(f)
		if err != nil {
			n.log.Error().Err(err).Msg("cannot show a message")
			continue
		}
		messages = append(messages, m)
	}
	return messages
}

// find reads a path as a person gives it (R2): whole, below its channel, below a
// channel's name, or the unique eight hex digits of its name.
func (n *Node) find(text string) (facts, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []*fleet.Item
	if p, err := protocol.ParsePath(text); err == nil {
		for _, c := range p.Channel().Spellings() {
			q, _ := protocol.JoinPath(c, p.Rel())
			if it, ok := n.state.Ledger.Item(q); ok {
				found = append(found, it)
				break
			}
		}
	} else if it, ok := n.belowName(text); ok {
		found = append(found, it)
	} else if strings.Contains(text, "/") {
		if _, err := protocol.JoinPath("", text); err != nil {
			return facts{}, control.Errorf(control.KindUsage, "paths are listed by: parley log", "%v", err)
		}
		found = n.state.Ledger.FindRel(text)
	} else {
		found = n.state.Ledger.Find(strings.TrimSuffix(text, ".md"))
	}
	switch len(found) {
	case 0:
		return facts{}, control.Errorf(control.KindNotFound, "paths are listed by: parley log", "there is no message %q", text)
	case 1:
		return n.factsOf(found[0]), nil
	}
	first := make([]string, min(len(found), 3))
	for i := range first {
		first[i] = found[i].Path.String()
	}
	return facts{}, control.Errorf(control.KindUsage, "give the whole path: "+strings.Join(first, " or "),
		"%q names %d messages", text, len(found))
}

// belowName is the message at a path that begins with the name of a channel. The
// caller holds mu.
func (n *Node) belowName(text string) (*fleet.Item, bool) {
	parts := strings.Split(text, "/")
	const below = 4 // year, month, day and name
	if len(parts) <= below {
		return nil, false
	}
	at := len(parts) - below
	c, err := n.state.Channels.Find(strings.Join(parts[:at], "/"))
	if err != nil {
		return nil, false
	}
	p, err := protocol.JoinPath(c, strings.Join(parts[at:], "/"))
	if err != nil {
		return nil, false
	}
	return n.state.Ledger.Item(p)
}
