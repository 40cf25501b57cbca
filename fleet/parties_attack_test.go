package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/protocol"
)

// thiefOf is who has a host's key and writes beside it: it goes on from where the host stood
// then, so that the chain forks.
func thiefOf(h *testHost) *testHost {
	thief := *h
	return &thief
}

// sayAt has a host write a draft that it dates as it likes, and folds it.
func (g *gathering) sayAt(h *testHost, d Draft, at time.Time) protocol.Path {
	g.Helper()
	f := h.write(g, d, at, uint32(100+len(g.files)))
	g.files = append(g.files, f)
	fold(g, g.state, []testFile{f})
	return f.path
}

// deed is a message of a party that nobody has checked.
func deed(channel protocol.ChannelID, act protocol.Act, from, human, hsig, re, body string) Draft {
	return Draft{Channel: channel, Message: protocol.Message{
		From: from, Human: human, Hsig: hsig, To: []protocol.Address{{Name: "m"}}, Type: protocol.TypeText, Act: act, Re: re, Body: protocol.NormalBody(body),
	}}
}

// waiting is a party with an invite of k that zoe, at b, is to decide, and of l beside it.
func (g *gathering) waiting() (channel protocol.ChannelID, k, l protocol.Path) {
	g.Helper()
	channel, begun := g.organize("nat")
	k = g.must("a", g.invite(channel, begun, protocol.Address{Name: "k", Host: "b"}, 0))
	l = g.must("a", g.invite(channel, begun, protocol.Address{Name: "l", Host: "b"}, 0))
	return channel, k, l
}

// Work-with W99, W189: whatever is tried to accept an invite without the human of the other
// host is void with a reason, and lets nobody in.
func TestForgedDecisionsAreVoid(t *testing.T) {
	g := newGathering(t)
	channel, gate, other := g.waiting()
	accept := func(from string) string {
		return protocol.AcceptGate.Format(protocol.GateAnswer{FormHead: protocol.FormHead{From: from, At: g.at}})
	}
	sign := func(about protocol.HumanDecision) string {
		hsig, err := about.Sign(g.keys["zoe"])
		if err != nil {
			t.Fatal(err)
		}
		return hsig
	}
	as := func(from, human, hsig string) Draft {
		return deed(channel, protocol.ActPartyAccept, from, human, hsig, gate.Rel(), accept(from))
	}
	about := g.decision("zoe", "b", gate, protocol.ActPartyAccept, "")

	// Without the key of the human, who has one.
	g.wantVoid(g.say(g.b, as("zoe", "zoe", "")), "no key of a human signed it")
	g.wantVoid(g.say(g.b, as("zoe", "", "")), "a human decides it")
	g.wantVoid(g.say(g.b, as("k", "zoe", "")), "a human decides it, and k is none of b")
	g.wantVoid(g.say(g.b, as("k", "zoe", sign(about))), "a human decides it, and k is none of b")
	g.wantVoid(g.say(g.b, as("k", "", "")), "a human decides it")

	// A signature that was made for something else.
	for what, change := range map[string]func(d *protocol.HumanDecision){
		"another gate":   func(d *protocol.HumanDecision) { *d = g.decision("zoe", "b", other, protocol.ActPartyAccept, "") },
		"another act":    func(d *protocol.HumanDecision) { d.Act = protocol.ActPartyReject },
		"another record": func(d *protocol.HumanDecision) { d.RecordID = strings.Repeat("f", 40) },
		"another host":   func(d *protocol.HumanDecision) { d.Host = "a" },
		"another human":  func(d *protocol.HumanDecision) { d.Human = "nat" },
		"another text":   func(d *protocol.HumanDecision) { d.GateHash = strings.Repeat("0", 64) },
		"another reason": func(d *protocol.HumanDecision) { d.Reason = "yes" },
		"another time":   func(d *protocol.HumanDecision) { d.Until = g.at.Add(time.Hour) },
	} {
		d := about
		change(&d)
		p := g.say(g.b, as("zoe", "zoe", sign(d)))
		if it, _ := g.state.Ledger.Item(p); g.state.Void(it) == nil {
			t.Errorf("a signature for %s counts", what)
		}
	}
	party := g.party(channel) // of another party, whose gate has the same words
	second, _, _ := g.waiting()
	moved := deed(second, protocol.ActPartyAccept, "zoe", "zoe", sign(about), "../"+gate.String(), accept("zoe"))
	if p := g.say(g.b, moved); g.holds(p) {
		t.Error("a decision of another party counts")
	}

	// By a host whose human it is not, one that says it has such a human or agent too.
	stranger := newTestHost(t, "evil", "evil")
	g.wide["evil"] = stranger
	g.say(stranger, g.state.hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "evil", Key: stranger.public(t), Humans: []protocol.Name{"nat", "zoe"}, Agents: []protocol.HostedAgent{{Name: "k"}, {Name: "m"}},
	}))
	if err := g.give(stranger, "zoe", g.key("evil's zoe"), nil); err != nil {
		t.Fatal(err)
	}
	evil := g.decision("zoe", "evil", gate, protocol.ActPartyAccept, "")
	hsig, _ := evil.Sign(g.key("evil's zoe"))
	g.wantVoid(g.say(stranger, as("zoe", "zoe", hsig)), "a human of b decides it, and evil is another host")
	g.wantVoid(g.say(g.a, as("nat", "nat", "")), "a human of b decides it, and a is another host")
	for _, d := range []Draft{
		deed(channel, protocol.ActLeave, "m", "", "", "", protocol.LeaveParty.Format(protocol.Leaving{})),
		deed(channel, protocol.ActInvite, "m", "", "", party.Organized.Rel(), protocol.Invite.Format(protocol.Invitation{
			FormHead: protocol.FormHead{From: "m"}, Human: "nat", Whom: protocol.Address{Name: "l", Host: "evil"}, Rules: party.Rules,
		})),
		deed(channel, protocol.ActTask, "k", "", "", "", protocol.AddTask.Format(protocol.PartyTask{Item: protocol.ItemRef{Label: "T1", Text: "x"}})),
	} {
		g.wantVoid(g.say(stranger, d), "is no member")
	}
	set := protocol.RuleChange{Set: []protocol.RuleValue{{Name: "consensus_mode", Value: "majority"}}}
	change := deed(channel, protocol.ActRules, "nat", "nat", "", "", protocol.SetRules.Format(set))
	g.wantVoid(g.say(stranger, change), "nat leads")
	g.wantVoid(g.say(g.b, change), "declared by a host whose key did not sign it")

	// By who has no key of the fleet: a file put there with git, one signed with another key.
	plain := as("zoe", "zoe", sign(about)).Message
	plain.Timestamp, plain.Path = g.at.Add(time.Second), protocol.NewPath(channel, g.at.Add(time.Second), 7)
	data, err := protocol.Encode(&plain)
	if err != nil {
		t.Fatal(err)
	}
	g.files = append(g.files, testFile{plain.Path, data})
	fold(t, g.state, g.files[len(g.files)-1:])
	g.wantVoid(plain.Path, "declared by a host whose key did not sign it")
	g.wantVoid(g.say(newTestHost(t, "b", "forger"), as("zoe", "zoe", sign(about))), "its signature is refused")

	if m := g.party(channel).Members; len(m) != 1 {
		t.Errorf("members are %+v", m)
	}
	g.wantWho(channel, "m@a active, invite of k@b pending, invite of l@b pending")
	g.sameInAnyOrder()
}

