// Package party is what a node does for agents and humans who meet in parties. It shows who is in a
// party and how they stand, writes what they do, and asks humans at gates. What holds follows from
// the record alone (fleet/parties). This package only acts for those whom this host serves, at
// their request.
package party

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// Options is what this part needs of its node.
type Options struct {
	RecordID string
	Host     protocol.Name
	Human    protocol.Name
	Now      func() time.Time
	Folded   folded.State
	Log      zerolog.Logger
	// Agents returns the agents that this host serves.
	Agents func() []configs.Agent
	// Do carries out a command as somebody asked for it, and returns what was written. It returns
	// an error also if what was written does not count.
	Do func(ctx context.Context, by control.Caller, c affair.Command) ([]protocol.Path, error)
	// Signed returns an error if this host's human has a key and has not signed the decision.
	Signed func(d protocol.HumanDecision, sig string) error
	// Send writes a message for somebody.
	Send func(ctx context.Context, by control.Caller, r control.SendRequest) (control.Message, error)
	// Post tells messages on an issue, once. The caller has decided that this is allowed.
	Post func(ctx context.Context, anchor, text string, messages ...protocol.Path) (url string, again bool, err error)
	// File returns the file of a message as it is in the record.
	File func(it *fleet.Item) ([]byte, error)
	// Seen returns when a host was heard last, and whether it is there now.
	Seen func(host protocol.Name) (last time.Time, live bool)
	// At returns what an agent's session or run does now, "" if that is not known.
	At func(host protocol.Name, agent string) control.AgentState
	// Messages tells of messages as they enter the state.
	Messages *feed.Feeds[protocol.Path]
	// Events tells what comes, and which hosts come and go.
	Events *feed.Events
	// Current is the file that keeps which party each agent means.
	Current string
}

// Standing is what is known of agents in addition to parties.
type Standing interface {
	Scores(s *fleet.State) collab.Scores
	Trust(s *fleet.State, via, member string, scores []collab.Score) topic.Trust
	Acting(by control.Caller, a control.Acting, self bool) (collab.Acting, error)
	Viewing(by control.Caller, v control.Viewing) (collab.Acting, error)
	SumUp(ctx context.Context, by control.Caller, me string, slug protocol.Slug, partners []string) error
	// ByIssue reports whether somebody is a partner of `me` to whom an issue is the only way.
	ByIssue(s *fleet.State, me, with string) bool
	Topic(ctx context.Context, by control.Caller, r control.TopicRequest) (control.Topic, error)
	Contacts(agent string) map[string]psi.Contact
}

// Parties answers the verbs about parties and gates. Its methods may be called concurrently.
type Parties struct {
	Options
	standing Standing
	kind     *affair.Kind[parties.Party]
	topics   *affair.Kind[topics.Topic]
	policies *affair.Kind[policy.Policy]
	current  *current
	carrying sync.Mutex // held while carry does what humans agreed to: two that did it at once would tell it twice
}

// New makes this part of a node.
func New(o Options, s Standing) *Parties {
	return &Parties{Options: o, standing: s, kind: parties.Kind(o.RecordID), topics: topics.Kind(o.RecordID), policies: policy.Kind(o.RecordID), current: &current{file: o.Current}}
}

type found struct {
	channel protocol.ChannelID
	parties.Party
}

// all returns the parties of the record, in the order in which they were organized. It is asked
// while the state is read.
func (p *Parties) all(s *fleet.State) []found {
	return slices.DeleteFunc(p.asking(s), func(f found) bool { return f.Organized.IsZero() })
}

// asking returns whatever has gates: the parties of the record, and the topics of which agents want
// to tell others. It is asked while the state is read.
func (p *Parties) asking(s *fleet.State) (all []found) {
	for _, name := range s.Affairs(parties.KindName) {
		all = append(all, p.in(s, protocol.ChannelID(name)))
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.Created.Compare(b.Created), a.Organized.Compare(b.Organized))
	})
	return all
}

// in returns the party in a channel, as it stands now. It is asked while the state is read.
func (p *Parties) in(s *fleet.State, channel protocol.ChannelID) found {
	return found{channel, fleet.Value(s, p.kind, channel.String(), p.Now())}
}

// isOf reports whether `me` has to do with a party: as its leader, as a member, or as the agent of
// this host through which it was organized.
func (p *Parties) isOf(f found, me string) bool {
	return f.Leader.Human == me && f.Leader.Host == p.Host || f.Member(me, p.Host) != nil || f.Leader.Via == me && f.Leader.Host == p.Host
}

// short is a name that only this party has: its slug. If another party has the same slug, the
// beginning of the channel's id follows.
func short(all []found, f found) string {
	for _, other := range all {
		if other.Slug == f.Slug && other.channel != f.channel {
			return f.Slug.String() + "-" + id8(f.channel)
		}
	}
	return f.Slug.String()
}

func id8(c protocol.ChannelID) string { return c.String()[:8] }

