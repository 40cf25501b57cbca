package fleet

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/protocol"
)

// Whatever is done in a party, by humans with keys of their own, with keys that follow, end
// or are a thief's, by agents, strangers and whoever has a host's key too and dates what they
// write as they like: the order in which it arrives, repeated, in groups and with archives in
// between, makes no difference to what the party is.
func TestPartiesDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	held := map[protocol.Act]int{}
	for seed := range casesUntil(24, held, parties.Kind(testRecord).Deeds()) {
		c := newPartyChaos(t, uint64(seed))
		for range 80 + c.IntN(80) {
			c.step()
		}
		state := foldedOf(t, c.anchor, c.files)
		for it := range state.Ledger.All() {
			if it.affair.Kind == parties.KindName && state.Void(it) == nil {
				held[it.Act]++
			}
		}
		c.sameInAnyOrder(seed, snapshot(state), 2, true)
	}
	for _, act := range parties.Kind(testRecord).Deeds() { // else this would show nothing
		if held[act] == 0 && !fewCases {
			t.Errorf("no %s held in any case", act)
		}
	}
}

// casesUntil counts cases: as many as a test usually tries, and more as long as an act has never
// held, ten times as many at most.
func casesUntil(usually int, held map[protocol.Act]int, acts []protocol.Act) iter.Seq[int] {
	lacking := func() bool {
		return slices.ContainsFunc(acts, func(a protocol.Act) bool { return held[a] == 0 })
	}
	return func(yield func(int) bool) {
		for n := 0; n < seeds(usually) || !fewCases && n < 10*usually && lacking(); n++ {
			if !yield(n) {
				return
			}
		}
	}
}

// partyChaos is a party of words, of host a where nat is, and of calc, of host b where eve is.
type partyChaos struct {
	*chaos
	begun   time.Time
	channel protocol.ChannelID
	state   *State // of all files that were told when it was asked for last
	told    int
	answers []string    // hashes of what answers gates
	forked  []*testHost // who has the key of a, or of b, and goes on from where that host stood once
}

func newPartyChaos(t *testing.T, seed uint64) *partyChaos {
	c := &partyChaos{chaos: newChaos(t, seed)}
	c.state = New(c.anchor, testKinds()...)
	c.begun = c.now.Add(2 * time.Second)
	c.channel = protocol.PartyChannel(testRecord, "a", "party", c.begun)
	for i, human := range map[int]protocol.Name{0: "nat", 2: "eve"} {
		says := protocol.HostState{Host: c.hosts[i].alias, Key: c.hosts[i].public(t), Humans: []protocol.Name{human}, Agents: []protocol.HostedAgent{{Name: [3]protocol.Name{"words", "", "calc"}[i]}}}
		c.files = append(c.files, c.hosts[i].write(t, New(c.anchor).hostDraft(protocol.ActHostJoin, says), c.begun.Add(-time.Second), c.Uint32()))
		if c.IntN(4) > 0 {
			c.key(i, false)
		}
	}
	c.now = c.begun
	if c.organize(c.IntN(4) > 0); c.IntN(6) > 0 {
		c.answer(protocol.ActPartyAccept)
	}
	return c
}

// at is where a human or an agent is: the number of the host, and the human there.
func (c *partyChaos) at(who string) (host int, human string) {
	if who == "eve" || who == "calc" || who == "mawjs" {
		return 2, "eve"
	}
	return 0, "nat"
}

