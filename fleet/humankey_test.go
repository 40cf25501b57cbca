package fleet

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/redactions"
	"github.com/parleyfleet/parley/protocol"
)

// decisions is a fleet of the founder a, where nat sits, and of b, where zoe does.
type decisions struct {
	*testing.T
	state *State
	at    time.Time
	a, b  *testHost
	files []testFile
}

func newDecisions(t *testing.T) *decisions {
	d := &decisions{T: t, a: newTestHost(t, "a", "a"), b: newTestHost(t, "b", "b"), at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
	d.state = d.empty()
	agents := map[*testHost][]protocol.HostedAgent{d.a: {{Name: "m"}}, d.b: {{Name: "k"}, {Name: "l"}}}
	for h, human := range map[*testHost]protocol.Name{d.a: "nat", d.b: "zoe"} {
		d.say(h, d.state.hostDraft(protocol.ActHostJoin, protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{human}, Agents: agents[h]}))
	}
	return d
}

func (d *decisions) empty() *State {
	return New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: d.a.public(d), Humans: []protocol.Name{"nat"}}}, policy.Kind(testRecord), parties.Kind(testRecord), inquiries.Kind(testRecord), redactions.Kind(testRecord))
}

// say has a host write a draft.
func (d *decisions) say(h *testHost, draft Draft) protocol.Path {
	d.Helper()
	d.at = d.at.Add(time.Second)
	f := h.write(d, draft, d.at, 1)
	d.files = append(d.files, f)
	fold(d, d.state, []testFile{f})
	return f.path
}

func (d *decisions) key(seed string) nkeys.KeyPair { return newTestHost(d, "x", seed).key }

// give says with which key a human of a host signs; before is the one that agrees.
func (d *decisions) give(h *testHost, human protocol.Name, key, before nkeys.KeyPair) (refused error) {
	d.Helper()
	says := protocol.HumanKey{Host: h.alias, Human: human}
	if err := says.Prove(testRecord, key, before); err != nil {
		d.Fatal(err)
	}
	_, refused = d.state.Decide(GiveHumanKey{says}, d.at)
	d.say(h, d.state.hostDraft(protocol.ActHumanKey, says)) // a thief asks no rule
	return refused
}

// end says that a key ends, with the agreement of another.
func (d *decisions) end(h *testHost, of, human protocol.Name, key, by nkeys.KeyPair, counts ...protocol.Path) (refused error) {
	d.Helper()
	says := protocol.HumanEnd{Host: h.alias, Of: of, Human: human}
	var err error
	if says.Key, err = key.PublicKey(); err != nil {
		d.Fatal(err)
	}
	for _, p := range counts {
		it, _ := d.state.Ledger.Item(p)
		says.Counts = append(says.Counts, it.Hash)
	}
	if err := says.Agree(testRecord, by); err != nil {
		d.Fatal(err)
	}
	_, refused = d.state.Decide(EndHumanKey{says}, d.at)
	d.say(h, d.state.hostDraft(protocol.ActHumanRevoke, says))
	return refused
}

// rule has nat settle something, signed by a key where there is one.
func (d *decisions) rule(value string, key nkeys.KeyPair) protocol.Path {
	return d.ruleAs(value, value, key)
}

