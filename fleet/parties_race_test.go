package fleet

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// racer is one of several hosts that each do something before any has heard of the others.
type racer struct {
	host    protocol.Name
	command affair.Command
	after   time.Duration // how much later than the race began, by its own clock
}

// race has each racer decide on what was known before the race, and then all write. It says
// what came of each deed: "" where it holds, else why it is void.
func (g *gathering) race(all ...racer) (paths []protocol.Path, void []string) {
	g.Helper()
	var drafts []Draft
	for i, r := range all {
		decided, err := g.state.Decide(Do{r.command}, g.at)
		if err != nil {
			g.Fatalf("racer %d is refused before the race: %v", i, err)
		}
		drafts = append(drafts, decided[0])
	}
	begun := g.at
	for i, r := range all {
		f := g.wide[r.host].write(g, drafts[i], begun.Add(time.Second+r.after), uint32(i)) // two paths of one moment differ
		g.files = append(g.files, f)
		fold(g, g.state, []testFile{f})
		paths = append(paths, f.path)
	}
	g.at = begun.Add(time.Minute)
	for _, p := range paths {
		it, _ := g.state.Ledger.Item(p)
		why := ""
		if err := g.state.Void(it); err != nil {
			why = err.Error()
		}
		void = append(void, why)
	}
	return paths, void
}

// eachOrder runs a race with either clock ahead: which of two is the first in the record is
// decided by when each says it wrote.
func eachOrder(t *testing.T, race func(t *testing.T, g *gathering, a, b time.Duration)) {
	for name, after := range map[string][2]time.Duration{"a first": {0, 5 * time.Second}, "b first": {5 * time.Second, 0}, "at once": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			g := newGathering(t)
			race(t, g, after[0], after[1])
			g.sameInAnyOrder()
		})
	}
}

// first is what holds of two things that cannot both: the index of the first in the record.
func (g *gathering) first(paths []protocol.Path) int {
	g.Helper()
	a, _ := g.state.Ledger.Item(paths[0])
	b, _ := g.state.Ledger.Item(paths[1])
	if before(a, b) {
		return 0
	}
	return 1
}

// onlyFirst wants the first of two deeds to hold, and the other to be void for that reason.
func (g *gathering) onlyFirst(paths []protocol.Path, void []string, why string) (winner int) {
	g.Helper()
	winner = g.first(paths)
	if void[winner] != "" || !strings.Contains(void[1-winner], why) {
		g.Errorf("of %s and %s number %d was first, void are %q", paths[0], paths[1], winner, void)
	}
	return winner
}

func (g *gathering) bothHold(void []string) {
	g.Helper()
	if strings.Join(void, "") != "" {
		g.Errorf("void are %q", void)
	}
}

// withK is a party of m of host a and of k of host b.
func (g *gathering) withK() (channel protocol.ChannelID, begun protocol.Path) {
	g.Helper()
	channel, begun = g.organize("nat")
	g.letIn(channel, begun, protocol.Address{Name: "k", Host: "b"})
	return channel, begun
}

func (g *gathering) invite(channel protocol.ChannelID, begun protocol.Path, whom protocol.Address, window time.Duration) affair.Command {
	return g.actor("m", "a", "nat", protocol.InviteDecides(begun, whom)).Invite(channel, whom, []protocol.Name{"zoe"}, window, protocol.Path{})
}

func (g *gathering) letIn(channel protocol.ChannelID, begun protocol.Path, whom protocol.Address) protocol.Path {
	g.Helper()
	gate := g.must("a", g.invite(channel, begun, whom, 0))
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}); err != nil {
		g.Fatal(err)
	}
	return gate
}

func (g *gathering) m() parties.Actor { return g.actor("m", "a", "", "") }
func (g *gathering) k() parties.Actor { return g.actor("k", "b", "", "") }

