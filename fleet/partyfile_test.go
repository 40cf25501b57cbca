package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/schemas"
	"github.com/parleyfleet/parley/protocol"
)

// file is the file of a party as it stands now, which is valid whatever happened (R23).
func (g *gathering) file(channel protocol.ChannelID, standing map[string]parties.Standing) parties.File {
	g.Helper()
	_, _, said := g.state.Ledger.Said(channel)
	f := g.party(channel).File(said, func(m party.Member) parties.Standing {
		of := standing[m.Name]
		if of.Trust == "" {
			of.Trust = "uncalibrated"
		}
		return of
	})
	data, err := json.Marshal(f)
	if err != nil {
		g.Fatal(err)
	}
	schema, err := schemas.Find("party")
	if err != nil {
		g.Fatal(err)
	}
	problems, err := schema.Problems(data)
	if err != nil || len(problems) > 0 {
		g.Errorf("%s is not valid: %v, %v", data, problems, err)
	}
	return f
}

// invites are those that a party's file has.
func (g *gathering) invites(channel protocol.ChannelID) string {
	g.Helper()
	var all []string
	for _, i := range g.file(channel, nil).PendingInvites {
		text := fmt.Sprintf("%s %s by %s", i.Target, i.Status, i.InvitedBy)
		if i.ExpiresAt != "" {
			text += " expires"
		}
		if i.DeferredUntil != "" {
			text += " until"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// Work-with W86, W87, W90, W92, W102, W103, W104, W105, W155: the file of a party says what
// the party's own deeds made of it, and is valid at each step.
func TestThePartysFile(t *testing.T) {
	g := newGathering(t)
	k, l := protocol.Address{Name: "k", Host: "b"}, protocol.Address{Name: "l", Host: "b"}
	channel, begun := g.organize("nat")
	first := g.file(channel, nil)
	created := g.party(channel).Created
	if first.Rules != protocol.DefaultPartyRules() || first.Created != first.LastActivity || first.Created != created.Format(protocol.TimestampLayout) || first.Team != nil {
		t.Errorf("a new party's file is %+v", first)
	}
	if first.Leader != (parties.FileLeader{Human: "nat", ActingVia: "m"}) || len(first.Members) != 1 || first.Members[0].Role != party.RoleInitiator {
		t.Errorf("it is led by %+v, with %+v", first.Leader, first.Members)
	}
	invite := func(whom protocol.Address, window time.Duration) protocol.Path {
		return g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, whom)).Invite(channel, whom, []protocol.Name{"zoe"}, window, protocol.Path{}))
	}
	answer := func(r parties.AnswerTo) {
		t.Helper()
		if _, err := g.answer("zoe", "b", channel, r); err != nil {
			t.Fatal(err)
		}
	}
	want := func(invites string) {
		t.Helper()
		if got := g.invites(channel); got != invites {
			t.Errorf("invites are\n%s, not\n%s", got, invites)
		}
	}
	toK, toL := invite(k, time.Hour), invite(l, 0)
	if after := g.file(channel, nil); after.LastActivity <= first.LastActivity {
		t.Error("an invite is no activity")
	}
	want("k pending by nat (via m) expires, l pending by nat (via m)")
	answer(parties.AnswerTo{Gate: toK, Act: protocol.ActPartyDefer, Reason: "after standup", Until: g.at.Add(30 * time.Minute)})
	want("k deferred by nat (via m) expires until, l pending by nat (via m)")
	g.at = g.at.Add(2 * time.Hour)
	want("k expired by nat (via m) expires until, l pending by nat (via m)")
	answer(parties.AnswerTo{Gate: toK, Act: protocol.ActPartyAccept})
	want("l pending by nat (via m)")
	answer(parties.AnswerTo{Gate: toL, Act: protocol.ActPartyReject, Reason: "no time"})
	want("")
	again := invite(l, time.Minute)
	g.at = g.at.Add(time.Hour)
	want("l expired by nat (via m) expires")
	answer(parties.AnswerTo{Gate: again, Act: protocol.ActPartyReject, Reason: "no"})
	for _, state := range protocol.SayablePresences() {
		g.must("b", g.actor("k", "b", "", "").Present(channel, state, "a note"))
		if f := g.file(channel, nil); f.Members[1].Status != state {
			t.Errorf("who is %s is %s", state, f.Members[1].Status)
		}
	}
	g.must("a", g.rules("a", channel, "decay_lambda", "0", "broadcast_scope", "fleet", "kick_threshold", "1"))
	if f := g.file(channel, nil); f.Rules.DecayLambda != 0 || f.Rules.BroadcastScope != "fleet" {
		t.Errorf("the rules are %+v", f.Rules)
	}
	g.must("b", g.actor("k", "b", "", "").Leave(channel, "done"))
	if f := g.file(channel, nil); len(f.Members) != 1 {
		t.Errorf("members are %+v", f.Members)
	}
	g.must("a", g.actor("m", "a", "", "").Leave(channel, "done"))
	if f := g.file(channel, nil); f.Members == nil || len(f.Members) > 0 {
		t.Errorf("members are %+v", f.Members)
	}
	g.sameInAnyOrder()
}

