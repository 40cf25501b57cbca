package talk

import (
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Views finds messages as people name them, and shows them: what the state says of a message, its
// text in the record, and which hosts have heard it.
type Views struct {
	*Options
}

// facts is what the state says of a message, taken at one moment. The rest of a view is read from
// the record afterwards.
type facts struct {
	item      *fleet.Item
	signature protocol.Signature
	stage     protocol.Stage
	progress  []fleet.Progress
	at        []protocol.Name // for each of these, the host that is to act on the message, unless it is to all; "" if that is not known
	channel   string          // name of the channel, "" if it has none
	second    string          // path of the answer before this one that another host's instance of the author gave
	direct    bool            // the channel is the one that the participants of the message have in common
}

func factsOf(s *fleet.State, it *fleet.Item) facts {
	f := facts{
		item: it, signature: s.Signature(it), stage: s.Talk.Stage(it.Path), progress: s.Talk.Progress(it),
		channel: s.Channels.Name(it.Path.Channel()), direct: s.Talk.InCommon(it),
	}
	for _, p := range f.progress {
		if !it.ToAll() {
			f.at = append(f.at, hostOf(s, it, p.Name))
		}
	}
	if first, ok := s.Talk.AnsweredBefore(it); ok {
		f.second = first.Path.String()
	}
	return f
}

// Load reads a whole message of the state. If the record has other bytes at its path, because the
// path was decided before a host's key was known, its own bytes are among those that lost.
func (vs *Views) Load(it *fleet.Item) (*protocol.Message, error) { return vs.loadAt(it.Path, it.Hash) }

// loadAt is load for a caller that keeps no item. It is the one place where the text of a message is
// read for somebody, so a text that is redacted is hidden here (R75).
func (vs *Views) loadAt(p protocol.Path, hash string) (*protocol.Message, error) {
	data, err := vs.fileAt(p, hash)
	if err != nil {
		return nil, err
	}
	m, err := protocol.Decode(p, data)
	if err == nil {
		vs.Folded(func(s *fleet.State) {
			if it, there := s.Ledger.Item(p); there {
				if r, hidden := s.Redactions.Of(it); hidden {
					m.Body = r.String()
				}
			}
		})
	}
	return m, err
}

// File is the file of a message of the state, with its text even if it is redacted: it is for what
// people and programs have signed.
func (vs *Views) File(it *fleet.Item) ([]byte, error) { return vs.fileAt(it.Path, it.Hash) }

func (vs *Views) fileAt(p protocol.Path, hash string) ([]byte, error) {
	data, err := vs.Record.Get(p)
	if err != nil {
		return nil, err
	}
	if protocol.Hash(data) != hash {
		kept, ok, err := vs.Record.GetConflict(p, hash)
		if err != nil {
			return nil, err
		}
		if ok {
			data = kept
		}
	}
	return data, nil
}

// of returns the message as it is shown and put into JSON (R17).
func (vs *Views) of(f facts) (control.Message, error) {
	whole, err := vs.Load(f.item)
	if err != nil {
		return control.Message{}, err
	}
	return vs.with(f, whole.Body), nil
}

// shown is `of` for lists: a message whose text cannot be read says so in its place, so that the
// others are shown.
func (vs *Views) shown(f facts) control.Message {
	m, err := vs.of(f)
	if err != nil {
		m = vs.with(f, "")
		m.Unreadable = err.Error()
	}
	return m
}

// with returns the message as it is shown. Its body is given, and need not be read.
func (vs *Views) with(f facts, body string) control.Message {
	it := f.item
	m := control.Message{
		Path: it.Path, Channel: it.Path.Channel(), ChannelName: f.channel, Direct: f.direct, From: it.From, To: it.Names(), Timestamp: it.Timestamp,
		Type: it.Type, Act: it.Act, Ref: wholePath(it.Ref, it.ReadPath), Re: wholePath(it.Re, it.AnsweredPath), Host: it.Host, Run: it.Run, Seq: it.Seq, Request: it.Request,
		Because: wholePath(it.Because, it.CausePath), Hops: it.Hops, Unattended: it.Unattended, Second: f.second, Heard: vs.Live.Hearers(it.Path), Signature: f.signature, Body: body,
	}
	m.Stage = max(f.stage, vs.ownStage(it, m.Heard))
	for i, p := range f.progress {
		m.Addressees = append(m.Addressees, addressee(p))
		if len(f.at) > 0 {
			a := &m.Addressees[i]
			a.Woken, a.Waits = vs.Live.Woken(f.at[i], protocol.Name(p.Name), it.Path), vs.waits(it, f.at[i], p)
		}
	}
	return m
}

// hostOf is the host on which an addressee is to act on a message.
func hostOf(s *fleet.State, it *fleet.Item, name string) protocol.Name {
	host := s.Talk.ActingHost(it, name)
	for _, to := range it.To {
		if host == "" && to.Name == name { // a session of which the record does not tell yet
			host = protocol.Name(to.Host)
		}
	}
	return host
}

// waits is what the session of an addressee waits for, if the message waits for that too: for its human
// until there is an answer, else until it is read.
func (vs *Views) waits(it *fleet.Item, host protocol.Name, p fleet.Progress) *protocol.Waits {
	w := vs.Live.WaitsOf(host, p.Name)
	if w == nil || p.Answered || p.Read && (w.For != protocol.WaitsForHuman || !it.Act.Wakes()) || w.For == protocol.WaitsForTurns && !it.Rings() {
		return nil
	}
	return w
}

// wholePath is a reference with its channel, whatever its author wrote. A reference that is no path
// stays as it is.
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

// ownStage is the last of the first four stages that this node knows to be reached.
func (vs *Views) ownStage(it *fleet.Item, heard []protocol.Name) protocol.Stage {
	stage := protocol.StageNone
	switch vs.Record.Place(it.Path) {
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

// wrote returns a message that was written here a moment ago, as it is shown.
func (vs *Views) wrote(w writing.Written) control.Message {
	var f facts
	vs.Folded(func(s *fleet.State) { f = factsOf(s, w.Item) })
	return vs.with(f, w.Message.Body)
}

func (vs *Views) now(it *fleet.Item) (control.Message, error) {
	var f facts
	vs.Folded(func(s *fleet.State) { f = factsOf(s, it) })
	return vs.of(f)
}

// all returns several messages as they are shown.
func (vs *Views) all(of []facts) []control.Message { return each.Of(of, vs.shown) }

// find reads a path as a person gives it (R2). That is a whole path, a path below its channel or
// below a channel's name, or the eight hex digits of its name, if only one message has them.
func (vs *Views) find(text string) (f facts, err error) {
	vs.Folded(func(s *fleet.State) { f, err = findIn(s, text) })
	return f, err
}

// Item is find for those who want only the message.
func (vs *Views) Item(text string) (*fleet.Item, error) {
	f, err := vs.find(text)
	return f.item, err
}

// Listed returns a message as it is shown in lists at this moment.
func (vs *Views) Listed(it *fleet.Item) control.Message {
	var f facts
	vs.Folded(func(s *fleet.State) { f = factsOf(s, it) })
	return vs.shown(f)
}

func findIn(s *fleet.State, text string) (facts, error) {
	var found []*fleet.Item
	if p, err := protocol.ParsePath(text); err == nil {
		for _, c := range p.Channel().Spellings() {
			q, _ := protocol.JoinPath(c, p.Rel())
			if it, ok := s.Ledger.Item(q); ok {
				found = append(found, it)
				break
			}
		}
	} else if it, ok := belowName(s, text); ok {
		found = append(found, it)
	} else if strings.Contains(text, "/") {
		if _, err := protocol.JoinPath("", text); err != nil {
			return facts{}, control.Errorf(control.KindUsage, "paths are listed by: parley log", "%v", err)
		}
		found = s.Ledger.FindRel(text)
	} else {
		found = s.Ledger.Find(strings.TrimSuffix(text, ".md"))
	}
	switch len(found) {
	case 0:
		return facts{}, control.Errorf(control.KindNotFound, "paths are listed by: parley log", "there is no message %q", text)
	case 1:
		return factsOf(s, found[0]), nil
	}
	first := each.Of(found[:min(len(found), 3)], func(it *fleet.Item) string { return it.Path.String() })
	return facts{}, control.Errorf(control.KindUsage, "give the whole path: "+strings.Join(first, " or "),
		"%q names %d messages", text, len(found))
}

// belowName returns the message at a path that begins with the name of a channel.
func belowName(s *fleet.State, text string) (*fleet.Item, bool) {
	parts := strings.Split(text, "/")
	const below = 4 // year, month, day and name
	if len(parts) <= below {
		return nil, false
	}
	at := len(parts) - below
	c, err := s.Channels.Find(strings.Join(parts[:at], "/"))
	if err != nil {
		return nil, false
	}
	p, err := protocol.JoinPath(c, strings.Join(parts[at:], "/"))
	if err != nil {
		return nil, false
	}
	return s.Ledger.Item(p)
}