// onBoth makes nat a human of b too, with the key that they have at a.
func (g *gathering) onBoth() {
	g.Helper()
	g.say(g.b, g.state.hostDraft(protocol.ActHostAgents, protocol.HostState{
		Host: "b", Humans: []protocol.Name{"zoe", "nat"}, Agents: []protocol.HostedAgent{{Name: "k"}, {Name: "l"}},
	}))
	if err := g.give(g.b, "nat", g.keys["nat"], nil); err != nil {
		g.Fatal(err)
	}
}

// It prevents: of two edits of the leader on two hosts one is lost, or the hosts keep another one each.
func TestTwoEditsOfRulesAtOnce(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		g.onBoth()
		channel, _ := g.withK()
		_, void := g.race(racer{"a", g.rules("a", channel, "consensus_mode", "majority"), a}, racer{"b", g.rules("b", channel, "kick_threshold", "0.1"), b})
		g.bothHold(void)
		if r := g.party(channel).Rules; r.ConsensusMode != "majority" || r.KickThreshold != 0.1 {
			t.Errorf("an edit of another rule is lost: %s", r)
		}
		paths, void := g.race(racer{"a", g.rules("a", channel, "accept_threshold", "0.5"), a}, racer{"b", g.rules("b", channel, "accept_threshold", "0.9"), b})
		g.bothHold(void)
		if got, want := g.party(channel).Rules.AcceptThreshold, []float64{0.9, 0.5}[g.first(paths)]; got != want {
			t.Errorf("the rule is %v, and the last in the record says %v", got, want)
		}
	})
}

// Work-with W110: it prevents that an answer is lost because the time ran out while it was
// on its way, or that the hosts judge that by when it reached them.
func TestAnAcceptRacesTheExpiry(t *testing.T) {
	for name, late := range map[string]time.Duration{"in time": -time.Minute, "at the end": 0, "late": time.Hour} {
		t.Run(name, func(t *testing.T) {
			g := newGathering(t)
			channel, begun := g.organize("nat")
			l := protocol.Address{Name: "l", Host: "b"}
			gate := g.must("a", g.invite(channel, begun, l, time.Hour))
			end := g.party(channel).Gate(gate).AnswerBy
			g.at = end.Add(late)
			if got := g.party(channel).Gate(gate).Outcome(); (got == party.Expired) != (late >= 0) {
				t.Errorf("it is %s", got)
			}
			if _, err := g.do("a", g.invite(channel, begun, l, time.Hour)); err == nil {
				t.Error("whom nobody has answered for is invited again, beside the invite that can still be answered")
			}
			g.at = end.Add(late - time.Second) // what is said is dated a second later
			if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}); err != nil {
				t.Fatal(err)
			}
			g.wantWho(channel, "m@a active, l@b active, invite of l@b accepted")
			g.at = g.at.Add(48 * time.Hour)
			g.wantWho(channel, "m@a active, l@b active, invite of l@b accepted")
			g.sameInAnyOrder()
		})
	}
}

// It prevents: who has left is bound by what is put to the party later, or votes on it.
func TestLeavingRacesAVote(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, _ := g.withK()
		paths, void := g.race(racer{"a", g.m().Agree(channel, "Keys are four"), a}, racer{"b", g.k().Leave(channel, ""), b})
		g.bothHold(void)
		want := []party.Outcome{party.Pending, party.Accepted}[g.first(paths)] // alone, m has settled it
		if got := g.party(channel).Proposals[0].Settled(); got != want {
			t.Errorf("it is %s, not %s", got, want)
		}
		if _, err := g.do("b", g.k().Vote(channel, "A1", true, "")); err == nil {
			t.Error("who has left votes")
		}
	})
}

// It prevents: an invite of somebody who leaves at the same time opens a gate on one host and
// none on another, or who was removed has brought somebody in.
func TestAnInviteRacesTheInvitersEnd(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, begun := g.withK()
		l := protocol.Address{Name: "l", Host: "b"}
		invite := g.actor("k", "b", "zoe", protocol.InviteDecides(begun, l)).Invite(channel, l, []protocol.Name{"zoe"}, 0, protocol.Path{})
		paths, void := g.race(racer{"a", g.removal(channel, protocol.Address{Name: "k", Host: "b"}, "another team"), a}, racer{"b", invite, b})
		if g.first(paths) == 0 {
			g.onlyFirst(paths, void, "k is no member")
			g.wantWho(channel, "m@a active, invite of k@b accepted")
			return
		}
		g.bothHold(void)
		g.wantWho(channel, "m@a active, invite of k@b accepted, invite of l@b pending")
	})
}