// It prevents: a copy of a decision decides again, or keeps the human from taking it back.
func TestCopiedDecisionsAddNothing(t *testing.T) {
	g := newGathering(t)
	channel, gate, _ := g.waiting()
	accept := g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyAccept, "")
	it, _ := g.state.Ledger.Item(accept)
	if !g.holds(accept) {
		t.Fatal(g.state.Void(it))
	}
	var file testFile
	for _, f := range g.files {
		if f.path == accept {
			file = f
		}
	}
	elsewhere := protocol.NewPath(channel, g.at.Add(time.Hour), 3)
	if _, err := g.state.Apply(elsewhere, file.data); !errors.As(err, new(*keys.RefusedError)) {
		t.Errorf("the file of a decision at another path: %v", err)
	}
	if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: protocol.ActPartyAccept}); err == nil {
		t.Error("what is accepted is accepted again")
	}
	now := g.at
	g.at = it.Timestamp.Add(-1500 * time.Millisecond) // a copy that is dated before the decision
	g.sayAnswerSigned(thiefOf(g.b), "zoe", gate, protocol.ActPartyAccept, "", it.Hsig)
	g.at = now
	g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyReject, it.Hash)
	g.wantWho(channel, "m@a active, invite of k@b contested, invite of l@b pending") // the copy and what follows stand at a fork
	g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyReject, g.party(channel).Gate(gate).Contesting())
	g.wantWho(channel, "m@a active, invite of k@b declined, invite of l@b pending")
	g.sayAnswerSigned(g.b, "zoe", gate, protocol.ActPartyAccept, "", it.Hsig)
	g.wantWho(channel, "m@a active, invite of k@b declined, invite of l@b pending")
	g.sameInAnyOrder()
}

