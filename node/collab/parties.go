package collab

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/node/notebook"
	"github.com/parleyfleet/parley/protocol"
)

// took reports whether `who`, of this host, is or was in a party. A human of this host must have
// agreed to that.
func (c *Collab) took(p parties.Party, who string) bool {
	left := func(gone party.Departure) bool { return gone.Name == who && gone.Host == c.Host }
	return p.Member(who, c.Host) != nil || slices.ContainsFunc(p.Left, left)
}

// allParties yields the parties of the record. It is asked while the state is read.
func (c *Collab) allParties(s *fleet.State) iter.Seq[parties.Party] {
	return func(yield func(parties.Party) bool) {
		for _, name := range s.Affairs(parties.KindName) {
			if !yield(fleet.Value(s, c.parties, name, c.Now())) {
				return
			}
		}
	}
}

// partyFiles are the parties in which `who`, of this host, is or was, in the form of files and in the
// order in which they were organized. If `changed` names channels in which something
// has happened, they are all parties with a name that is concerned: what happens to one party may
// give another party with its name another file. It is asked while the state is read.
func (c *Collab) partyFiles(s *fleet.State, who string, changed []protocol.ChannelID) (files []notebook.Party) {
	var mine []parties.Party
	for p := range c.allParties(s) {
		if c.took(p, who) {
			mine = append(mine, p)
		}
	}
	slices.SortFunc(mine, func(a, b parties.Party) int {
		return cmp.Or(a.Created.Compare(b.Created), a.Organized.Compare(b.Organized))
	})
	touched := map[protocol.Slug]bool{}
	for _, p := range mine {
		if changed == nil || slices.ContainsFunc(changed, func(channel protocol.ChannelID) bool { return c.concerns(s, p, channel) }) {
			touched[p.Slug] = true
		}
	}
	var scores Scores
	stems := parties.Stems(mine)
	for i, p := range mine {
		if !touched[p.Slug] {
			continue
		}
		if scores == nil {
			scores = c.Scores(s)
		}
		_, _, said := s.Ledger.Said(p.Organized.Channel())
		file := p.File(said, func(m party.Member) parties.Standing { return c.standing(s, p, m, scores) })
		files = append(files, notebook.Party{Stem: stems[i], File: file, Over: p.EndedAt()})
	}
	return files
}

// standing is how a member of a party stands, by all scores that there are.
func (c *Collab) standing(s *fleet.State, p parties.Party, m party.Member, all Scores) parties.Standing {
	of := parties.Standing{Trust: string(c.Trust(s, p.Leader.Via, m.Name, all.Relation(p.Slug, p.Leader.Via, m.Name)))}
	if scores := all[p.Slug][m.Name]; len(scores) > 0 {
		of.Score, of.Synced = scores[len(scores)-1].Raw, scores[len(scores)-1].At
	}
	return of
}

// concerns reports whether what happens in a channel changes the file of a party. It is asked while
// the state is read.
func (c *Collab) concerns(s *fleet.State, p parties.Party, channel protocol.ChannelID) bool {
	if p.Organized.Channel() == channel || !s.HasAffair(c.kind.Name, channel.String()) {
		return p.Organized.Channel() == channel
	}
	t := fleet.Value(s, c.kind, channel.String(), c.Now())
	in := func(who string) bool {
		return p.Leader.Via == who || slices.ContainsFunc(p.Members, func(m party.Member) bool { return m.Name == who })
	}
	return t.Slug == p.Slug || in(t.Pair[0]) && in(t.Pair[1]) // by all their scores, one trusts the other
}

// talks are the channels in which the two of a topic write to each other besides it. They are made anew
// once a deed of a topic has come, and not for each mail.
type talks struct {
	mu           sync.Mutex // guards what follows
	of           *fleet.State
	turn, epochs int
	two          map[protocol.ChannelID][]string
}

// in are the two who have such a channel; nil for another one. It is asked while the state is read.
func (ts *talks) in(c *Collab, s *fleet.State, channel protocol.ChannelID) []string {
	defer ts.mu.Unlock()
	ts.mu.Lock()
	if turn, epochs := s.TurnOf(c.kind.Name), s.Epochs(); ts.of != s || ts.turn != turn || ts.epochs != epochs {
		ts.of, ts.turn, ts.epochs, ts.two = s, turn, epochs, map[protocol.ChannelID][]string{}
		for _, t := range c.all(s) {
			ts.two[c.talkOf(t)] = t.Pair[:]
		}
	}
	return ts.two[channel]
}

// Concerned are those whose files change because of what happens in a channel: the two participants
// of a topic, also if they write to each other besides it, and everybody of this host who is or was
// in a party that it concerns.
func (c *Collab) Concerned(channel protocol.ChannelID) (names []string) {
	c.Folded(func(s *fleet.State) {
		if s.HasAffair(c.kind.Name, channel.String()) {
			if t := fleet.Value(s, c.kind, channel.String(), c.Now()); t.Slug != "" {
				names = append(names, t.Pair[:]...)
			}
		} else if !s.HasAffair(parties.KindName, channel.String()) {
			names = c.talks.in(c, s, channel)
			return
		}
		for p := range c.allParties(s) {
			if !c.concerns(s, p, channel) {
				continue
			}
			for _, a := range c.Agents() {
				if c.took(p, a.Name.String()) {
					names = append(names, a.Name.String())
				}
			}
		}
	})
	return names
}