// It prevents: who is invited again while they ask to be let in is a member twice, when both
// gates are answered.
func TestAnInviteRacesARequestToJoin(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, begun := g.withK()
		k := protocol.Address{Name: "k", Host: "b"}
		g.must("b", g.k().Leave(channel, "")) // so that m may invite k again
		again := g.invite(channel, begun, k, 0)
		join := g.actor("k", "b", "zoe", protocol.JoinDecides(begun, k)).Join(channel, "I am back", nil)
		paths, void := g.race(racer{"a", again, a}, racer{"b", join, b})
		g.bothHold(void)
		if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: paths[0], Act: protocol.ActPartyAccept}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.answer("nat", "a", channel, parties.AnswerTo{Gate: paths[1], Act: protocol.ActPartyAccept}); err != nil {
			t.Fatal(err)
		}
		if n := len(g.party(channel).Members); n != 2 {
			t.Errorf("k was let in by two gates at once, and the party has %d members", n)
		}
	})
}

// It prevents: a person who has one key on two hosts decides the gate of one of them from the
// other, or both at once let an agent in twice.
func TestTwoAcceptsByOneKeyOnTwoHosts(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		g.say(g.a, g.state.hostDraft(protocol.ActHostAgents, protocol.HostState{Host: "a", Humans: []protocol.Name{"nat", "zoe"}, Agents: []protocol.HostedAgent{{Name: "m"}}}))
		if err := g.give(g.a, "zoe", g.keys["zoe"], nil); err != nil {
			t.Fatal(err)
		}
		channel, begun := g.organize("nat")
		gate := g.must("a", g.invite(channel, begun, protocol.Address{Name: "k", Host: "b"}, 0))
		begunAt := g.at
		g.at = begunAt.Add(b)
		if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}); err != nil {
			t.Fatal(err)
		}
		g.at = begunAt.Add(a + time.Millisecond)
		p := g.sayAnswer(g.a, "zoe", "a", gate, protocol.ActPartyAccept, "")
		g.wantVoid(p, "a human of b decides it, and a is another host")
		g.at = begunAt.Add(time.Minute)
		g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted")
	})
}

// sayAnswer has a host say that a human decided so, with their key, and asks no rule.
func (g *gathering) sayAnswer(h *testHost, human string, host protocol.Name, gate protocol.Path, act protocol.Act, takesBack string) protocol.Path {
	g.Helper()
	about := g.decision(human, host, gate, act, takesBack)
	hsig, err := about.Sign(g.keys[human])
	if err != nil {
		g.Fatal(err)
	}
	return g.sayAnswerSigned(h, human, gate, act, takesBack, hsig)
}

// decision is what a human of a host signs who answers a gate so.
func (g *gathering) decision(human string, host protocol.Name, gate protocol.Path, act protocol.Act, takesBack string) protocol.HumanDecision {
	it, _ := g.state.Ledger.Item(gate)
	return protocol.HumanDecision{RecordID: testRecord, Human: protocol.Name(human), Host: host, Gate: gate, GateHash: it.Hash, Act: act, TakesBack: takesBack}
}

// sayAnswerSigned is a host's word that a human decided so, with that signature.
func (g *gathering) sayAnswerSigned(h *testHost, human string, gate protocol.Path, act protocol.Act, takesBack, hsig string) protocol.Path {
	g.Helper()
	words := map[protocol.Act]protocol.WordAct[protocol.GateAnswer]{protocol.ActPartyAccept: protocol.AcceptGate, protocol.ActPartyReject: protocol.RejectGate}
	return g.say(h, Draft{Channel: gate.Channel(), Message: protocol.Message{
		From: human, Human: human, Hsig: hsig, To: []protocol.Address{{Name: human}}, Type: protocol.TypeText, Act: act, Re: gate.Rel(),
		Body: protocol.NormalBody(words[act].Format(protocol.GateAnswer{FormHead: protocol.FormHead{From: human, At: g.at}, TakesBack: takesBack})),
	}})
}