// It prevents: where the key of a host is used in two places, what its human decided there
// counts as if nothing were the matter (R38). It is contested, and the human asked again; what
// somebody without that key writes contests nothing.
func TestADecisionBesideAnotherMessageIsContested(t *testing.T) {
	g := newGathering(t)
	channel, gate, _ := g.waiting()
	thief, stranger := thiefOf(g.b), thiefOf(g.b)
	stranger.key = newTestHost(t, "b", "forger").key
	accept := g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyAccept, "")
	talk := Draft{Channel: protocol.DeriveChannel(testRecord, "k", "l"), Message: protocol.Message{From: "k", To: []protocol.Address{{Name: "l"}}, Type: protocol.TypeText, Body: "on"}}
	g.say(stranger, talk)
	g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted, invite of l@b pending")
	g.say(thief, talk)
	g.wantWho(channel, "m@a active, invite of k@b contested, invite of l@b pending")
	if back := g.party(channel).Gate(gate).Contesting(); back == "" {
		t.Error("nothing says what is to be taken back")
	} else if it, _ := g.state.Ledger.Item(accept); back != it.Hash {
		t.Errorf("%s is to be taken back, not %s", back, it.Hash)
	} else {
		g.sayAnswer(g.b, "zoe", "b", gate, protocol.ActPartyAccept, back)
	}
	g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted, invite of l@b pending")
	g.sameInAnyOrder()
}

// It prevents: what is taken back for the second time goes on to count: the member stays.
func TestADecisionIsTakenBackTwice(t *testing.T) {
	g := newGathering(t)
	channel, gate, _ := g.waiting()
	last := ""
	for i := range 4 {
		act, in := protocol.ActPartyAccept, 2
		if i%2 == 1 {
			act, in = protocol.ActPartyReject, 1
		}
		p := g.sayAnswer(g.b, "zoe", "b", gate, act, last)
		g.want("an answer that takes the one before back", p, true)
		it, _ := g.state.Ledger.Item(p)
		if last = it.Hash; len(g.party(channel).Members) != in {
			t.Errorf("after %d answers: %s", i+1, g.who(channel))
		}
	}
	g.sameInAnyOrder()
}

// It prevents: with a key that was revoked, or one that the host says in its place, somebody
// goes on to decide.
func TestDecisionsWithEndedKeysAreVoid(t *testing.T) {
	g := newGathering(t)
	channel, k, l := g.waiting()
	before := g.sayAnswer(g.b, "zoe", "b", k, protocol.ActPartyAccept, "")
	if err := g.end(g.a, "b", "zoe", g.keys["zoe"], g.keys["nat"], before); err != nil {
		t.Fatal(err)
	}
	g.want("what the revocation leaves in", before, true)
	g.wantVoid(g.sayAnswer(g.b, "zoe", "b", l, protocol.ActPartyAccept, ""), "revoked")
	g.wantVoid(g.sayAnswerSigned(g.b, "zoe", l, protocol.ActPartyAccept, "", ""), "revoked")
	g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted, invite of l@b pending")
	g.sameInAnyOrder()
}

// It prevents: an agent decides about itself, or about whom it has invited.
func TestAgentsDecideNothing(t *testing.T) {
	g := newGathering(t)
	channel, begun := g.organize("nat")
	own := g.must("a", g.invite(channel, begun, protocol.Address{Name: "x", Host: "a"}, 0)) // zoe is named, and is none of a
	g.wantVoid(g.say(g.a, deed(channel, protocol.ActPartyAccept, "m", "", "", own.Rel(), protocol.AcceptGate.Format(protocol.GateAnswer{}))), "a human decides it")
	g.wantVoid(g.sayAnswer(g.a, "nat", "a", own, protocol.ActPartyAccept, ""), "nat does not decide it")
	wish := g.must("a", g.m().Wish(channel, protocol.Wish{For: protocol.WishBroadcast, Text: "hello"}, []protocol.Name{"nat"}))
	g.wantVoid(g.say(g.a, deed(channel, protocol.ActPartyAccept, "m", "nat", "", wish.Rel(), protocol.AcceptGate.Format(protocol.GateAnswer{}))), "a human decides it")
	unattended := deed(channel, protocol.ActPartyAccept, "nat", "nat", "", wish.Rel(), protocol.AcceptGate.Format(protocol.GateAnswer{}))
	unattended.Message.Unattended = true
	g.wantVoid(g.say(g.a, unattended), "a human decides it")
	if p := g.party(channel); len(p.Members) != 1 || p.Gate(wish).Outcome() != party.Pending {
		t.Errorf("%s", g.who(channel))
	}
	g.sameInAnyOrder()
}

