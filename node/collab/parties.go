package collab

import (
	"cmp"
	"iter"
	"slices"

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
	for _, channel := range changed {
		touched[c.slugIn(s, channel)] = true
	}
	for _, p := range mine {
		if changed == nil || slices.Contains(changed, p.Organized.Channel()) {
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
		file := p.File(said, func(m party.Member) parties.Standing { return c.standing(s, p, m, scores[p.Slug][m.Name]) })
		files = append(files, notebook.Party{Stem: stems[i], File: file, Over: p.EndedAt()})
	}
	return files
}

// standing is how a member of a party stands that has given these scores on the party's topic.
func (c *Collab) standing(s *fleet.State, p parties.Party, m party.Member, scores []Score) parties.Standing {
	of := parties.Standing{Trust: string(c.Trust(s, p.Leader.Via, m.Name, scores))}
	if n := len(scores); n > 0 {
		of.Score, of.Synced = scores[n-1].Raw, scores[n-1].At
	}
	return of
}

// slugIn is the short form of the topic that is or was open in a channel; "" if there is none. It
// is asked while the state is read.
func (c *Collab) slugIn(s *fleet.State, channel protocol.ChannelID) protocol.Slug {
	if !s.HasAffair(c.kind.Name, channel.String()) {
		return ""
	}
	return fleet.Value(s, c.kind, channel.String(), c.Now()).Slug
}

// Concerned are those whose files change because of what happens in a channel: the two participants
// of a topic, and everybody of this host who is or was in a party there, or in one with the topic's
// name.
func (c *Collab) Concerned(channel protocol.ChannelID) (names []string) {
	c.Folded(func(s *fleet.State) {
		slug := c.slugIn(s, channel)
		if slug != "" {
			pair := fleet.Value(s, c.kind, channel.String(), c.Now()).Pair
			names = append(names, pair[:]...)
		} else if !s.HasAffair(parties.KindName, channel.String()) {
			return
		}
		for p := range c.allParties(s) {
			if p.Organized.Channel() != channel && p.Slug != slug {
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
