package party

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Watch asks in the background, until it is stopped, this host's human about those who ask to take
// part in a topic that an agent of this host announced (R31). It also warns members of parties.
func (p *Parties) Watch() (stop func()) {
	return wait.Background(joins{Parties: p}.watch)
}

// joins asks about those who want to take part in a topic, and warns members of parties.
type joins struct {
	*Parties
	linked bool // the node runs for so long that a host which is not heard is gone
}

func (p joins) watch(ctx context.Context) {
	came := p.Messages.Follow(feed.MaxMessages, nil)
	defer came.End()
	hourly := time.NewTicker(time.Hour) // scores fall with time
	defer hourly.Stop()
	for all, warns, paths := true, true, []protocol.Path(nil); ; {
		var in, contested []protocol.ChannelID
		p.Folded(func(s *fleet.State) {
			for _, path := range paths {
				it, _ := s.Ledger.Item(path)
				switch {
				case it == nil:
				case it.Act == protocol.ActJoinRequest:
					in = append(in, path.Channel())
				case it.Act == protocol.ActTake, it.Act == protocol.ActLease, it.Act == protocol.ActSyncResult:
					contested, warns = append(contested, path.Channel()), true
				case it.Act == protocol.ActPartyAccept: // who asked before a party began can be invited now
					all = true
				}
			}
			if all {
				in = nil
				for _, name := range s.Affairs(topics.KindName) {
					in = append(in, protocol.ChannelID(name))
				}
			}
		})
		for _, channel := range in {
			if err := p.letIn(ctx, channel); err != nil && ctx.Err() == nil {
				p.Log.Warn().Err(err).Stringer("channel", channel).Msg("nobody was asked whether somebody may take part in a topic")
			}
		}
		if warns {
			if err := p.warn(ctx, contested); err != nil && ctx.Err() == nil {
				p.Log.Warn().Err(err).Msg("a member of a party was not warned")
			}
		}
		select {
		case <-came.Wake():
			missed := 0
			paths, missed = came.Drain()
			all, warns = missed > 0, missed > 0
		case <-hourly.C:
			all, warns, paths, p.linked = false, true, nil, true
		case <-ctx.Done():
			return
		}
	}
}

// letIn asks about everybody who wants to take part in the topic of a channel, each once.
func (p joins) letIn(ctx context.Context, channel protocol.ChannelID) error {
	p.carrying.Lock()
	defer p.carrying.Unlock()
	var joins []topic.Word
	p.Folded(func(s *fleet.State) { joins = fleet.Value(s, p.topics, channel.String(), p.Now()).Joins })
	for _, join := range joins {
		var me string
		var command affair.Command
		var err error
		p.Folded(func(s *fleet.State) {
			t := fleet.Value(s, p.topics, channel.String(), p.Now())
			if me = p.announcer(s, t, channel, join.Path); me != "" {
				command, err = p.proposal(s, t, me, join)
			}
		})
		if err == nil && command.Kind() != nil {
			_, err = p.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(me)}, command)
		}
		if err != nil {
			return writing.Problem("ask whether "+join.By+" may take part", err)
		}
	}
	return nil
}

// announcer is the agent of this host whose human decides on a request to take part: the one who
// announced the topic last before that or, if nobody did, who opened it. It is "" if that is none
// of this host. It is asked while the state is read.
func (p joins) announcer(s *fleet.State, t topics.Topic, channel protocol.ChannelID, join protocol.Path) string {
	by, _ := s.Ledger.Item(t.Opened)
	before := false
	for it := range s.Ledger.ChannelBackward(channel) {
		if before && it.Act == protocol.ActBroadcast && slices.Contains(t.Pair[:], it.Author().Name) {
			by = it
			break
		}
		before = before || it.Path == join
	}
	if by == nil || by.Host != p.Host || !slices.Contains(agents(s), signer(by)) {
		return ""
	}
	me := by.Author().Name
	if _, over := t.ClosedBy(me); over {
		return ""
	}
	return me
}

// proposal is how `me` asks its human whether somebody may take part in a topic: for a party on it
// with them and the partner or, if there is one, for an invite. It is no command if that was asked
// before, or cannot be asked yet. It is asked while the state is read.
func (p joins) proposal(s *fleet.State, t topics.Topic, me string, join topic.Word) (none affair.Command, err error) {
	it, ok := s.Ledger.Item(join.Path)
	if !ok || !slices.Contains(agents(s), signer(it)) {
		return none, nil // no host vouches for them, so no human could decide for them
	}
	whom := signer(it)
	var there *found
	for _, f := range p.all(s) {
		asked := func(g *parties.Gate) bool { return g.Whom == whom && g.For != parties.ForOrganize }
		switch {
		case f.Slug != t.Slug || f.Leader.Host != p.Host || f.Leader.Via != me || f.Over() && f.Created.Before(join.Time):
		case slices.Contains(f.Wanted, whom) || f.Member(whom.Name, protocol.Name(whom.Host)) != nil || slices.ContainsFunc(f.Gates, asked):
			return none, nil
		case !f.Over() && (f.Begun() || f.Gates[0].Outcome() != party.Declined):
			there = &f
		}
	}
	reason := fmt.Sprintf("%s asks to take part in %q", whom, t.Name)
	if join.Text != "" {
		reason += ": " + join.Text
	}
	actor := parties.Actor{Record: p.RecordID, Me: me, Host: p.Host}
	if there != nil && !there.Begun() {
		return none, nil
	}
	if err := p.mayAsk(s, me); err != nil {
		return none, err
	}
	if there != nil {
		return actor.Wish(there.channel, protocol.Wish{For: protocol.WishInvite, Whom: whom, Text: reason}, humansOf(s, p.Host)), nil
	}
	o := protocol.Organizing{
		FormHead: protocol.FormHead{From: me, Topic: t.Name, At: p.Now()}, Leader: p.Human, Anchor: t.Anchor, Reason: reason,
		With: []protocol.Address{whom}, Rules: protocol.DefaultPartyRules(),
	}
	if partner, err := agentCalled(s, t.Other(me)); err == nil && partner.Name == t.Other(me) {
		o.With = []protocol.Address{partner, whom}
	}
	command, _, err := actor.Organize(o)
	return command, err
}

// signer is the author of a message at the host that signed it.
func signer(it *fleet.Item) protocol.Address {
	return protocol.Address{Name: it.Author().Name, Host: it.Host.String()}
}
