package node

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/internal/testkit/dump"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// sitting is a human at a host, with a key of their own.
type sitting struct {
	*testing.T
	*Node
	human protocol.Name
	key   nkeys.KeyPair
}

func sit(t *testing.T, n *Node) *sitting {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return sitWith(t, n, key)
}

// sitWith returns a human with a key that they have on another host too.
func sitWith(t *testing.T, n *Node, key nkeys.KeyPair) *sitting {
	t.Helper()
	says := protocol.HumanKey{Host: n.cfg.Alias, Human: n.cfg.Human}
	if err := says.Prove(n.record.ID(), key, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := control.GiveHumanKey.Ask(t.Context(), n, control.HumanKeyRequest{Key: says.Key, Proof: says.Proof}); err != nil {
		t.Fatal(err)
	}
	return &sitting{t, n, n.cfg.Human, key}
}

func (s *sitting) sign(d protocol.HumanDecision) string {
	s.Helper()
	sig, err := s.signed(d)
	if err != nil {
		s.Fatal(err)
	}
	return sig
}

func (s *sitting) signed(d protocol.HumanDecision) (string, error) {
	d.RecordID, d.Human, d.Host = s.record.ID(), s.human, s.cfg.Alias
	return d.Sign(s.key)
}

// organize has the human begin a party through an agent.
func (s *sitting) organize(via, topic string, with ...string) control.Party {
	s.Helper()
	r := control.OrganizeRequest{Acting: control.Acting{As: via}, Topic: topic, With: with, Try: true}
	planned, err := control.Organize.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	r.Try, r.At, r.Hsig = false, planned.Plan.At, s.sign(protocol.HumanDecision{Act: planned.Plan.Act, Reason: planned.Plan.Decides})
	done, err := control.Organize.Ask(s.Context(), s.Node, r)
	if err != nil || len(done.Failed) > 0 {
		s.Fatal(err, done.Failed)
	}
	return done.Party
}

// does has an agent, or the human for it, do something in the party.
func (s *sitting) does(as string, r control.PartyDeedRequest) control.PartyDeed {
	s.Helper()
	r.As, r.Try = as, true
	done, err := control.DoInParty.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	if r.Try, r.At = false, done.Plan.At; done.Plan.Decides != "" {
		r.Hsig = s.sign(protocol.HumanDecision{Act: done.Plan.Act, Reason: done.Plan.Decides})
	}
	if done, err = control.DoInParty.Ask(s.Context(), s.Node, r); err != nil {
		s.Fatal(err)
	}
	return done
}

// answers decides the gate of an agent of this host, once the gate has come.
func (s *sitting) answers(whom string, act protocol.Act, reason string, until time.Time) {
	s.Helper()
	var gate control.Gate
	eventually(s, "the gate of "+whom+" is here", func() bool {
		list, err := control.Gates.Ask(s.Context(), s.Node, control.GatesRequest{})
		if err != nil {
			s.Fatal(err)
		}
		i := slices.IndexFunc(list.Gates, func(g control.Gate) bool { return g.Whom == whom })
		if i >= 0 {
			gate = list.Gates[i]
		}
		return i >= 0
	})
	if _, err := s.settles(gate, act, reason, until); err != nil {
		s.Fatal(err)
	}
}

// settles answers a gate. Several can be answered at the same time.
func (s *sitting) settles(gate control.Gate, act protocol.Act, reason string, until time.Time) (control.Gate, error) {
	path, err := protocol.ParsePath(gate.Path)
	if err != nil {
		return gate, err
	}
	hsig, err := s.signed(protocol.HumanDecision{Gate: path, GateHash: gate.Hash, Act: act, Reason: reason, Until: until})
	if err != nil {
		return gate, err
	}
	return control.AnswerGate.Ask(s.Context(), s.Node, control.AnswerGateRequest{Path: gate.Path, Act: act, Reason: reason, Until: until, Hsig: hsig})
}

// wishesToTell has an agent of this host wish to tell agents of other hosts some things. It returns
// the gates at which its human decides.
func (s *sitting) wishesToTell(agent protocol.Name, party control.Party, things ...string) []control.Gate {
	s.Helper()
	actor := parties.Actor{Record: s.record.ID(), Me: agent.String(), Host: s.cfg.Alias}
	for _, thing := range things {
		w := protocol.Wish{For: protocol.WishBroadcast, Text: thing}
		if _, err := s.decider.DoFor(s.Context(), control.Caller{Kind: control.ByAgent, Name: agent}, actor.Wish(party.Channel, w, []protocol.Name{s.cfg.Human})); err != nil {
			s.Fatal(err)
		}
	}
	list, err := control.Gates.Ask(s.Context(), s.Node, control.GatesRequest{})
	if err != nil || len(list.Gates) != len(things) {
		s.Fatal(len(list.Gates), err)
	}
	return list.Gates
}

// who returns the party as a host shows it, without what the host knows live and what it says of
// its own human.
func (s *sitting) who(party string) control.Party {
	s.Helper()
	v, err := control.ShowParty.Ask(s.Context(), s.Node, control.PartyRequest{Party: party})
	if err != nil {
		s.Fatal(err)
	}
	v.Current = false
	for i := range v.Members {
		v.Members[i].Heard, v.Members[i].Connected, v.Members[i].Status = time.Time{}, false, ""
	}
	for i := range v.Gates {
		v.Gates[i].Here = false
	}
	return v
}

// An announcement that an agent wanted is made once, also if its human agrees to several things at
// the same moment. It prevents: each agreement looks for what is still to be told, and tells all of
// it.
func TestPartyTellsOnceWhatIsAgreedToAtOnce(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	addInbox(t, n, "skills")
	addInbox(t, n, "pulse")
	things := []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}
	var answers sync.WaitGroup
	for _, g := range nat.wishesToTell("skills", nat.organize("skills", "at once"), things...) {
		answers.Go(func() {
			if _, err := nat.settles(g, protocol.ActPartyAccept, "", time.Time{}); err != nil {
				t.Error(err)
			}
		})
	}
	answers.Wait()
	told := 0
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActBroadcast {
			told++
		}
	}
	if told != len(things) {
		t.Errorf("%d things were to be told, and %d messages tell them", len(things), told)
	}
}

