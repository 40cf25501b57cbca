package talk

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// outbox sends what people and agents of this host write.
type outbox struct {
	*tools

	requests writing.OnceEach[string] // locks requests by their id
}

// Talk answers control.FindTalk.
func (o *outbox) Talk(_ context.Context, by control.Caller, r control.TalkRequest) (control.Talk, error) {
	who, err := o.Actors.Actor(by, r.As)
	if err != nil {
		return control.Talk{}, err
	}
	t := control.Talk{As: who.Name}
	o.Folded(func(s *fleet.State) {
		t.Channel, err = s.Between(who, r.To)
		if err == nil && r.Channel != "" {
			t.Channel, err = s.Channels.Find(r.Channel)
		}
		t.Begun = s.Channels.Exists(t.Channel)
	})
	if err != nil {
		return control.Talk{}, writing.AsError(err)
	}
	return t, nil
}

// Send answers control.Send.
func (o *outbox) Send(ctx context.Context, by control.Caller, r control.SendRequest) (control.Message, error) {
	if r.Act.OfNodes() {
		return control.Message{}, control.Errorf(control.KindRefused, "each has a command of its own: parley read, parley agent dlq, parley agent, parley host",
			"cannot send a message of the act %s: a node writes it for what it does itself", r.Act)
	}
	if r.ByAgent && by.Kind != control.ByAgent {
		return control.Message{}, control.Errorf(control.KindRefused, "see: parley whoami", "cannot send a message of an agent: the caller is none")
	}
	who, err := o.Actors.Actor(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	if err := o.meet(ctx, &r); err != nil {
		return control.Message{}, err
	}
	c, about, err := o.toSay(who, r)
	if err != nil {
		return control.Message{}, err
	}
	if r.Request != "" {
		defer o.requests.Lock(r.Request)()
		if m, ok, err := o.sentBefore(c, r); ok || err != nil {
			return m, err
		}
		c = fleet.Requested{Command: c, ID: r.Request}
	}
	ws, err := o.Decider.Act(ctx, writing.Called(by, c), about)
	if err != nil {
		return control.Message{}, writing.AsError(err)
	}
	o.awaitHeard(ctx, ws[0].Message, r.HeardWithin)
	m := o.views.wrote(ws[0])
	o.Folded(func(s *fleet.State) {
		if it, there := s.Ledger.Item(m.Path); there {
			m.Unserved = o.Owe(s, it)
		}
	})
	return m, nil
}

// meet makes those sessions known that are written to for the first time.
func (o *outbox) meet(ctx context.Context, r *control.SendRequest) error {
	for i, to := range r.To {
		address, err := o.Meet(ctx, to)
		if err != nil {
			return err
		}
		if address != "" {
			r.To, r.Anyway = slices.Replace(slices.Clone(r.To), i, i+1, address), true
		}
	}
	return nil
}

func (o *outbox) sentBefore(c fleet.Command, r control.SendRequest) (m control.Message, ok bool, err error) {
	var it *fleet.Item
	o.Folded(func(s *fleet.State) { it, ok = s.Requested(o.Config.Alias, r.Request, o.Now()) })
	if !ok {
		return m, false, nil
	}
	if m, err = o.views.now(it); err != nil {
		return m, false, err
	}
	if !fleet.Repeats(c, it) || m.Body != protocol.NormalBody(r.Body) {
		return m, false, control.Errorf(control.KindRefused, "give each message its own --request",
			"the request %s was another message, %s", r.Request, m.Path)
	}
	return m, true, nil
}

// toSay returns the command that a request to send asks for, and the message that the command is
// about.
func (o *outbox) toSay(who fleet.Who, r control.SendRequest) (c fleet.Command, about protocol.Path, err error) {
	if r.Re != "" {
		asked, err := o.views.find(r.Re)
		if err != nil {
			return nil, about, err
		}
		about = asked.item.Path
		if to := o.wroteTo(asked.item, who); len(r.To) == 0 && len(to) > 0 {
			r.To, r.Anyway = to, true
		}
	}
	byAgent := who.Name != o.Config.Human.String()
	if r.Re != "" && len(r.To) == 0 && r.Channel == "" {
		return fleet.Answer{As: who, To: about, Body: r.Body, Act: r.Act, ByAgent: byAgent}, about, nil
	}
	say := fleet.Say{As: who, To: r.To, Act: r.Act, Body: r.Body, Cross: r.Cross, Re: about, ByAgent: byAgent, Anyway: r.Anyway}
	o.Folded(func(s *fleet.State) {
		if r.Channel != "" {
			say.Channel, err = s.Channels.Find(r.Channel)
		}
		if it, ok := s.Ledger.Item(about); ok && len(r.To) == 0 {
			say.To = []string{s.Talk.AuthorOf(it, o.Config.Alias).String()}
		}
	})
	if err != nil {
		return nil, about, writing.AsError(err)
	}
	return say, about, nil
}

// wroteTo are the addressees of a message that the participant itself has written: an answer to it
// goes on to them. It is nil for messages of others.
func (o *outbox) wroteTo(it *fleet.Item, who fleet.Who) (to []string) {
	o.Folded(func(s *fleet.State) {
		if s.Talk.AuthorOf(it, o.Config.Alias) != (protocol.Address{Name: who.Name}) {
			return
		}
		to = each.Of(it.To, protocol.Address.String)
	})
	return to
}

// awaitHeard waits until all live hosts that the message is for have heard it, or the time is up.
func (o *outbox) awaitHeard(ctx context.Context, m *protocol.Message, within time.Duration) {
	if within <= 0 {
		return
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		change := o.Live.Next()
		if !o.anyMissing(m) {
			return
		}
		select {
		case <-change:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// anyMissing reports whether a live host that the message is for has not heard it yet.
func (o *outbox) anyMissing(m *protocol.Message) bool {
	heard := o.Live.Hearers(m.Path)
	return slices.ContainsFunc(o.targets(m), func(host protocol.Name) bool {
		_, live := o.Live.PresenceOf(host)
		return live && !slices.Contains(heard, host)
	})
}

// targets are the other hosts that a message is for: those that were chosen or named. If the
// message is to all, or to a name without a host, it is for every host.
func (o *outbox) targets(m *protocol.Message) []protocol.Name {
	var hosts []protocol.Name
	add := func(h protocol.Name) {
		if h != o.Config.Alias && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	for _, a := range m.To {
		if c, ok := m.ChosenFor(a.Name); ok {
			add(c.Host)
		} else if a.Host != "" {
			add(protocol.Name(a.Host))
		} else {
			o.Folded(func(s *fleet.State) {
				for _, h := range s.Keys().Hosts() {
					add(h.Alias)
				}
			})
		}
	}
	return hosts
}
