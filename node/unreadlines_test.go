package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// If a line in what a host says of itself cannot be read, the line is left out and told of, now and
// after a start. The host's other agents are there. It prevents: all of them vanish.
func TestUnreadableLineOfAHostIsToldAndTheRestCounts(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	g := newGhost(t, n, "white")
	public, err := g.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	body := protocol.FormatHost(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: public, Humans: []protocol.Name{"eve"},
		Agents: []protocol.HostedAgent{{Name: "mawjs", Tiers: []protocol.Tier{{Name: "gpt-4.1", Count: 1}}}},
	}) + "\nagent: codex, o pus*1"
	word := g.sign(protocol.Message{From: "white", To: []protocol.Address{{Name: "white"}}, Act: protocol.ActHostJoin, Body: body},
		protocol.SystemChannel(n.record.ID()))
	n.Receive([]gitsync.MessageFile{word}, byBus)
	for range 2 {
		all, err := control.List.Ask(t.Context(), n, control.HostsRequest{})
		if err != nil || !slices.ContainsFunc(all, func(p control.Participant) bool { return p.Name == "mawjs" && p.Host == "white" }) {
			t.Fatalf("there are %+v, %v", all, err)
		}
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || !slices.ContainsFunc(s.Warned, func(w string) bool { return strings.Contains(w, "agent: codex, o pus*1") }) {
			t.Errorf("warned of %q, %v", s.Warned, err)
		}
		v, err := n.audits.Verify(t.Context())
		if err != nil || v.Wrong > 0 || !slices.ContainsFunc(v.Findings, func(f control.Finding) bool {
			return f.Path == word.Path && f.Kind == control.FindingUnreadable && strings.Contains(f.Text, "codex")
		}) {
			t.Errorf("verify finds %+v, %v", v, err)
		}
		stop()
		n, stop = runNode(t, home)
	}
}

// A message that its own reader would refuse is not stored. It prevents: a hole in the host's chain
// for ever, for everybody.
func TestWhatNobodyWouldReadIsNotStored(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	before := len(everything(t, n))
	draft := fleet.Draft{Channel: protocol.SystemChannel(n.record.ID()), Message: protocol.Message{
		From: "oracle-world", To: []protocol.Address{{Name: "oracle-world"}}, Type: protocol.TypeText, Act: protocol.ActHostVouch,
		Timestamp: n.now(), Body: "HOST-VOUCH | host: oracle-world\nknows: white nobody",
	}}
	if ws, err := n.writer.Write(t.Context(), []fleet.Draft{draft}); err == nil {
		t.Fatalf("it was stored: %+v", ws)
	}
	say(t, n, "all", "the chain goes on")
	if got := len(everything(t, n)); got != before+1 {
		t.Errorf("there are %d messages, want %d", got, before+1)
	}
	if v, err := n.audits.Verify(t.Context()); err != nil || v.Wrong > 0 {
		t.Errorf("verify finds %+v, %v", v, err)
	}
}
