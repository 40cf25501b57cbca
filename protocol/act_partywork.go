package protocol

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/each"
)

// The acts of the work in a party, and what their bodies say.
const (
	ActPartyAgree Act = "party-agree"   // PartyProposal
	ActVote       Act = "party-vote"    // Vote
	ActTask       Act = "party-task"    // PartyTask
	ActTake       Act = "party-take"    // TaskTake
	ActLease      Act = "party-lease"   // Reservation
	ActRelease    Act = "party-release" // LeaseEnd
)

// PartyProposal puts an agreement to a party. The rule consensus_mode says whose acceptance settles
// it.
type PartyProposal struct {
	FormHead
	Item ItemRef
}

// ProposeToParty is the act by which an agreement is put to a party. By that its author accepts it.
var ProposeToParty = formAct(deed(ActPartyAgree, "PARTY AGREE", "Puts an agreement to a party."),
	PartyProposal{exampleHead, ItemRef{Label: "A1", Text: "Panes are named after agents"}}, func(p *PartyProposal) []part {
		return []part{
			itemPart(&p.Item), needs(&p.Item.Text, "it does not say what is to be agreed"), noteLine("REQUEST: Accept or decline: a message that begins as this."),
			noteLine("  PARTY VOTE | from: <you> then lines ITEM: <label> and VOTE: accept or reject, and REASON: <why>"),
		}
	})

// Vote is what a member, or the leader, says to an agreement that was put to a party.
type Vote struct {
	FormHead
	Item   ItemRef
	Accept bool
	Reason string // may be empty if the vote accepts
}

// VoteInParty is the act by which a member, or the leader, votes.
var VoteInParty = formAct(deed(ActVote, "PARTY VOTE", "Accepts or declines an agreement that was put to a party."),
	Vote{FormHead: exampleHead, Item: ItemRef{Label: "A1", Text: "Panes are named after agents"}, Accept: true}, func(v *Vote) []part {
		return []part{
			itemPart(&v.Item), partOf("VOTE", &v.Accept, parseVote, func(yes bool) string { return map[bool]string{true: "accept", false: "reject"}[yes] }),
			textPart("REASON", &v.Reason), check(func() bool { return v.Accept || v.Reason != "" }, noReason),
		}
	})

func parseVote(said string) (accept bool, err error) {
	if said != "accept" && said != "reject" {
		err = fmt.Errorf("a vote is accept or reject, not %.80q", said)
	}
	return said == "accept", err
}

// Decides is what the leader's signature of a vote is about. It names the agreement by the message
// that put it, because another party may have an agreement with the same label and words.
func (v Vote) Decides(agreement Path) string {
	v.FormHead = FormHead{}
	return VoteInParty.Format(v) + "\nabout " + agreement.String()
}

// PartyTask is something that a member of a party is to do.
type PartyTask struct {
	FormHead
	Item ItemRef
}

// AddTask is the act by which a party is given something to do.
var AddTask = formAct(deed(ActTask, "PARTY TASK", "Puts something that one of a party is to do on its list."),
	PartyTask{exampleHead, ItemRef{Label: "T1", Text: "Write the restart test"}}, func(t *PartyTask) []part {
		return []part{
			itemPart(&t.Item), needs(&t.Item.Text, "it does not say what is to be done"), noteLine("REQUEST: One of you takes it: a message that begins as this."),
			noteLine("  PARTY TAKE | from: <you> then a line ITEM: <label>"),
		}
	})

// TaskTake says that its author takes a task, or keeps it, until a time. After that time another
// member may take it.
type TaskTake struct {
	FormHead
	Item  ItemRef
	Until time.Time // UTC
}

// TakeTask is the act by which a member takes a task.
var TakeTask = formAct(deed(ActTake, "PARTY TAKE", "Takes a task of a party: the first in the order of the record has it."),
	TaskTake{exampleHead, ItemRef{Label: "T1", Text: "Write the restart test"}, exampleTime.Add(2 * time.Hour)}, func(t *TaskTake) []part {
		return []part{itemPart(&t.Item), timePart("UNTIL", &t.Until)}
	})

// TaskEnd says that a task is done, or that the member who had it gives it back.
type TaskEnd struct {
	FormHead
	Item    ItemRef
	Outcome string // may be empty
}

// The acts by which a task ends, or becomes free again.
const (
	ActDone     Act = "party-done"
	ActGiveBack Act = "party-give-back"
)

// FinishTask and GiveTaskBack are the acts by which a member that has a task ends it or gives it
// back.
var (
	FinishTask   = taskEnd(ActDone, "PARTY DONE", "Says that a task of a party is done.")
	GiveTaskBack = taskEnd(ActGiveBack, "PARTY GIVE-BACK", "Gives a task of a party back, so that another one takes it.")
)

func taskEnd(act Act, heading, doc string) WordAct[TaskEnd] {
	return formAct(deed(act, heading, doc),
		TaskEnd{exampleHead, ItemRef{Label: "T1", Text: "Write the restart test"}, "It is in the tree."},
		func(e *TaskEnd) []part { return []part{itemPart(&e.Item), textPart("OUTCOME", &e.Outcome)} })
}

// Reservation reserves files or other things for its author until a time. It is advice: nothing is
// locked.
type Reservation struct {
	FormHead
	Things []string
	Until  time.Time // UTC
	Reason string    // may be empty
}

// Lease is the act by which a member reserves things.
var Lease = formAct(deed(ActLease, "PARTY LEASE", "Reserves files or other things for a member of a party, for a while."),
	Reservation{exampleHead, []string{"src/panes.go"}, exampleTime.Add(2 * time.Hour), "I split it."}, func(r *Reservation) []part {
		return []part{
			timePart("UNTIL", &r.Until), check(func() bool { return !r.Until.IsZero() }, "it does not say until when"), textPart("REASON", &r.Reason),
			{key: "THINGS", read: func(f *form) error { r.Things = f.list("THINGS"); return nil }},
			{write: func() string {
				return "THINGS:" + strings.Join(each.Of(r.Things, func(thing string) string { return "\n- " + flatText(thing) }), "")
			}},
			check(func() bool { return len(r.Things) > 0 }, "it does not say what it reserves"),
		}
	})

// LeaseEnd ends a reservation of its author before its time.
type LeaseEnd struct{ FormHead }

// Release is the act by which a member ends its reservation: the one that the message answers.
var Release = formAct(deed(ActRelease, "PARTY RELEASE", "Ends a reservation in a party before its time."), LeaseEnd{exampleHead}, func(*LeaseEnd) []part { return nil })
