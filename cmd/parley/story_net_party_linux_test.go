package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/dump"
	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
)

// answers decides the gate that is about somebody, with the key of the host's human.
func (f *netFleet) answers(h *netHost, verb, whom string, args ...string) {
	f.t.Helper()
	id := ""
	f.await(h.alias+" is asked about "+whom, scratch.Patience(), func() bool {
		list, err := control.Gates.Ask(f.t.Context(), h.client, control.GatesRequest{})
		i := slices.IndexFunc(list.Gates, func(g control.Gate) bool { return g.Whom == whom })
		if i >= 0 {
			id = list.Gates[i].ID
		}
		return err == nil && i >= 0
	})
	key := filepath.Join(h.home.Humans(), "nat-"+h.alias+".key")
	h.must(append([]string{verb, id, "--yes", "--key", key}, args...)...)
}

// party returns a party as a host shows it, without what the host knows live and what it says of
// its own human.
func (f *netFleet) party(h *netHost) control.Party {
	f.t.Helper()
	p, err := control.ShowParty.Ask(f.t.Context(), h.client, control.PartyRequest{Party: "three-hosts"})
	if err != nil {
		f.t.Fatal(err)
	}
	p.Current = false
	for i := range p.Members {
		m := &p.Members[i]
		m.Status, m.Heard, m.Connected, m.Since = "", time.Time{}, false, time.Time{}
	}
	for i := range p.Gates {
		p.Gates[i].Here = false
	}
	return p
}

// A party spans three hosts with addresses of their own, with five agents and a human at each host.
// One human accepts, one defers and accepts later, one declines. The network breaks in two, and
// both sides take one task and change something. It heals, and all leave. It prevents: a host that
// shows another party than the others, and a step that is in no file of git.
func TestPartyOverAnotherNetwork(t *testing.T) {
	t.Parallel()
	f := newLinkedFleet(t, 3)
	white, black, grey := f.hosts[0], f.hosts[1], f.hosts[2]
	for h, agents := range map[*netHost][]string{white: {"skills", "pulse"}, black: {"mawjs", "mawui"}, grey: {"kit"}} {
		h.must("human", "add", "--open")
		for _, name := range agents {
			h.must("agent", "add", name, "--inbox")
		}
	}
	f.await("the agents and the humans' keys are known", scratch.Patience(), func() bool {
		ls, err := white.try("ls")
		humans, err2 := control.Humans.Ask(t.Context(), white.client, control.HumansRequest{})
		keyless := slices.ContainsFunc(humans.Humans, func(h control.Human) bool { return h.Key == "" })
		return err == nil && err2 == nil && strings.Contains(ls, "mawui") && strings.Contains(ls, "kit") && !keyless && len(humans.Humans) == 3
	})
	white.must("organize", "three hosts", "--via", "skills", "--with", "mawjs", "mawui", "kit", "pulse")
	f.answers(white, "accept", "pulse@white")
	f.answers(black, "accept", "mawjs@black")
	f.answers(black, "defer", "mawui@black", "--until", "3s", "--reason", "after standup")
	f.answers(grey, "reject", "kit@grey", "--reason", "no time")
	f.await("what was put off has run out", scratch.Patience(), func() bool {
		return slices.ContainsFunc(f.party(black).Gates, func(g control.Gate) bool { return g.Outcome == "expired" })
	})
	f.answers(black, "accept", "mawui@black")
	f.await("four are in it everywhere", scratch.Patience(), func() bool {
		return !slices.ContainsFunc(f.hosts, func(h *netHost) bool { return len(f.party(h).Members) != 4 })
	})
	black.must("presence", "busy", "--as", "mawui")
	white.must("task", "add", "Write the restart test", "--via", "skills", "--party", "three-hosts")
	white.must("tell", "we begin", "--via", "skills", "--party", "three-hosts")
	f.await("the task is known everywhere", scratch.Patience(), func() bool {
		return !slices.ContainsFunc(f.hosts, func(h *netHost) bool { return len(f.party(h).Tasks) != 1 })
	})

	f.net.Break(netrig.Apart([]*netrig.Host{black.at}, []*netrig.Host{white.at, grey.at, f.remote.Host})...)
	black.must("task", "take", "T1", "--via", "mawjs", "--party", "three-hosts")
	black.must("leave", "three-hosts", "--via", "mawui", "--reason", "on another team")
	white.must("task", "take", "T1", "--via", "pulse", "--party", "three-hosts")
	white.must("party", "rules", "consensus_mode=majority", "--via", "skills", "--party", "three-hosts")
	f.net.Break()
	same := func(what string, so func(control.Party) bool) {
		t.Helper()
		f.await(what+", everywhere the same", scratch.Patience(), func() bool {
			want := f.party(white)
			return so(want) && !slices.ContainsFunc(f.hosts, func(h *netHost) bool { return dump.Text(want) != dump.Text(f.party(h)) })
		})
	}
	same("both sides have met", func(p control.Party) bool {
		return len(p.Members) == 3 && len(p.Left) == 1 && p.Rules.ConsensusMode == "majority" && p.Tasks[0].State == "taken" && len(p.Void) == 1
	})
	black.must("leave", "three-hosts", "--via", "mawjs")
	white.must("leave", "three-hosts", "--via", "pulse")
	white.must("leave", "three-hosts", "--via", "skills")
	same("all have left", func(p control.Party) bool { return p.State == "closed" && len(p.Left) == 4 })
	f.await("everything is on the remote", scratch.Patience(), func() bool {
		return !slices.ContainsFunc(f.hosts, func(h *netHost) bool {
			s, err := control.ShowStatus.Ask(t.Context(), h.client)
			return err != nil || s.Record.Unrecorded+s.Record.Unpushed > 0
		})
	})
	out, err := exec.Command("git", "--git-dir", f.remote.Dir, "log", "-p", "main").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"PARTY ORGANIZE", "PARTY ACCEPT", "PARTY REJECT", "no time", "PARTY DEFER", "after standup", "PARTY TAKE", "consensus_mode=majority", "PARTY LEAVE", "on another team", "we begin"} {
		if !strings.Contains(string(out), words) {
			t.Errorf("git log -p does not say %q", words)
		}
	}
	if t.Failed() {
		text, _ := json.Marshal(f.party(white))
		t.Logf("white shows %s", text)
	}
}