func (d *decisions) ruleAs(value, signed string, key nkeys.KeyPair) protocol.Path {
	d.Helper()
	hsig := ""
	if key != nil {
		about := protocol.HumanDecision{RecordID: testRecord, Human: "nat", Host: "a", Act: protocol.ActPolicy, Reason: policy.Decides(policy.KeyReprompt, signed)}
		var err error
		if hsig, err = about.Sign(key); err != nil {
			d.Fatal(err)
		}
	}
	return d.say(d.a, Draft{Channel: protocol.PolicyChannel(testRecord), Message: protocol.Message{
		From: "nat", To: []protocol.Address{{Name: "nat", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActPolicy, Human: "nat", Hsig: hsig,
		Body: protocol.SetPolicy.Format(protocol.Ruling{Key: policy.KeyReprompt, Value: value}),
	}})
}

func (d *decisions) holds(p protocol.Path) bool {
	it, ok := d.state.Ledger.Item(p)
	if !ok {
		d.Fatalf("%s is not there", p)
	}
	return d.state.Void(it) == nil
}

func (d *decisions) want(what string, p protocol.Path, holds bool) {
	d.Helper()
	if is := d.holds(p); is != holds {
		it, _ := d.state.Ledger.Item(p)
		d.Errorf("%s: it holds is %v: %v", what, is, d.state.Void(it))
	}
}

// It prevents: whoever has the host's key, such as an agent of its user, decides in the name of
// a human who has a key of their own, by saying that the human has another one too.
func TestDecisionsOfAHumanWithAKey(t *testing.T) {
	d := newDecisions(t)
	before := d.rule("yes", nil)
	d.want("before there is a key the host's word does", before, true)
	first, thief, second := d.key("first"), d.key("thief"), d.key("second")
	if err := d.give(d.a, "nat", first, nil); err != nil {
		t.Fatal(err)
	}
	d.want("what was decided before", before, true)
	d.want("without the key", d.rule("no", nil), false)
	signed := d.rule("no", first)
	d.want("with the key", signed, true)
	d.want("signed for another thing", d.ruleAs("yes", "no", first), false)
	if d.give(d.a, "nat", thief, nil) == nil {
		t.Error("a second first key is no refusal")
	}
	d.want("with a key that did not follow", d.rule("yes", thief), false)
	if d.give(d.a, "nat", d.key("other"), thief) == nil {
		t.Error("a key that follows another than the last is no refusal")
	}
	if err := d.give(d.a, "nat", second, first); err != nil {
		t.Fatal(err)
	}
	old, now := d.rule("yes", first), d.rule("yes", second)
	d.want("with the old key afterwards", old, false)
	d.want("with the next key", now, true)
	d.want("what the old key signed then", signed, true)

	if d.end(d.a, "a", "nat", second, thief) == nil {
		t.Error("a revocation that another key agrees to is no refusal")
	}
	d.want("after a revocation that does not count", now, true)
	later := d.rule("no", second)
	if err := d.end(d.a, "a", "nat", second, second, now); err != nil {
		t.Fatal(err)
	}
	d.want("what the revocation leaves in", now, true)
	d.want("what it does not", later, false)
	d.want("with the revoked key", d.rule("no", second), false)
	d.want("without a key, after all are revoked", d.rule("no", nil), false)
	if d.give(d.a, "nat", first, nil) == nil {
		t.Error("a key that was theirs before is no refusal")
	}
	third := d.key("third")
	if err := d.give(d.a, "nat", third, nil); err != nil {
		t.Fatal(err)
	}
	d.want("with a new first key", d.rule("no", third), true)
	d.sameInAnyOrder()
}

// It prevents: a human whose passphrase is lost is locked out for ever, or anybody but a human
// of the founder's ends the key of another.
func TestAFounderEndsTheKeyOfAHuman(t *testing.T) {
	d := newDecisions(t)
	nat, zoe, thief := d.key("nat"), d.key("zoe"), d.key("thief")
	for _, of := range []struct {
		host  *testHost
		human protocol.Name
		key   nkeys.KeyPair
	}{{d.a, "nat", nat}, {d.b, "zoe", zoe}} {
		if err := d.give(of.host, of.human, of.key, nil); err != nil {
			t.Fatal(err)
		}
	}
	current := func() string {
		h, _ := d.state.Keys().Host("b")
		if last, ok, _ := h.HumanKeyNow("zoe"); ok {
			return last.Key
		}
		return ""
	}
	public, _ := zoe.PublicKey()
	if d.end(d.b, "b", "zoe", zoe, thief) == nil || d.end(d.a, "b", "zoe", zoe, thief) == nil || d.end(d.b, "a", "nat", nat, zoe) == nil {
		t.Error("a revocation by who may not is no refusal")
	}
	if current() != public {
		t.Errorf("zoe has the key %q", current())
	}
	if err := d.end(d.a, "b", "zoe", zoe, nat); err != nil {
		t.Fatal(err)
	}
	if current() != "" {
		t.Errorf("zoe has the key %q, which nat has revoked", current())
	}
	if err := d.give(d.b, "zoe", d.key("new"), nil); err != nil {
		t.Errorf("a new key: %v", err)
	}
	if err := d.give(d.b, "nat", d.key("natb"), nil); !errors.As(err, new(*Refusal)) {
		t.Errorf("a key of somebody who is no human of the host: %v", err)
	}
	d.sameInAnyOrder()
}

// partiesOf are the whole values of all parties of a state, by channel.
func partiesOf(s *State, at time.Time) map[string]parties.Party {
	all := map[string]parties.Party{}
	for _, name := range s.Affairs(parties.KindName) {
		all[name] = Value(s, parties.Kind(testRecord), name, at)
	}
	return all
}

// sameInAnyOrder wants each message to be judged the same, and each party to be the same to
// the last field, in whatever order all come.
func (d *decisions) sameInAnyOrder() {
	d.Helper()
	was := map[protocol.Path]bool{}
	for _, f := range d.files {
		if it, ok := d.state.Ledger.Item(f.path); ok && d.state.affairs.acts[it.Act] != nil {
			was[f.path] = d.holds(f.path)
		}
	}
	h, _ := d.state.Keys().Host("b")
	zoes := len(h.HumanKeys("zoe"))
	whole := partiesOf(d.state, d.at)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		files := slices.Clone(d.files)
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		s := d.empty()
		for i, f := range files {
			fold(d, s, []testFile{f})
			if i%3 == 0 { // what was folded before must be judged anew
				fleetPolicy(s)
				for _, name := range s.Affairs(parties.KindName) {
					Value(s, parties.Kind(testRecord), name, d.at)
				}
			}
		}
		for p, holds := range was {
			it, _ := s.Ledger.Item(p)
			if is := s.Void(it) == nil; is != holds {
				d.Fatalf("%s: in another order it holds is %v", p, is)
			}
		}
		if now := partiesOf(s, d.at); !reflect.DeepEqual(now, whole) {
			d.Fatalf("in another order a party is another:\n%s", cmp.Diff(whole, now, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
		if h, _ := s.Keys().Host("b"); len(h.HumanKeys("zoe")) != zoes {
			d.Fatalf("in another order zoe has %d keys, not %d", len(h.HumanKeys("zoe")), zoes)
		}
	}
}

func fleetPolicy(s *State) policy.Policy {
	return Value(s, policy.Kind(testRecord), policy.KindName, time.Time{})
}
