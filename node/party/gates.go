package party

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Gates returns the gates of parties, in the order of the parties.
func (p *Parties) Gates(r control.GatesRequest) ([]control.Gate, error) {
	list := []control.Gate{}
	var items []*fleet.Item
	p.Folded(func(s *fleet.State) {
		for _, f := range p.asking(s) {
			for _, g := range f.Gates {
				v := p.gate(s, f, g)
				named := r.ID == v.ID || r.ID == v.Path
				if !named && (r.ID != "" || !r.All && !g.Waits() || !v.Here) {
					continue
				}
				if it, ok := s.Ledger.Item(g.Path); ok {
					list, items = append(list, v), append(items, it)
				}
			}
		}
	})
	if r.ID != "" && len(list) == 0 {
		return list, control.Errorf(control.KindNotFound, "see what waits: parley gates", "nothing is asked of a human as %q", r.ID)
	}
	for i, it := range items {
		file, err := p.File(it)
		if err != nil {
			return list, err
		}
		m, err := protocol.Decode(it.Path, file)
		if err != nil {
			return list, err
		}
		if list[i].Shown = m.Body; r.Files {
			list[i].File = base64.StdEncoding.EncodeToString(file)
		}
	}
	return list, nil
}

// GateAt returns the gate that a message opens, if it waits for this host's human. It is asked
// while the state is read.
func (p *Parties) GateAt(s *fleet.State, path protocol.Path) (control.Gate, bool) {
	if !s.HasAffair(parties.KindName, path.Channel().String()) {
		return control.Gate{}, false
	}
	f := p.in(s, path.Channel())
	g := f.Gate(path)
	if g == nil || !g.Waits() {
		return control.Gate{}, false
	}
	v := p.gate(s, f, g)
	return v, v.Here
}

// GateChange says which gate a message opens or answers. It is nil if the message does neither. It
// is asked while the state is read.
func (p *Parties) GateChange(s *fleet.State, it *fleet.Item) *control.GateChange {
	if it.Type != protocol.TypeText || !slices.Contains(p.kind.Deeds(), it.Act) || !s.HasAffair(parties.KindName, it.Path.Channel().String()) || s.Void(it) != nil {
		return nil
	}
	f, at, change := p.in(s, it.Path.Channel()), it.Path, control.GateOpened
	if re, answers := it.AnsweredPath(); answers && f.Gate(re) != nil && f.Gate(it.Path) == nil {
		at, change = re, control.GateAnswered
	}
	g := f.Gate(at)
	if g == nil {
		return nil
	}
	return &control.GateChange{Change: change, Path: g.Path, Title: g.Title(), Party: f.Name, Host: g.Host, From: asker(s, g).Short(), Outcome: string(g.Outcome())}
}

// maxAsked is how many gates of one agent may wait for its human at once. An agent that went wrong
// could bury the questions of others, and a human who has hundreds to read would accept them
// unread.
const maxAsked = 20

// mayAsk returns an error if too many questions of an agent already wait for its human. It is asked
// while the state is read.
func (p *Parties) mayAsk(s *fleet.State, me string) error {
	waiting := 0
	for _, f := range p.asking(s) {
		for _, g := range f.Gates {
			own := g.For == parties.ForOrganize || g.For == parties.ForWish || g.For == parties.ForAsking || g.For == parties.ForBroadcast
			if own && g.By == me && g.Host == p.Host && g.Waits() {
				waiting++
			}
		}
	}
	if waiting < maxAsked {
		return nil
	}
	return control.Errorf(control.KindRefused, "wait until they have answered: parley gates", "%s asks %s for %d things already, and that is the most", me, p.Human, waiting)
}

// Waiting returns how many gates wait for each human, by HUMAN@HOST. It is asked while the state is
// read.
func (p *Parties) Waiting(s *fleet.State) map[string]int {
	waiting := map[string]int{}
	for _, f := range p.asking(s) {
		for _, g := range f.Gates {
			if !g.Waits() {
				continue
			}
			deciders := g.Deciders
			if len(deciders) == 0 {
				deciders = humansOf(s, g.Host)
			}
			for _, human := range deciders {
				waiting[human.String()+"@"+g.Host.String()]++
			}
		}
	}
	return waiting
}

