package parties

import (
	"slices"
	"strconv"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// TakeFor is how long a task or a thing is taken if its taker does not say how long.
const TakeFor = 2 * time.Hour

// MaxLease is the longest time for which somebody has a task or a thing.
const MaxLease = 30 * 24 * time.Hour

// nextLabel is the label of an item that comes after `n` others.
func nextLabel(letter string, n int) protocol.Label {
	return protocol.Label(letter + strconv.Itoa(n+1))
}

func (p Party) propose(d affair.Deed, said protocol.PartyProposal) (Party, error) {
	me := p.memberWho(d)
	pr := &party.Proposal{
		Path: d.Message.Path, Label: nextLabel("A", len(p.Proposals)), Text: said.Item.Text, By: me.Name, Time: d.Timestamp, Mode: p.Rules.ConsensusMode,
	}
	if pr.Mode == protocol.ConsensusLeader {
		pr.Voters = []protocol.Address{{Name: p.Leader.Human, Host: p.Leader.Host.String()}}
	} else {
		for _, m := range p.Members {
			pr.Voters = append(pr.Voters, m.Address())
		}
		pr.Votes = []party.Vote{{Path: d.Message.Path, Who: me.Address(), Accept: true, Time: d.Timestamp}}
	}
	p.Proposals = affair.Added(p.Proposals, pr)
	return p, nil
}

// Proposal is the agreement that a reference means: by the message that it answers, or by its
// label.
func (p Party) Proposal(re protocol.Path, label protocol.Label) *party.Proposal {
	return each.Find(p.Proposals, func(pr *party.Proposal) bool { return pr.Path == re || re.IsZero() && pr.Label == label })
}

func (p Party) vote(d affair.Deed, v protocol.Vote) (Party, error) {
	re, _ := d.AnsweredPath()
	pr := p.Proposal(re, v.Item.Label)
	if pr == nil {
		return p, refusal.New(refusal.Unknown, "", "%q has no agreement %s", p.Name, v.Item)
	}
	who := protocol.Address{Name: d.Author().Name, Host: d.Host.String()}
	switch {
	case pr.Settled() != party.Pending:
		return p, refusal.New(refusal.Forbidden, "", "%s is %s already", pr.Label, pr.Settled())
	case pr.Mode == protocol.ConsensusLeader:
		if err := p.leads(d, v.Decides(pr.Path)); err != nil {
			return p, err
		}
		who = pr.Voters[0]
	case !slices.Contains(pr.Voters, who):
		return p, refusal.New(refusal.Forbidden, "", "%s was no member of %q when %s was put", who, p.Name, pr.Label)
	case p.memberWho(d) == nil:
		return p, notMember(p, who.Name)
	}
	p.Proposals = affair.Edited(p.Proposals, pr, func(pr *party.Proposal) {
		pr.Votes = slices.DeleteFunc(slices.Clone(pr.Votes), func(b party.Vote) bool { return b.Who == who })
		pr.Votes = append(pr.Votes, party.Vote{Path: d.Message.Path, Who: who, Accept: v.Accept, Time: d.Timestamp, Reason: v.Reason})
	})
	return p, nil
}

func (p Party) addTask(d affair.Deed, said protocol.PartyTask) (Party, error) {
	p.Tasks = affair.Added(p.Tasks, &party.Task{Path: d.Message.Path, Label: nextLabel("T", len(p.Tasks)), Text: said.Item.Text, By: d.Author().Name, Time: d.Timestamp})
	return p, nil
}

// Task is the task that a reference means: by the message that it answers, or by its label.
func (p Party) Task(re protocol.Path, label protocol.Label) *party.Task {
	return each.Find(p.Tasks, func(t *party.Task) bool { return t.Path == re || re.IsZero() && t.Label == label })
}

func (p Party) open(d affair.Deed, item protocol.ItemRef) (*party.Task, error) {
	re, _ := d.AnsweredPath()
	t := p.Task(re, item.Label)
	switch {
	case t == nil:
		return nil, refusal.New(refusal.Unknown, "", "%q has no task %s", p.Name, item)
	case t.Done != nil:
		return nil, refusal.New(refusal.Forbidden, "", "%s is done", t.Label)
	}
	return t, nil
}

// take gives a task to its author, or extends their time. Who has the task is judged by the times
// that deeds state: a time that had run out by then was over.
func (p Party) take(d affair.Deed, said protocol.TaskTake) (Party, error) {
	t, err := p.open(d, said.Item)
	if err != nil {
		return p, err
	}
	me := p.memberWho(d).Address()
	if t.Taker.Name != "" && t.Taker != me && d.Timestamp.Before(t.Until) {
		return p, refusal.New(refusal.Forbidden, "", "%s has %s until %s", t.Taker, t.Label, t.Until.Format(time.RFC3339))
	}
	until, err := leased(d.Timestamp, said.Until)
	if err != nil {
		return p, err
	}
	p.Tasks = affair.Edited(p.Tasks, t, func(t *party.Task) {
		if t.Taker != me && t.Taker.Name != "" {
			t.Earlier = affair.Added(t.Earlier, t.Taker)
		}
		if t.Taker != me {
			t.Taken = d.Timestamp
		}
		t.Taker, t.Until = me, until
	})
	return p, nil
}

// leased is the time until which something is taken. `from` is when it is taken, and if `until` is
// zero, the usual time holds.
func leased(from, until time.Time) (time.Time, error) {
	switch {
	case until.IsZero():
		return from.Add(TakeFor), nil
	case !until.After(from):
		return until, refusal.New(refusal.Senseless, "", "%s is over", until.Format(time.RFC3339))
	case until.After(from.Add(MaxLease)):
		return until, refusal.New(refusal.Senseless, "", "nobody has anything for longer than 30 days")
	}
	return until, nil
}

// endTask notes that a task is done, or that its taker gives it back. If nobody has taken it, the
// member who put it on the list may also say that it is done.
func (p Party) endTask(d affair.Deed, said protocol.TaskEnd) (Party, error) {
	t, err := p.open(d, said.Item)
	if err != nil {
		return p, err
	}
	me := p.memberWho(d).Address()
	switch {
	case t.Taker != me && (d.Act == protocol.ActGiveBack || t.Taker.Name != "" || t.By != me.Name):
		return p, refusal.New(refusal.Forbidden, "", "%s does not have %s", me.Name, t.Label)
	case d.Act == protocol.ActGiveBack:
		p.Tasks = affair.Edited(p.Tasks, t, (*party.Task).Free)
		return p, nil
	}
	done := &party.Done{Path: d.Message.Path, By: me, Time: d.Timestamp, Outcome: said.Outcome}
	p.Tasks = affair.Edited(p.Tasks, t, func(t *party.Task) { t.Done = done })
	return p, nil
}

const maxThings = 64

// lease reserves things. It refuses things that another member has reserved. A member that has some
// of them already extends them by a new reservation.
func (p Party) lease(d affair.Deed, said protocol.Reservation) (Party, error) {
	if len(said.Things) > maxThings {
		return p, refusal.New(refusal.Senseless, "", "it reserves more than %d things", maxThings)
	}
	until, err := leased(d.Timestamp, said.Until)
	if err != nil {
		return p, err
	}
	me := p.memberWho(d).Address()
	if l, thing := p.reserved(me, said.Things, d.Timestamp); l != nil {
		return p, refusal.New(refusal.Forbidden, "", "%s has reserved %s until %s", l.Holder, thing, l.Until.Format(time.RFC3339))
	}
	again := func(l *party.Lease) bool {
		return l.Holder == me && l.Ended.IsZero() && slices.Equal(l.Things, said.Things)
	}
	p.Leases = affair.Changed(p.Leases, again, func(l *party.Lease) { l.Ended = d.Timestamp })
	p.Leases = affair.Added(p.Leases, &party.Lease{Path: d.Message.Path, Holder: me, Things: said.Things, Fence: len(p.Leases) + 1, Time: d.Timestamp, Until: until, Reason: said.Reason})
	return p, nil
}

// reserved is what keeps `me` from reserving things at a time: the reservation of another, and one
// of the things.
func (p Party) reserved(me protocol.Address, things []string, at time.Time) (*party.Lease, string) {
	for _, l := range p.Leases {
		if l.Holder == me || !l.Ended.IsZero() || !at.Before(l.Until) {
			continue
		}
		for _, thing := range things {
			if slices.ContainsFunc(l.Things, func(other string) bool { return overlaps(thing, other) }) {
				return l, thing
			}
		}
	}
	return nil, ""
}

// Holder is who has the task or a thing that a message of `loser` takes or reserves, or who did the
// task; zero if that is nobody.
func (p Party) Holder(m *protocol.Message, loser protocol.Address) (holder protocol.Address) {
	if took, err := protocol.TakeTask.Parse(m.Body); err == nil && m.Act == protocol.ActTake {
		re, _ := m.AnsweredPath()
		if t := p.Task(re, took.Item.Label); t != nil && t.Done != nil {
			holder = t.Done.By
		} else if t != nil {
			holder = t.Taker
		}
	} else if r, err := protocol.Lease.Parse(m.Body); err == nil && m.Act == protocol.ActLease {
		if l, _ := p.reserved(loser, r.Things, m.Timestamp); l != nil {
			holder = l.Holder
		}
	}
	return holder
}

// overlaps reports whether two things are the same, or one is a folder with the other in it.
func overlaps(a, b string) bool {
	within := func(folder, path string) bool {
		if folder != "" && folder[len(folder)-1] != '/' {
			folder += "/"
		}
		return len(path) > len(folder) && path[:len(folder)] == folder
	}
	return a == b || within(a, b) || within(b, a)
}

func (p Party) release(d affair.Deed, _ protocol.LeaseEnd) (Party, error) {
	re, _ := d.AnsweredPath()
	me := p.memberWho(d).Address()
	for _, l := range p.Leases {
		if l.Path == re && l.Holder == me && l.Ended.IsZero() {
			p.Leases = affair.Edited(p.Leases, l, func(l *party.Lease) { l.Ended = d.Timestamp })
			return p, nil
		}
	}
	return p, refusal.New(refusal.Unknown, "", "%s has no such reservation", me.Name)
}