// key has a host tell of a key of its human: a first one, one that follows or another's.
func (c *partyChaos) key(i int, anyhow bool) {
	human := []protocol.Name{0: "nat", 2: "eve"}[i]
	says := protocol.HumanKey{Host: c.hosts[i].alias, Human: human}
	own, before := newTestHost(c.t, "x", human.String()), (*testHost)(nil)
	if anyhow && c.IntN(2) == 0 {
		own = newTestHost(c.t, "x", fmt.Sprint(human, c.IntN(2)))
	}
	if anyhow && c.IntN(2) == 0 {
		before = newTestHost(c.t, "x", human.String())
	}
	var err error
	if before == nil || before.public(c.t) == own.public(c.t) {
		err = says.Prove(testRecord, own.key, nil)
	} else {
		err = says.Prove(testRecord, own.key, before.key)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(i, New(c.anchor).hostDraft(protocol.ActHumanKey, says))
}

// end has a key of a human end, by itself or by one of another.
func (c *partyChaos) end(i int) {
	human := []protocol.Name{0: "nat", 2: "eve"}[i]
	says := protocol.HumanEnd{Host: c.hosts[i].alias, Of: c.hosts[i].alias, Human: human, Key: newTestHost(c.t, "x", human.String()).public(c.t)}
	by := newTestHost(c.t, "x", []string{human.String(), "nat"}[c.IntN(2)])
	for _, f := range c.files {
		if c.IntN(3) == 0 {
			says.Counts = append(says.Counts, protocol.Hash(f.data))
		}
	}
	if err := says.Agree(testRecord, by.key); err != nil {
		c.t.Fatal(err)
	}
	c.write(i, New(c.anchor).hostDraft(protocol.ActHumanRevoke, says))
}

// write has a host write a draft, or somebody else in its name: with its key, beside its
// chain and dated back, or with another key.
func (c *partyChaos) write(i int, d Draft) protocol.Path {
	h, at := c.hosts[i], c.now.Add(c.skew[i]/4)
	switch {
	case c.IntN(16) == 0:
		fork := *h
		c.forked = append(c.forked, &fork)
	case c.IntN(8) == 0 && len(c.forked) > 0:
		h = c.forked[c.IntN(len(c.forked))]
		at = at.Add(-time.Duration(c.IntN(30)) * time.Second)
	case c.IntN(24) == 0:
		h = c.hosts[c.IntN(len(c.hosts))]
	}
	if d.Message.Act.HostWord() && h.alias != c.hosts[i].alias { // which is no message at all
		h = c.hosts[i]
	}
	f := h.write(c.t, d, at, c.Uint32())
	c.files = append(c.files, f)
	return f.path
}

// hand is a human's signature of what a deed decides: mostly that of their key, now and then
// of another, or none.
func (c *partyChaos) hand(human string, host protocol.Name, act protocol.Act, decides string) string {
	key := newTestHost(c.t, "x", human)
	switch c.IntN(24) {
	case 0:
		return ""
	case 1:
		key = newTestHost(c.t, "x", fmt.Sprint(human, c.IntN(2)))
	}
	about := protocol.HumanDecision{RecordID: testRecord, Human: protocol.Name(human), Host: host, Act: act, Reason: decides}
	hsig, err := about.Sign(key.key)
	if err != nil {
		c.t.Fatal(err)
	}
	return hsig
}

// organize begins the party, by nat or by the agent alone.
func (c *partyChaos) organize(byHuman bool) {
	o := protocol.Organizing{FormHead: protocol.FormHead{From: "words", Topic: "party", At: c.begun}, Leader: "nat", With: []protocol.Address{{Name: "calc", Host: "b"}}, Rules: protocol.DefaultPartyRules()}
	human, hsig := "", ""
	if byHuman {
		human, hsig = "nat", c.hand("nat", "a", protocol.ActOrganize, o.Decides())
	}
	c.write(0, deed(c.channel, protocol.ActOrganize, "words", human, hsig, "", protocol.Organize.Format(o)))
}

// party is what the party is so far, so that most of what is done makes sense.
func (c *partyChaos) party() parties.Party {
	fold(c.t, c.state, c.files[c.told:])
	c.told = len(c.files)
	return Value(c.state, parties.Kind(testRecord), c.channel.String(), c.now)
}

// step does one thing more.
func (c *partyChaos) step() {
	c.now = c.now.Add(time.Duration(c.IntN(3)) * time.Second)
	switch c.IntN(40) {
	case 0:
		if c.IntN(3) > 0 { // which ends many a party, because it is about keys of hosts
			return
		}
		c.chaos.step()
		return
	case 1:
		c.key([]int{0, 2}[c.IntN(2)], true)
		return
	case 2:
		if c.IntN(3) == 0 {
			c.end([]int{0, 2}[c.IntN(2)])
		}
		return
	case 3:
		c.organize(c.IntN(2) == 0)
		return
	}
	acts := parties.Kind(testRecord).Deeds()
	act := acts[c.IntN(len(acts))]
	switch c.IntN(6) {
	case 0:
		act = protocol.ActPartyAccept
	case 1:
		act = protocol.ActInvite
	case 2:
		act = []protocol.Act{protocol.ActTask, protocol.ActTake, protocol.ActGiveBack, protocol.ActPartyAgree, protocol.ActVote}[c.IntN(5)]
	}
	switch {
	case act == protocol.ActOrganize:
		c.organize(c.IntN(2) == 0)
		return
	case act == protocol.ActPartyAccept, act == protocol.ActPartyReject, act == protocol.ActPartyDefer:
		c.answer(act)
		return
	case act == protocol.ActLeave && c.IntN(3) > 0, act == protocol.ActRemove && c.IntN(3) == 0: // else nobody is left
		act = protocol.ActPresence
	}
	c.deed(act)
}

// answer answers what asks a human.
func (c *partyChaos) answer(act protocol.Act) {
	gates := c.party().Gates
	if len(gates) == 0 {
		return
	}
	gate := gates[c.IntN(len(gates))].Path
	human := "nat"
	if c.party().Gate(gate).Host == "b" != (c.IntN(12) == 0) { // now and then it is not theirs
		human = "eve"
	}
	i, _ := c.at(human)
	says := protocol.GateAnswer{FormHead: protocol.FormHead{From: human}, Reason: []string{"", "so"}[c.IntN(2)]}
	if act == protocol.ActPartyDefer {
		says.Until = c.now.Add(time.Duration(c.IntN(20)) * time.Second).Truncate(time.Millisecond)
	}
	about := protocol.HumanDecision{RecordID: testRecord, Human: protocol.Name(human), Host: c.hosts[i].alias, Gate: gate, Act: act, Reason: says.Reason, Until: says.Until}
	for _, f := range c.files {
		if f.path == gate {
			about.GateHash = protocol.Hash(f.data)
		}
	}
	if len(c.answers) > 0 && c.IntN(4) == 0 {
		says.TakesBack = c.answers[c.IntN(len(c.answers))]
	}
	about.TakesBack = says.TakesBack
	hsig, err := about.Sign(newTestHost(c.t, "x", human).key)
	if err != nil {
		c.t.Fatal(err)
	}
	body := map[protocol.Act]protocol.WordAct[protocol.GateAnswer]{protocol.ActPartyAccept: protocol.AcceptGate, protocol.ActPartyReject: protocol.RejectGate, protocol.ActPartyDefer: protocol.DeferGate}[act].Format(says)
	for range 1 + c.IntN(8)/7 { // now and then it is copied
		c.write(i, deed(c.channel, act, human, human, hsig, gate.Rel(), body))
		c.answers = append(c.answers, protocol.Hash(c.files[len(c.files)-1].data))
	}
}

// deed writes a deed that asks nobody for an answer, or asks.
func (c *partyChaos) deed(act protocol.Act) {
	from := []string{"words", "words", "calc"}[c.IntN(3)]
	if act == protocol.ActPartyJoin || act == protocol.ActLeave && c.IntN(4) > 0 { // else all is soon over
		from = "calc"
	}
	p := c.party()
	if len(p.Members) > 0 && act != protocol.ActPartyJoin && c.IntN(4) > 0 {
		from = p.Members[c.IntN(len(p.Members))].Name
	}
	if (act == protocol.ActRemove || act == protocol.ActRules) && c.IntN(4) > 0 {
		from = "words" // whose human leads the party
	}
	i, human := c.at(from)
	host := c.hosts[i].alias
	letter := "T"
	if act == protocol.ActVote {
		letter = "A"
	}
	label := protocol.Label(fmt.Sprint(letter, 1+c.IntN(2)))
	if n := len(p.Proposals); act == protocol.ActVote && n > 0 { // else few votes hold
		label = p.Proposals[n-1-c.IntN(min(n, 2))].Label
	}
	item := protocol.ItemRef{Label: label, Text: []string{"Keys are four", "Titles have none"}[c.IntN(2)]}
	whom := []protocol.Address{{Name: "words", Host: "a"}, {Name: "calc", Host: "b"}, {Name: "calc", Host: "b"}, {Name: "mawjs", Host: "b"}}[c.IntN(4)]
	until := c.now.Add(time.Duration(5+c.IntN(20)) * time.Second).Truncate(time.Millisecond)
	things := []string{[]string{"src", "src/x", "doc"}[c.IntN(3)]}
	rules := protocol.RuleChange{FormHead: protocol.FormHead{At: c.now.Truncate(time.Millisecond)}, Set: []protocol.RuleValue{{Name: "consensus_mode", Value: []string{"all", "majority", "leader-only"}[c.IntN(3)]}}}
	vote := protocol.Vote{Item: item, Accept: c.IntN(3) > 0, Reason: "so"}
	remove := protocol.Removal{Whom: whom, Reason: "so"}
	says := map[protocol.Act]string{
		protocol.ActInvite:     protocol.Invite.Format(protocol.Invitation{FormHead: protocol.FormHead{From: from}, Human: human, Whom: whom, Rules: protocol.DefaultPartyRules(), AnswerBy: until}),
		protocol.ActPartyJoin:  protocol.JoinParty.Format(protocol.PartyJoin{Reason: "so"}),
		protocol.ActWish:       protocol.AskHuman.Format(protocol.Wish{For: []string{"invite", "broadcast"}[c.IntN(2)], Whom: whom, Text: "hello"}),
		protocol.ActLeave:      protocol.LeaveParty.Format(protocol.Leaving{}),
		protocol.ActRemove:     protocol.RemoveMember.Format(remove),
		protocol.ActRules:      protocol.SetRules.Format(rules),
		protocol.ActPresence:   protocol.SayPresence.Format(protocol.PresenceNote{State: protocol.SayablePresences()[c.IntN(6)]}),
		protocol.ActPartyAgree: protocol.ProposeToParty.Format(protocol.PartyProposal{Item: item}),
		protocol.ActVote:       protocol.VoteInParty.Format(vote),
		protocol.ActTask:       protocol.AddTask.Format(protocol.PartyTask{Item: item}),
		protocol.ActTake:       protocol.TakeTask.Format(protocol.TaskTake{Item: item, Until: until}),
		protocol.ActDone:       protocol.FinishTask.Format(protocol.TaskEnd{Item: item}),
		protocol.ActGiveBack:   protocol.GiveTaskBack.Format(protocol.TaskEnd{Item: item}),
		protocol.ActLease:      protocol.Lease.Format(protocol.Reservation{Things: things, Until: until}),
		protocol.ActRelease:    protocol.Release.Format(protocol.LeaseEnd{}),
	}
	var since, put protocol.Path // what a removal and a vote are about
	if m := p.Member(whom.Name, protocol.Name(whom.Host)); m != nil {
		since = m.By
	}
	if pr := p.Proposal(protocol.Path{}, label); pr != nil {
		put = pr.Path
	}
	body, re, hsig := says[act], "", ""
	decides := map[protocol.Act]string{
		protocol.ActInvite: protocol.InviteDecides(p.Organized, whom), protocol.ActPartyJoin: protocol.JoinDecides(p.Organized, protocol.Address{Name: from, Host: host.String()}),
		protocol.ActRemove: remove.Decides(since), protocol.ActRules: rules.Decides(p.Organized), protocol.ActVote: vote.Decides(put),
	}[act]
	switch {
	case act == protocol.ActInvite && c.IntN(3) == 0 && len(p.Gates) > 0: // by what its human agreed to
		human, re = "", p.Gates[c.IntN(len(p.Gates))].Path.Rel()
	case act == protocol.ActVote && c.IntN(2) == 0, decides == "":
		human = ""
	default:
		if act == protocol.ActRemove || act == protocol.ActRules || act == protocol.ActVote {
			from = human
		}
		hsig = c.hand(human, host, act, decides)
	}
	if act == protocol.ActRelease && len(p.Leases) > 0 {
		re = p.Leases[c.IntN(len(p.Leases))].Path.Rel()
	}
	if c.IntN(24) == 0 {
		body = "nonsense"
	}
	c.write(i, deed(c.channel, act, from, human, hsig, re, body))
}