// wantVoid wants a deed to be void, and that to be said with its reason.
func (g *gathering) wantVoid(p protocol.Path, why string) {
	g.Helper()
	it, ok := g.state.Ledger.Item(p)
	if !ok {
		g.Fatalf("%s is not there", p)
	}
	if err := g.state.Void(it); err == nil || !strings.Contains(err.Error(), why) {
		g.Errorf("%s is void because %v; want %q", p, err, why)
	}
}

// It prevents: the last two leave at once, and the party goes on with nobody in it, or its
// end is another one on each host.
func TestTheLastTwoLeaveAtOnce(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, _ := g.withK()
		paths, void := g.race(racer{"a", g.m().Leave(channel, ""), a}, racer{"b", g.k().Leave(channel, ""), b})
		g.bothHold(void)
		p := g.party(channel)
		last, _ := g.state.Ledger.Item(paths[1-g.first(paths)])
		if !p.Over() || !p.EndedAt().Equal(last.Timestamp) || p.Left[1].Path != last.Path {
			t.Errorf("over %v, at %s by %s; the last one left at %s", p.Over(), p.EndedAt(), p.Left[1].Path, last.Timestamp)
		}
	})
}

// It prevents: rules that change while a vote goes on decide it otherwise on each host. An
// agreement is settled by the rule that held when it was put.
func TestRulesChangeDuringAVote(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, begun := g.withK()
		g.letIn(channel, begun, protocol.Address{Name: "l", Host: "b"})
		paths, void := g.race(racer{"a", g.rules("a", channel, "consensus_mode", "majority"), a}, racer{"b", g.k().Agree(channel, "Keys are four"), b})
		g.bothHold(void)
		_, void = g.race(racer{"a", g.m().Vote(channel, "A1", true, ""), a}, racer{"b", g.actor("l", "b", "", "").Vote(channel, "A1", false, "no"), b})
		pr := g.party(channel).Proposals[0]
		switch g.first(paths) {
		case 0:
			if pr.Mode != "majority" || pr.Settled() != party.Accepted { // two of three have accepted
				t.Errorf("under %s it is %s", pr.Mode, pr.Settled())
			}
		default:
			if pr.Mode != "all" || pr.Settled() != party.Declined {
				t.Errorf("under %s it is %s", pr.Mode, pr.Settled())
			}
		}
		if void[0] != "" && void[1] != "" {
			t.Errorf("no vote counts: %q", void)
		}
	})
}

// It prevents: two do one task, each believing it is theirs.
func TestATaskIsTakenByTwoAtOnce(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, _ := g.withK()
		g.must("a", g.m().AddTask(channel, "Write the restart test"))
		paths, void := g.race(racer{"a", g.m().Take(channel, "T1", time.Hour), a}, racer{"b", g.k().Take(channel, "T1", time.Hour), b})
		winner := g.onlyFirst(paths, void, "has T1 until")
		if got, want := g.party(channel).Tasks[0].Taker, []string{"m@a", "k@b"}[winner]; got.String() != want {
			t.Errorf("%s has it, not %s", got, want)
		}
		// Its taker says that it is done while it is taken by nobody else.
		_, err := g.do([]protocol.Name{"b", "a"}[winner], []parties.Actor{g.k(), g.m()}[winner].EndTask(channel, "T1", protocol.ActDone, ""))
		if err == nil {
			t.Error("who lost the race says that it is done")
		}
	})
}