// find returns the party that a request of `me` names. If `name` is "", that is the current party
// of `me`, or else the only one that `me` is in. It is asked while the state is read.
func (p *Parties) find(s *fleet.State, me, name string) (found, error) {
	all := p.all(s)
	if name == "" {
		return p.usual(all, me)
	}
	slug, _ := protocol.SlugOf(name)
	var fit []found
	for _, f := range all {
		if f.channel.String() == name || f.Organized.String() == name || short(all, f) == name {
			return f, nil
		}
		if f.Slug == slug {
			fit = append(fit, f)
		}
	}
	if own := slices.DeleteFunc(slices.Clone(fit), func(f found) bool { return !p.isOf(f, me) || f.Over() }); len(own) == 1 {
		return own[0], nil
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return found{}, control.Errorf(control.KindNotFound, "see all: parley party list --fleet", "there is no party %q", name)
	}
	return found{}, control.Errorf(control.KindUsage, "name one: "+strings.Join(shorts(all, fit), ", "), "%d parties are called %q", len(fit), name)
}

func shorts(all, some []found) []string {
	return each.Of(some, func(f found) string { return short(all, f) })
}

// usual returns the party that `me` means if no party is named.
func (p *Parties) usual(all []found, me string) (found, error) {
	var mine []found
	for _, f := range all {
		if p.isOf(f, me) && !f.Over() {
			mine = append(mine, f)
		}
	}
	current := p.current.of(me)
	for _, f := range mine {
		if f.Organized.String() == current {
			return f, nil
		}
	}
	if begun := slices.DeleteFunc(slices.Clone(mine), func(f found) bool { return !f.Begun() }); len(begun) > 0 {
		mine = begun // nobody means a party that an agent only wishes for
	}
	switch len(mine) {
	case 1:
		return mine[0], nil
	case 0:
		return found{}, control.Errorf(control.KindNotFound, "begin one: parley party organize TOPIC; or name one: --party", "%s is in no party", me)
	}
	return found{}, control.Errorf(control.KindUsage, "choose one: parley party use "+short(all, mine[0])+"; or name it: --party", "%s is in %d parties: %s", me, len(mine), strings.Join(shorts(all, mine), ", "))
}

// viewing is whose parties a caller asks for. If nobody is named, and only one of the agents of this
// host is in a party, it is that one.
func (p *Parties) viewing(by control.Caller, v control.Viewing) (collab.Acting, error) {
	who, err := p.standing.Viewing(by, v)
	if err == nil || v.For != "" {
		return who, err
	}
	var in []string
	p.Folded(func(s *fleet.State) {
		all := p.all(s)
		for _, a := range p.Agents() {
			if _, none := p.usual(all, a.Name.String()); none == nil || control.AsError(none).Kind != control.KindNotFound {
				in = append(in, a.Name.String())
			}
		}
	})
	if len(in) == 1 {
		return collab.Acting{Me: in[0], Chosen: "only"}, nil
	}
	return who, err
}

// List answers control.Parties.
func (p *Parties) List(_ context.Context, by control.Caller, r control.PartiesRequest) (control.PartyList, error) {
	list := control.PartyList{Parties: []control.Party{}}
	if !r.Fleet {
		who, err := p.viewing(by, r.Viewing)
		if err != nil {
			return list, err
		}
		list.Me, list.Chosen = who.Me, who.Chosen
	}
	p.Folded(func(s *fleet.State) {
		all, scores := p.all(s), p.standing.Scores(s)
		if usual, none := p.usual(all, list.Me); none == nil && list.Me != "" {
			list.Current = usual.Organized.String()
		}
		for _, f := range all {
			if (r.Fleet || p.isOf(f, list.Me)) && (r.Closed || !f.Over()) && (r.Team == "" || f.Team == r.Team) {
				v := p.view(s, all, f, scores)
				v.Current = v.Organized == list.Current
				list.Parties = append(list.Parties, v)
			}
		}
	})
	slices.SortStableFunc(list.Parties, func(a, b control.Party) int { return b.LastActivity.Compare(a.LastActivity) })
	return list, nil
}

// Show answers control.ShowParty.
func (p *Parties) Show(_ context.Context, by control.Caller, r control.PartyRequest) (v control.Party, err error) {
	who, err := p.viewing(by, r.Viewing)
	if err != nil && r.Party == "" {
		return control.Party{}, err
	}
	p.Folded(func(s *fleet.State) {
		var f found
		if f, err = p.find(s, who.Me, r.Party); err == nil {
			v = p.whole(s, f, who.Me)
		}
	})
	return v, err
}

// Use answers control.UseParty.
func (p *Parties) Use(_ context.Context, by control.Caller, r control.UsePartyRequest) (v control.Party, err error) {
	who, err := p.standing.Acting(by, r.Acting, false)
	if err != nil {
		return control.Party{}, err
	}
	p.Folded(func(s *fleet.State) {
		var f found
		if f, err = p.find(s, who.Me, r.Party); err != nil {
			return
		}
		if !p.isOf(f, who.Me) {
			err = control.Errorf(control.KindRefused, "", "%s is not in %q", who.Me, f.Name)
			return
		}
		v = p.whole(s, f, who.Me)
	})
	if err == nil {
		if err = p.current.set(who.Me, v.Organized); err == nil {
			v.Current = true
		}
	}
	return v, err
}
