package party

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// shown returns how a party is shown without a terminal.
func shown(party control.Party) string {
	var out bytes.Buffer
	s := &session{view: cli.View{
		Out: term.Screen{Writer: &out}, Err: term.Screen{Writer: &bytes.Buffer{}}, Zone: time.UTC, Now: func() time.Time { return noon }, Command: func(words string) string { return words },
	}}
	s.table(party)
	return out.String()
}

func member(id, status string, raw, decayed float64, last time.Duration) control.PartyMember {
	m := control.PartyMember{Member: party.Member{Name: id, Host: "white"}, Status: status, Lambda: 0.01, Trust: "high", Sparkline: []float64{}}
	if last > 0 {
		m.Raw, m.Decayed, m.LastSync = protocol.NewScore(raw), protocol.NewScore(decayed), noon.Add(-last)
	}
	return m
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		fields := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		found := false
		for line := range strings.SplitSeq(text, "\n") {
			found = found || strings.Contains(fields(line), fields(want))
		}
		if !found {
			t.Errorf("no line has %q in:\n%s", want, text)
		}
	}
}

// Work-with W113: the dots. Work-with W117: what waits, with its age; what is put off, with its
// reason and time. Work-with W118: what drifts is marked, and a sync is suggested. Work-with W119:
// a stale member is flagged and stays. Work-with W120: a member that is out of sync is said to be.
func TestWho(t *testing.T) {
	stale, apart := member("mother", "dormant", 0.71, 0.25, 100*time.Hour), member("white-worm", "away", 0.88, 0.6, 38*time.Hour)
	stale.Stale, stale.OutOfSync, stale.Resync, apart.OutOfSync = true, true, true, true
	text := shown(control.Party{
		Name: "party system design", Anchor: "maw-js#332", Leader: "nat", Rules: protocol.DefaultPartyRules(), Synced: 4,
		Members: []control.PartyMember{
			member("skills", "active", 0.93, 0.93, time.Second), member("mawjs", "idle", 0.88, 0.84, 8*time.Minute), member("mawui", "compacted", 0.95, 0.89, time.Hour),
			apart, stale, member("kit", "hidden", 0, 0, 0), member("boon", "busy", 0, 0, 0),
		},
		Gates: []control.Gate{
			{For: "invite", Whom: "pulse@white", Outcome: "pending", Time: noon.Add(-12 * time.Minute), Host: "white", Deciders: []protocol.Name{"zoe"}},
			{For: "invite", Whom: "boonkeeper@white", Outcome: "deferred", Reason: "after standup", Until: noon.Add(30 * time.Minute)},
			{For: "invite", Whom: "late@white", Outcome: "expired", Time: noon.Add(-8 * 24 * time.Hour)},
			{For: "invite", Whom: "no@white", Outcome: "declined", Reason: "no time"},
			{For: "invite", Whom: "odd@white", Outcome: "contested", Host: "white", Deciders: []protocol.Name{"zoe"}},
		},
	})
	wantLines(t, text,
		"🤝 party system design (maw-js#332)", "Leader: nat | Rules: sync≥0.7 · accept-required · diverge=high · λ=0.01",
		"Oracle Node Status Raw Decay λ Age Trust Last",
		"● skills white active 93% 93% 0.01 0h high now", "◐ mawjs white idle 88% 84% 0.01 8m high 8 min ago", "◌ mawui white compacted 95% 89% 0.01 1h high 1h ago",
		"○ white-worm white away 88% 60% 0.01 1d high 1d ago", "· mother white dormant 71% 25% 0.01 4d high 4d ago ⚠", "⊘ kit white hidden — — 0.01 — high —", "◉ boon white busy — — 0.01 — high —",
		"⏳ Pending: pulse@white (asked 12 min ago, waits for zoe@white)", `⏸ Deferred: boonkeeper@white ("after standup" until 2026-11-23T12:30:00Z)`,
		"⏱ No answer in time: late@white (asked 8d ago; a late one counts)", "✗ no@white declined: no time", "⚠ Contested: odd@white: zoe@white is asked again: two answers contradict",
		"4 of 7 synced", "⚠ mother is stale (below 0.3): whether they stay is the leader's to decide", "white-worm is out of sync (below 0.7)",
		"💡 a sync would help: parley work-with mother --sync",
	)
}

// It prevents: the name that somebody gives a party or an agent moves the cursor or changes another
// line.
func TestWhoShowsWordsOfOthersAsText(t *testing.T) {
	text := shown(control.Party{
		Name: "a\x1b[2Jb\nc", Leader: "nat", Members: []control.PartyMember{{Member: party.Member{Name: "m\x1b]0;x\a", Note: "n\nn"}}}, Tasks: []control.PartyTask{{Task: party.Task{Label: "T1", Text: "t\r\nt"}, State: "free"}},
	})
	if strings.ContainsAny(text, "\x1b\a\r") {
		t.Errorf("%q", text)
	}
}

func TestUntil(t *testing.T) {
	v := cli.View{Zone: time.UTC, Now: func() time.Time { return noon }}
	for text, want := range map[string]string{"2h": "2026-11-23T14:00:00Z", "3d": "2026-11-26T12:00:00Z", "2027-04-20": "2027-04-20T00:00:00Z"} {
		if got, err := untilOf(text, v); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	if _, err := untilOf("soon", v); err == nil {
		t.Error("soon is a time")
	}
}