// It prevents: two have one reservation, or two numbers of it are the same.
func TestTwoReserveOneThingAtOnce(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, _ := g.withK()
		paths, void := g.race(racer{"a", g.m().Lease(channel, []string{"src/panes"}, time.Hour, ""), a}, racer{"b", g.k().Lease(channel, []string{"src/panes/x.go"}, time.Hour, ""), b})
		g.onlyFirst(paths, void, "has reserved src/panes")
		paths, void = g.race(racer{"a", g.m().Lease(channel, []string{"a"}, time.Hour, ""), a}, racer{"b", g.k().Lease(channel, []string{"b"}, time.Hour, ""), b})
		g.bothHold(void)
		fences := map[int]bool{}
		for _, l := range g.party(channel).Leases {
			fences[l.Fence] = true
		}
		if len(fences) != 3 || fences[0] {
			t.Errorf("the numbers of 3 reservations are %v (%v)", fences, paths)
		}
	})
}

// It prevents: who leaves while the leader removes them is gone twice, or goes by another
// way on each host.
func TestARemovalRacesLeaving(t *testing.T) {
	eachOrder(t, func(t *testing.T, g *gathering, a, b time.Duration) {
		channel, _ := g.withK()
		g.must("b", g.k().Lease(channel, []string{"src"}, time.Hour, ""))
		paths, void := g.race(racer{"a", g.removal(channel, protocol.Address{Name: "k", Host: "b"}, "another team"), a}, racer{"b", g.k().Leave(channel, ""), b})
		winner := g.onlyFirst(paths, void, "no member")
		p := g.party(channel)
		if len(p.Left) != 1 || p.Left[0].Removed != (winner == 0) || p.Left[0].Path != paths[winner] || p.Leases[0].Ended.IsZero() {
			t.Errorf("%+v, %+v", p.Left, p.Leases[0])
		}
	})
}

// It prevents: a host whose clock is behind takes the time of a party's last deed back.
func TestTheLastDeedOfAPartyIsTheLatest(t *testing.T) {
	g := newGathering(t)
	channel, begun := g.organize("nat")
	gate := g.must("a", g.invite(channel, begun, protocol.Address{Name: "k", Host: "b"}, 0))
	asked := g.party(channel).LastDeed
	g.at = g.at.Add(-1500 * time.Millisecond) // what answers stands behind what it answers, whatever its date
	g.want("an answer of a clock that is behind", g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyAccept, ""), true)
	if p := g.party(channel); len(p.Members) != 2 || !p.LastDeed.Equal(asked) {
		t.Errorf("%d members, and the last deed is of %s, not %s", len(p.Members), p.LastDeed, asked)
	}
	g.sameInAnyOrder()
}

// It prevents: what a party does depends on whose clock is ahead when three hosts race: all
// orders in which the deeds of one moment arrive give one party.
func TestAMomentOfAPartyArrivesInEveryOrder(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	g := newGathering(t)
	g.onBoth()
	channel, begun := g.withK()
	g.must("a", g.m().AddTask(channel, "Write the restart test"))
	known := len(g.files)
	l := protocol.Address{Name: "l", Host: "b"}
	g.race(
		racer{"a", g.m().Take(channel, "T1", time.Hour), 0}, racer{"b", g.k().Take(channel, "T1", time.Hour), 0},
		racer{"b", g.rules("b", channel, "consensus_mode", "leader-only"), 0}, racer{"a", g.m().Agree(channel, "Keys are four"), 3 * time.Second},
		racer{"a", g.invite(channel, begun, l, time.Minute), -5 * time.Second}, racer{"b", g.k().Leave(channel, ""), 2 * time.Second},
	)
	want := partiesOf(g.state, g.at)
	for _, order := range permutations(len(g.files) - known) {
		s := g.empty()
		fold(t, s, g.files[:known])
		for i, at := range order {
			fold(t, s, g.files[known+at:known+at+1])
			if i%2 == 0 {
				partiesOf(s, g.at)
			}
		}
		if now := partiesOf(s, g.at); !reflect.DeepEqual(now, want) {
			t.Fatalf("order %v:\n%s", order, cmp.Diff(want, now, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
	}
}
