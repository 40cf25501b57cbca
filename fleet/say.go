package fleet

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Say sends a body to one addressee, to several, or to all.
type Say struct {
	As      Who
	To      []string // addresses, or "all"
	Act     protocol.Act
	Body    string
	Cross   bool               // every address must name its host: a wormhole
	Channel protocol.ChannelID // "": that of Re, or else the one that follows from the participants
	Re      protocol.Path      // the message that it answers, if any
	ByAgent bool               // an agent speaks, so an answer has one hop more (R13)
	Anyway  bool               // also to a name of which the fleet knows nobody (R5)
}

func (c Say) decide(s *State, _ time.Time) ([]Draft, error) {
	body := protocol.NormalBody(c.Body)
	if strings.TrimSpace(body) == "" {
		return nil, refuse(Senseless, "write the text after the name, or - to read it from standard input", "the message is empty")
	}
	d := Draft{Message: protocol.Message{From: c.As.Name, Type: protocol.TypeText, Act: c.Act, Body: body}}
	names := []string{c.As.Name}
	wanted, err := s.withMembers(c)
	if err != nil {
		return nil, err
	}
	for _, text := range wanted {
		to, err := s.resolve(c, text)
		if err != nil {
			return nil, err
		}
		if addressedBefore(d.Message.To, to.Name) {
			continue
		}
		d.Message.To = append(d.Message.To, to)
		d.Groups = append(d.Groups, s.groups(c.As, to)...)
		names = append(names, to.Name)
	}
	if len(d.Message.To) == 0 {
		return nil, refuse(Senseless, "name at least one addressee", "the message is addressed to nobody")
	}
	if d.Message.ToAll() {
		d.Message.To = []protocol.Address{{Name: protocol.All}}
		names = []string{protocol.All}
	}
	if d.Message.Act == "" {
		d.Message.Act = defaultAct(&d.Message)
	}
	if d.Channel = c.channel(); d.Channel == "" {
		d.Channel = protocol.DeriveChannel(s.anchor.RecordID, names...)
	}
	if c.Re.IsZero() {
		return []Draft{d}, nil
	}
	return s.answering(c, d)
}

// channel is where the message goes, or "" if that follows from the participants.
func (c Say) channel() protocol.ChannelID {
	if c.Channel == "" && !c.Re.IsZero() {
		return c.Re.Channel()
	}
	return c.Channel
}

// withMembers are the addresses of what is to be said. In place of "all" they have the members of
// the channel, without the speaker. So the message itself says for whom it is. That does not change
// when the members change, and other programs understand it.
func (s *State) withMembers(c Say) ([]string, error) {
	members := s.Channels.Members(c.channel())
	at := slices.Index(c.To, protocol.All)
	if at < 0 || len(members) == 0 {
		return c.To, nil
	}
	others := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == c.As.Name })
	wanted := slices.Replace(slices.Clone(c.To), at, at+1, others...)
	wanted = slices.DeleteFunc(wanted, func(to string) bool { return to == protocol.All })
	if len(wanted) == 0 {
		name := s.Channels.Name(c.channel())
		return nil, refuse(Senseless, "add one: parley channel members "+name+" --add NAME",
			"%s is the only member of the channel %q", c.As.Name, name)
	}
	return wanted, nil
}

// answering makes the draft an answer to the message c.Re, with the addressees that were chosen for
// it, and adds the receipt.
func (s *State) answering(c Say, d Draft) ([]Draft, error) {
	asked, err := s.answerable(c.Re)
	if err != nil {
		return nil, err
	}
	if c.Act == "" {
		d.Message.Act = protocol.ActReply
	}
	d.Message.Re = protocol.Refer(d.Channel, c.Re)
	if c.ByAgent {
		d.because(s, asked)
	}
	return append([]Draft{d}, s.receiptFor(asked, c.As)...), nil
}

func defaultAct(m *protocol.Message) protocol.Act {
	switch {
	case m.ToAll():
		return protocol.ActBroadcast
	case len(m.To) > 1:
		return protocol.ActTell
	}
	return protocol.ActHey
}

// groups returns groups of instances, of each of which one is chosen: the group of the addressed
// agent or, if `to` is all, one for each agent of the fleet. An agent that the sender's own host
// serves is preferred there.
func (s *State) groups(as Who, to protocol.Address) []Group {
	if to.Name != protocol.All {
		if g := s.preferred(as, to.Name, to.Host); len(g) > 0 {
			return []Group{{Agent: to.Name, Instances: g}}
		}
		return nil
	}
	var groups []Group
	seen := map[string]bool{as.Name: true}
	for _, h := range s.Keys().Hosts() {
		for _, a := range h.Agents {
			if name := a.Name.String(); !seen[name] {
				seen[name] = true
				groups = append(groups, Group{Agent: name, Instances: s.preferred(as, name, "")})
			}
		}
	}
	return groups
}

// preferred is the group of an agent on the sender's own host. If that host does not serve the
// agent, it is the group over the fleet.
func (s *State) preferred(as Who, agent, host string) []protocol.Instance {
	if host == "" {
		if local := s.People.Group(agent, as.Host.String()); len(local) > 0 {
			return local
		}
	}
	return s.People.Group(agent, host)
}