// It prevents: who has a host's key decides in the name of a human who has a key of their
// own, by a message that is dated before the human's first key: beside the host's chain, at
// its end, or in a run of its own.
func TestDecisionsDatedBeforeTheFirstKeyAreVoid(t *testing.T) {
	for name, thief := range map[string]func(g *gathering, early *testHost) *testHost{
		"at a fork":           func(g *gathering, early *testHost) *testHost { return early },
		"at the end":          func(g *gathering, _ *testHost) *testHost { return g.a },
		"in a run of its own": func(g *gathering, _ *testHost) *testHost { return &testHost{alias: "a", key: g.a.key, run: "deadbeef"} },
	} {
		t.Run(name, func(t *testing.T) {
			g := &gathering{decisions: newDecisions(t)}
			g.wide = map[protocol.Name]*testHost{"a": g.a, "b": g.b}
			honest := g.rule("yes", nil)
			early, dated := thiefOf(g.a), g.at.Add(time.Millisecond)
			g.at = g.at.Add(time.Hour)
			key := g.key("nat's")
			if err := g.give(g.a, "nat", key, nil); err != nil {
				t.Fatal(err)
			}
			g.say(g.a, Draft{Channel: protocol.DeriveChannel(testRecord, "a", "b"), Message: protocol.Message{
				From: "m", To: []protocol.Address{{Name: "k"}}, Type: protocol.TypeText, Body: "on",
			}})
			forged := protocol.Message{
				From: "nat", Human: "nat", To: []protocol.Address{{Name: "nat", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActPolicy,
				Body: protocol.SetPolicy.Format(protocol.Ruling{Key: "reprompt", Value: "no"}),
			}
			p := g.sayAt(thief(g, early), Draft{Channel: protocol.PolicyChannel(testRecord), Message: forged}, dated)
			g.wantVoid(p, "dated before the first key of nat")
			g.want("what was decided before there was a key", honest, true)
			g.sameInAnyOrder()
		})
	}
}

// It prevents: with the key that a human had before, and the host's, somebody decides as if
// that had been before the next one.
func TestDecisionsDatedBeforeTheNextKeyAreVoid(t *testing.T) {
	g := newGathering(t)
	channel, k, l := g.waiting()
	honest := g.sayAnswer(g.b, "zoe", "b", k, protocol.ActPartyAccept, "")
	thief, dated := thiefOf(g.b), g.at.Add(time.Second)
	g.at = g.at.Add(time.Hour)
	if err := g.give(g.b, "zoe", g.key("next"), g.keys["zoe"]); err != nil {
		t.Fatal(err)
	}
	now := g.at
	g.at = dated
	p := g.sayAnswer(thief, "zoe", "b", l, protocol.ActPartyAccept, "")
	g.at = now
	if g.holds(p) {
		t.Error("a decision with the old key counts, which is dated before the next one")
	}
	g.want("what the old key decided then", honest, true)
	g.wantWho(channel, "m@a active, k@b active, invite of k@b accepted, invite of l@b pending")
	g.sameInAnyOrder()
}

// It prevents: who has a host's key says a first key of its human with a date before the
// human's own, and decides with it from then on. It is contested which is theirs, so that
// neither counts, until a human of the founder's ends the thief's.
func TestAFirstKeyThatIsDatedBackIsContested(t *testing.T) {
	g := &gathering{decisions: newDecisions(t)}
	if err := g.give(g.a, "nat", g.key("nat's"), nil); err != nil {
		t.Fatal(err)
	}
	thief, dated := thiefOf(g.b), g.at.Add(time.Second)
	g.at = g.at.Add(time.Hour)
	zoes, stolen := g.key("zoe's"), g.key("thief's")
	if err := g.give(g.b, "zoe", zoes, nil); err != nil {
		t.Fatal(err)
	}
	says := protocol.HumanKey{Host: "b", Human: "zoe"}
	if err := says.Prove(testRecord, stolen, nil); err != nil {
		t.Fatal(err)
	}
	g.sayAt(thief, g.state.hostDraft(protocol.ActHumanKey, says), dated)
	h, _ := g.state.Keys().Host("b")
	if key, counts, had := h.HumanKeyNow("zoe"); counts || !had || h.Contested("zoe") == nil {
		t.Errorf("the key of zoe is %s", key.Key)
	}
	if g.give(g.b, "zoe", g.key("third"), nil) == nil {
		t.Error("a third first key is no refusal")
	}
	if err := g.end(g.a, "b", "zoe", stolen, g.key("nat's")); err != nil {
		t.Fatal(err)
	}
	h, _ = g.state.Keys().Host("b")
	public, _ := zoes.PublicKey()
	if key, counts, _ := h.HumanKeyNow("zoe"); !counts || key.Key != public {
		t.Errorf("the key of zoe is %s", key.Key)
	}
	g.sameInAnyOrder()
}