// An announcement that an agent wanted is made to nobody if the party's rules say so when its human
// agrees. It prevents: an old yes goes around a rule that was set since.
func TestPartyTellsNobodyAgainstItsRules(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	addInbox(t, n, "skills")
	addInbox(t, n, "pulse")
	party := nat.organize("skills", "in secret")
	gates := nat.wishesToTell("skills", party, "news")
	nat.does("skills", control.PartyDeedRequest{Deed: protocol.ActRules, Set: []string{"broadcast_scope=none"}, Reason: "it is nobody's business"})
	g, err := nat.settles(gates[0], protocol.ActPartyAccept, "", time.Time{})
	if err != nil || g.Announced == nil || !strings.Contains(g.Announced.Skipped, "broadcast_scope") {
		t.Errorf("the human is told: %+v, %v", g.Announced, err)
	}
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActBroadcast {
			t.Errorf("%s was told: %s", m.Path, m.Body)
		}
	}
}

// A party spans three hosts, with five agents and with a human on each host. It is cut in two in
// the middle, with the remote out of reach. Both sides go on. Afterwards all hosts show the same,
// byte for byte, and the record tells it to somebody who has git alone.
func TestAPartyOverThreeHosts(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := bareRemote(t)
	link := newWire(t)
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Listen, o.Advertise = "hub", remote, "127.0.0.1:0", []string{link.address()}
	}))
	link.lead(hub)
	left, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Human, o.Remote, o.Hubs = "left", "zoe", remote, []string{hub.currentBus().Addresses().Links}
	}))
	right, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Human, o.Remote, o.Hubs = "right", "eve", remote, []string{link.address()}
	}))
	all := []*Node{hub, left, right}
	for i := range all {
		awaitMeeting(t, all[i], all[(i+1)%3])
	}
	nat, zoe, eve := sit(t, hub), sit(t, left), sit(t, right)
	for n, agents := range map[*Node][]string{hub: {"skills", "pulse"}, left: {"mawjs", "mawui"}, right: {"kit"}} {
		for _, name := range agents {
			addInbox(t, n, name)
		}
	}
	eventually(t, "the agents are known", func() bool {
		return len(seenAs(t, hub, "left", control.HostLive).Agents) == 2 && len(seenAs(t, hub, "right", control.HostLive).Agents) == 1
	})

	// One human accepts, one defers and accepts after that time, one declines.
	party := nat.organize("skills", "three hosts", "mawjs", "mawui", "kit", "pulse").Organized
	eve.answers("kit@right", protocol.ActPartyAccept, "", time.Time{})
	nat.answers("pulse@hub", protocol.ActPartyAccept, "", time.Time{})
	zoe.answers("mawjs@left", protocol.ActPartyReject, "no time", time.Time{})
	until := time.Now().Add(time.Second).UTC().Truncate(time.Millisecond)
	zoe.answers("mawui@left", protocol.ActPartyDefer, "after standup", until)
	eventually(t, "what was put off has run out", func() bool {
		return slices.ContainsFunc(zoe.who(party).Gates, func(g control.Gate) bool { return g.Outcome == "expired" })
	})
	zoe.answers("mawui@left", protocol.ActPartyAccept, "", time.Time{})
	eventually(t, "four are in it everywhere", func() bool {
		return !slices.ContainsFunc([]*sitting{nat, zoe, eve}, func(s *sitting) bool { return len(s.who(party).Members) != 4 })
	})
	if _, err := control.SayPresence.Ask(t.Context(), left, control.SayPresenceRequest{Acting: control.Acting{As: "mawui"}, State: protocol.PresenceBusy}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.SayPresence.Ask(t.Context(), right, control.SayPresenceRequest{Acting: control.Acting{As: "kit"}, State: protocol.PresenceHidden}); err != nil {
		t.Fatal(err)
	}
	nat.does("skills", control.PartyDeedRequest{Deed: protocol.ActTask, Text: "Write the restart test"})
	awaitSame(t, nil, all...)
	told, err := control.TellParty.Ask(t.Context(), hub, control.TellPartyRequest{Acting: control.Acting{As: "skills"}, Party: party, Text: "we begin"})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for _, one := range told.To {
		outcomes[one.Who] = one.Outcome
	}
	if diff := cmp.Diff(map[string]string{"kit@right": "skipped", "mawui@left": "queued", "pulse@hub": "delivered"}, outcomes); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}

	// Right is cut off, and nobody reaches the remote. Two agents take one task, the leader changes
	// the rules during a vote, and one agent leaves.
	awaitSame(t, nil, all...)
	link.set(true)
	if err := os.Rename(remote, remote+"-away"); err != nil {
		t.Fatal(err)
	}
	eve.does("kit", control.PartyDeedRequest{Deed: protocol.ActTake, Item: "T1"})
	nat.does("pulse", control.PartyDeedRequest{Deed: protocol.ActTake, Item: "T1"})
	eve.does("kit", control.PartyDeedRequest{Deed: protocol.ActPartyAgree, Text: "Right keeps the logs"})
	nat.does("skills", control.PartyDeedRequest{Deed: protocol.ActRules, Set: []string{"consensus_mode=majority"}, Reason: "we are four"})
	zoe.does("mawui", control.PartyDeedRequest{Deed: protocol.ActLeave, Reason: "on another team"})
	link.set(false)
	if err := os.Rename(remote+"-away", remote); err != nil {
		t.Fatal(err)
	}
	awaitMeeting(t, hub, left)
	awaitMeeting(t, hub, right)
	awaitSame(t, nil, all...)
	same := func() control.Party {
		t.Helper()
		want := nat.who(party)
		for _, s := range []*sitting{zoe, eve} {
			if diff := cmp.Diff(dump.Text(want), dump.Text(s.who(party))); diff != "" {
				t.Errorf("%s shows another party than hub (-hub +%[1]s):\n%s", s.cfg.Alias, diff)
			}
		}
		return want
	}
	eventually(t, "whoever lost the task is told, once and everywhere", func() bool {
		return !slices.ContainsFunc(all, func(n *Node) bool { return len(warnings(t, n, "both took it at once: ")) != 1 })
	})
	awaitSame(t, nil, all...)
	now := same()
	taken := now.Tasks[0].Taker.String()
	if len(now.Members) != 3 || taken != "kit@right" && taken != "pulse@hub" || len(now.Proposals) != 1 || now.Rules.ConsensusMode != "majority" || len(now.Left) != 1 {
		text, _ := json.Marshal(now)
		t.Errorf("after the partition: %s", text)
	}
	if len(now.Void) != 1 || now.Void[0].Act != protocol.ActTake {
		t.Errorf("what does not count: %+v", now.Void)
	}

	// All leave, and the record has everything.
	eve.does("kit", control.PartyDeedRequest{Deed: protocol.ActLeave})
	nat.does("pulse", control.PartyDeedRequest{Party: party, Deed: protocol.ActLeave})
	nat.does("skills", control.PartyDeedRequest{Party: party, Deed: protocol.ActLeave})
	awaitSame(t, nil, all...)
	if now := same(); now.State != "closed" || len(now.Left) != 4 {
		t.Errorf("in the end it is %s, %d have left", now.State, len(now.Left))
	}
	eventually(t, "everything is on the remote", func() bool {
		return !slices.ContainsFunc(all, func(n *Node) bool {
			_, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{})
			s := n.record.Status()
			return err != nil || s.Unpushed+s.Unrecorded > 0
		})
	})
	log, err := exec.Command("git", "--git-dir", remote, "log", "-p", "main").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"PARTY ORGANIZE", "PARTY INVITE", "PARTY ACCEPT", "PARTY REJECT", "no time", "PARTY DEFER", "after standup", "PARTY TAKE", "consensus_mode=majority", "we are four", "PARTY LEAVE", "on another team", "[party:three hosts] we begin"} {
		if !strings.Contains(string(log), words) {
			t.Errorf("git log -p does not say %q", words)
		}
	}
}