// Answer answers control.AnswerGate.
func (p *Parties) Answer(ctx context.Context, by control.Caller, r control.AnswerGateRequest) (control.Gate, error) {
	path, err := protocol.ParsePath(r.Path)
	if err != nil {
		return control.Gate{}, control.Errorf(control.KindUsage, "see what waits: parley gates", "cannot answer the gate: %v", err)
	}
	if !slices.Contains([]protocol.Act{protocol.ActPartyAccept, protocol.ActPartyReject, protocol.ActPartyDefer}, r.Act) {
		return control.Gate{}, control.Errorf(control.KindUsage, "", "%q is no answer to a gate", r.Act)
	}
	var actor parties.Actor
	var decision protocol.HumanDecision
	invites := false // what is asked leads to invites
	p.Folded(func(s *fleet.State) {
		f := p.in(s, path.Channel())
		g := f.Gate(path)
		switch {
		case g == nil:
			err = control.Errorf(control.KindNotFound, "see what waits: parley gates", "nothing is asked of a human there")
			return
		case g.Host != p.Host:
			err = control.Errorf(control.KindRefused, "run it there", "a human of %s decides it, and this is %s", g.Host, p.Host)
			return
		}
		invites = g.For == parties.ForOrganize || g.For == parties.ForWish
		decision = protocol.HumanDecision{Gate: g.Path, GateHash: g.Hash, Act: r.Act, Reason: r.Reason, Until: r.Until, TakesBack: r.TakesBack, Saw: protocol.SightOf(asker(s, g), r.Seen)}
		actor = p.actor(s, p.Human.String(), p.Human.String(), r.Hsig)
	})
	if err == nil {
		err = p.Signed(decision, r.Hsig)
	}
	if err != nil {
		return control.Gate{}, err
	}
	archived := false
	p.Folded(func(s *fleet.State) { archived = p.in(s, path.Channel()).Over() })
	answer := parties.AnswerTo{Gate: path, Act: r.Act, Reason: r.Reason, Until: r.Until, TakesBack: r.TakesBack, Sight: decision.Saw}
	if _, err := p.Do(ctx, by, actor.Answer(path.Channel(), answer)); err != nil {
		return control.Gate{}, writing.Problem(strings.TrimPrefix(string(r.Act), "party-")+" that", err)
	}
	told, failed := p.carry(ctx, path.Channel())
	if len(failed) > 0 {
		p.Log.Warn().Strs("failed", failed).Msg("what a human agreed to was not done")
	}
	if invites && r.Act == protocol.ActPartyAccept {
		postInvites(ctx, p, path.Channel(), path.Time())
	}
	var v control.Gate
	var f found
	joined := ""
	p.Folded(func(s *fleet.State) {
		f = p.in(s, path.Channel())
		if g := f.Gate(path); g != nil {
			v = p.gate(s, f, g)
			v.Announced = told[path]
			if (g.For == parties.ForInvite || g.For == parties.ForJoin) && g.Outcome() == party.Accepted {
				if joined = g.Whom.Name; archived {
					v.Title += " (the party was archived and is open again, with " + joined + " alone)"
				}
			}
		}
	})
	if joined != "" {
		speaker := joined
		if f.Member(joined, p.Host) == nil {
			speaker = f.Leader.Via
		}
		p.notice(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(speaker)}, speaker, f, joined+" joined "+f.Name)
	}
	return v, nil
}

// Start does, at the start of the node, what humans agreed to and what the node's last end cut
// short.
func (p *Parties) Start(ctx context.Context) {
	var channels []protocol.ChannelID
	p.Folded(func(s *fleet.State) {
		for _, name := range s.Affairs(parties.KindName) {
			channels = append(channels, protocol.ChannelID(name))
		}
	})
	for _, channel := range channels {
		if _, failed := p.carry(ctx, channel); len(failed) > 0 {
			p.Log.Warn().Strs("failed", failed).Msg("what a human agreed to was not done")
		}
	}
}

// carry does what agents of this host wanted to do in a party and humans agreed to: it sends
// invites and broadcasts. Doing it again does nothing. `told` says what became of broadcasts, by
// the message that asked for each.
func (p *Parties) carry(ctx context.Context, channel protocol.ChannelID) (told map[protocol.Path]*control.Announcement, failed []string) {
	p.carrying.Lock()
	defer p.carrying.Unlock()
	type wanted struct {
		by      string
		whom    protocol.Address
		because protocol.Path
	}
	var all []wanted
	p.Folded(func(s *fleet.State) {
		f := p.in(s, channel)
		if !f.Begun() {
			return
		}
		consider := func(w wanted) {
			if !f.InvitedFor(w.because, w.whom) && f.Member(w.by, p.Host) != nil && f.Member(w.whom.Name, protocol.Name(w.whom.Host)) == nil && f.Invited(w.whom) == nil {
				all = append(all, w)
			}
		}
		if f.Leader.Host == p.Host {
			for _, whom := range f.Wanted {
				consider(wanted{f.Leader.Via, whom, f.Organized})
			}
		}
		for _, g := range f.Gates {
			if g.For == parties.ForWish && g.Host == p.Host && g.Outcome() == party.Accepted {
				consider(wanted{g.By, g.Whom, g.Path})
			}
		}
	})
	for _, w := range all {
		command := p.inviting(w.by, channel, w.whom, w.because)
		if _, err := p.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(w.by)}, command); err != nil {
			failed = append(failed, w.whom.String()+": "+writing.Problem("invite", err).Error())
		}
	}
	told, untold := p.carryBroadcasts(ctx, channel)
	return told, append(failed, untold...)
}