// An invite at which one key said two things waits for its human, as one that has no answer:
// the form of the file has no word for it (R38).
func TestAContestedInviteInThePartysFile(t *testing.T) {
	g := newGathering(t)
	k := protocol.Address{Name: "k", Host: "b"}
	channel, begun := g.organize("nat")
	gate := g.must("a", g.actor("m", "a", "nat", protocol.InviteDecides(begun, k)).Invite(channel, k, nil, 0, protocol.Path{}))
	for _, act := range []protocol.Act{protocol.ActPartyAccept, protocol.ActPartyReject} {
		if _, err := g.answer("zoe", "b", channel, parties.AnswerTo{Gate: gate, Act: act}); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.party(channel).Gate(gate).Outcome(); got != party.Contested {
		t.Fatalf("the invite is %s", got)
	}
	if got := g.invites(channel); got != "k pending by nat (via m)" {
		t.Errorf("invites are %s", got)
	}
	if f := g.file(channel, nil); len(f.Members) != 1 {
		t.Errorf("members are %+v", f.Members)
	}
}

// A member that was never synced has no score and is synced from when it
// joined (R23); one that was has its score as it was given, and that is activity.
func TestScoresInThePartysFile(t *testing.T) {
	g := newGathering(t)
	channel, _ := g.organize("nat")
	joined := g.party(channel).Members[0].Joined
	f := g.file(channel, nil)
	if m := f.Members[0]; m.SyncScore != 0 || m.LastSync != m.JoinedAt || m.JoinedAt != joined.Format(protocol.TimestampLayout) {
		t.Errorf("who was never synced is %+v", m)
	}
	synced := joined.Add(90 * time.Minute)
	f = g.file(channel, map[string]parties.Standing{"m": {Score: 0.88, Synced: synced, Trust: "high"}})
	at := synced.Format(protocol.TimestampLayout)
	if m := f.Members[0]; m.SyncScore != 0.88 || m.LastSync != at || m.Trust != "high" || f.LastActivity != at {
		t.Errorf("who was synced is %+v, of %s", m, f.LastActivity)
	}
	data, err := json.Marshal(f)
	if err != nil || strings.Contains(string(data), "decayedScore") {
		t.Errorf("what a score is worth now is in %s, %v", data, err)
	}
}

// Work-with W9: names of parties, issues and tags are words of others: the file is valid with all
// that a party can be called, and the form of its name makes no path.
func TestOddNamesInThePartysFile(t *testing.T) {
	for _, name := range []string{"../../x", `"quoted" <b>&`, "งานของทีม", "conn", "a/b\\c", strings.Repeat("x", 80), "1", "Ⅷ", "e\u0301"} {
		g := newGathering(t)
		o := protocol.Organizing{
			FormHead: protocol.FormHead{From: "m", Topic: name, At: g.at}, Leader: "nat", Team: `t"<\`, Anchor: "not # an issue", Rules: protocol.DefaultPartyRules(),
		}
		c, channel, err := g.actor("m", "a", "nat", o.Decides()).Organize(o)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		g.must("a", c)
		if f := g.file(channel, nil); f.Topic != g.party(channel).Slug.String() || f.Team == nil || f.Anchor != o.Anchor || f.AnchorURL != "" {
			t.Errorf("the file of %q is %+v", name, f)
		}
		if stem := parties.Stems([]parties.Party{g.party(channel)})[0]; strings.ContainsAny(stem, `./\`) || stem == "" {
			t.Errorf("the file of %q is called %q", name, stem)
		}
	}
}

// Two parties of one name have two files; one keeps its own when the other ends, and nobody
// gets the name of another by being called as it is (R30).
func TestTwoPartiesOfOneName(t *testing.T) {
	at := time.Date(2026, 4, 13, 12, 0, 0, 0, time.UTC)
	party := func(slug protocol.Slug, id string, hour, over int) parties.Party {
		channel := protocol.ChannelID(id + "-1111-4111-8111-111111111111")
		p := parties.Party{Slug: slug, Organized: protocol.NewPath(channel, at, 1), Created: at.Add(time.Duration(hour) * time.Hour)}
		if over > 0 {
			p.Left = []party.Departure{{Time: at.Add(time.Duration(over) * time.Hour)}}
		} else {
			p.Members = []party.Member{{Name: "m"}}
		}
		return p
	}
	for name, c := range map[string]struct {
		all  []parties.Party
		want string
	}{
		"both go on":                {[]parties.Party{party("x", "aaaaaaaa", 0, 0), party("x", "bbbbbbbb", 1, 0)}, "x x-bbbbbbbb"},
		"the first ended before":    {[]parties.Party{party("x", "aaaaaaaa", 0, 1), party("x", "bbbbbbbb", 2, 0)}, "x x"},
		"the first ended later":     {[]parties.Party{party("x", "aaaaaaaa", 0, 3), party("x", "bbbbbbbb", 2, 0)}, "x x-bbbbbbbb"},
		"three":                     {[]parties.Party{party("x", "aaaaaaaa", 0, 3), party("x", "bbbbbbbb", 2, 0), party("x", "cccccccc", 4, 0)}, "x x-bbbbbbbb x"},
		"called as another's file":  {[]parties.Party{party("x", "aaaaaaaa", 0, 0), party("x-bbbbbbbb", "cccccccc", 1, 0), party("x", "bbbbbbbb", 2, 0)}, "x x-bbbbbbbb x-bbbbbbbb-1111-4111-8111-111111111111"},
		"nothing in common":         {[]parties.Party{party("x", "aaaaaaaa", 0, 0), party("y", "bbbbbbbb", 1, 0)}, "x y"},
		"of one moment, both going": {[]parties.Party{party("x", "aaaaaaaa", 0, 0), party("x", "bbbbbbbb", 0, 0)}, "x x-bbbbbbbb"},
	} {
		if got := strings.Join(parties.Stems(c.all), " "); got != c.want {
			t.Errorf("%s: they are called %s, not %s", name, got, c.want)
		}
	}
}