// warnings are what members of parties are told in their inbox, and to whom.
func warnings(t *testing.T, n *Node, words string) (told []string) {
	t.Helper()
	for _, m := range everything(t, n) {
		if m.Act == protocol.ActTell && strings.Contains(m.Body, words) {
			told = append(told, strings.Join(m.To, " ")+": "+m.Body)
		}
	}
	return told
}

// A member whose score falls below accept_threshold is told, once until it was above it again, and
// so is one who is removed. It prevents: they find it out in a list, or never.
func TestAPartyTellsWhomItLeavesBehind(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	addInbox(t, n, "pulse")
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	party := nat.organize("skills", skills.Topic, "mawjs", "pulse").Organized
	nat.answers("mawjs@"+n.cfg.Alias.String(), protocol.ActPartyAccept, "", time.Time{})
	nat.answers("pulse@"+n.cfg.Alias.String(), protocol.ActPartyAccept, "", time.Time{})
	do(t, n, skills.Open(""))
	for i, c := range []struct {
		score float64
		told  int
		by    string
	}{{0.5, 1, "skills"}, {0.6, 1, "skills"}, {1, 1, "skills"}, {0.4, 2, "skills"}, {1, 2, "pulse"}, {0.4, 3, "pulse"}} {
		if i == 4 { // who asks has left the party, and leads it
			nat.does("skills", control.PartyDeedRequest{Party: party, Deed: protocol.ActLeave})
		}
		err := control.Sync.Ask(t.Context(), n, control.SyncRequest{Acting: control.Acting{As: "skills"}, Wait: within}, func(e control.SyncEvent) error {
			p, err := protocol.ParsePath(e.Check)
			if err == nil && e.Kind == control.SyncSent {
				do(t, n, mawjs.Answer(p, []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "P1"}, Score: protocol.NewScore(c.score), Decision: protocol.DecisionAccept, Evidence: "memory"}}, ""))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "mawjs is warned", func() bool { return len(warnings(t, n, "accept_threshold")) >= c.told })
		if told := warnings(t, n, "accept_threshold"); len(told) != c.told || i != 4 && !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "Talk with "+c.by+",") }) {
			t.Errorf("after result %d: %q", i, told)
		}
	}
	nat.does("skills", control.PartyDeedRequest{Party: party, Deed: protocol.ActRemove, Whom: "mawjs", Reason: "no time"})
	if told := warnings(t, n, "no member any more, by "); len(told) != 1 || !strings.HasPrefix(told[0], "mawjs") || !strings.Contains(told[0], "no time") {
		t.Errorf("who was removed is told: %q", told)
	}
}
