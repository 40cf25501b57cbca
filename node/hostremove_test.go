package node

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// aliases returns the hosts that a node lists, each with its state.
func aliases(t *testing.T, n *Node, all bool) (list []string) {
	t.Helper()
	hosts, err := control.Hosts.Ask(t.Context(), n, control.HostsRequest{All: all})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		list = append(list, h.Alias.String()+" "+string(h.State))
	}
	return list
}

// A machine that is retired takes its leave with its last message. All that it wrote counts on
// every host, also what its agents answered a moment before.
func TestAHostRemovesItself(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	white, ended := startNode(t, homeLinkedTo(t, hub, "white"))
	addExec(t, white, "slow", "sh -c 'sleep 0.5; echo done'")
	seenAs(t, hub, "white", control.HostLive)
	asked := say(t, white, "slow", "one more thing")
	eventually(t, "it is worked on", func() bool {
		all, err := control.Agents.Ask(t.Context(), white)
		return err == nil && all[0].Running == 1
	})
	if _, err := control.RemoveHost.Ask(t.Context(), hub, control.RemoveHostRequest{Host: "white"}); control.AsError(err).Kind != control.KindConflict ||
		!strings.Contains(control.AsError(err).Hint, "parley fleet remove white") {
		t.Errorf("a host whose node runs is removed by another: %v", err)
	}
	plan, err := control.RemoveHost.Ask(t.Context(), white, control.RemoveHostRequest{Host: "white", Try: true})
	if err != nil || !plan.Here || plan.Running != 1 || plan.Waiting != 1 || !slices.Equal(plan.Agents, []protocol.Name{"slow"}) || !plan.Path.IsZero() {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	done, err := control.RemoveHost.Ask(t.Context(), white, control.RemoveHostRequest{Host: "white", Phrase: "remove white"})
	if err != nil || done.Path.IsZero() {
		t.Fatalf("it was not removed: %+v, %v", done, err)
	}
	if err := awaited(t, "the end of white", ended); err == nil || !strings.Contains(err.Error(), "removed from the fleet by nat at white") {
		t.Errorf("white ended with %v", err)
	}
	if h := seenAs(t, hub, "white", control.HostRemoved); len(h.Keys) != 1 || h.Keys[0].Revoked.IsZero() {
		t.Errorf("white is shown as %+v", h)
	}
	eventually(t, "what it answered last counts", func() bool {
		m, err := control.Show.Ask(t.Context(), hub, control.ShowRequest{Path: asked.Path.String()})
		return err == nil && m.Stage == protocol.StageAnswered
	})
	for _, m := range everything(t, hub) {
		if m.Signature == protocol.SignatureRefused {
			t.Errorf("%s of %s is refused", m.Path, m.Host)
		}
	}
	wantOnlyHere(t, hub)
	if _, err := Init(t.Context(), homes.Options{Home: configs.Home{Dir: filepath.Join(t.TempDir(), "again")}, Version: "test", Alias: "white", Human: "ann", Remote: hub.cfg.Remote, Join: true}); err == nil ||
		!strings.Contains(err.Error(), "had a host called white, which was removed on 20") {
		t.Errorf("its name was taken again: %v", err)
	}
}

// wantOnlyHere checks that a removed host no longer stands anywhere but in the list of all hosts.
func wantOnlyHere(t *testing.T, n *Node) {
	t.Helper()
	if got := aliases(t, n, false); !slices.Equal(got, []string{"oracle-world here"}) {
		t.Errorf("hosts: %q", got)
	}
	if got := aliases(t, n, true); !slices.Equal(got, []string{"oracle-world here", "white removed"}) {
		t.Errorf("all hosts: %q", got)
	}
	people, err := control.List.Ask(t.Context(), n, control.HostsRequest{})
	if err != nil || slices.ContainsFunc(people, func(p control.Participant) bool { return p.Host == "white" }) {
		t.Errorf("people: %+v, %v", people, err)
	}
	f, err := control.AskFleet.Ask(t.Context(), n, control.HostsRequest{})
	if err != nil || len(f.Hosts) != 1 {
		t.Errorf("status of the fleet: %+v, %v", f, err)
	}
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"slow@white"}, Body: "hello"}); err == nil || !strings.Contains(err.Error(), "removed from the fleet") {
		t.Errorf("it can be written to: %v", err)
	}
	eventually(t, "its file says that it is out", func() bool {
		file, _, err := n.record.ReadFile(protocol.HostFilePath("white"))
		return err == nil && !strings.Contains(string(file), "slow") && strings.Contains(string(file), "removed: ")
	})
}

// A machine that is gone is removed on the host that began the record, and the answer says what
// waits for it. Another host says where to remove it.
func TestAHostThatIsGoneIsRemoved(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	white, stop, _ := linkedTo(t, hub, "white")
	addExec(t, white, "slow", "cat")
	black, _, _ := linkedTo(t, hub, "black")
	seenAs(t, hub, "white", control.HostLive)
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "white", control.HostLive).Agents) == 1 })
	stop()
	seenAs(t, hub, "white", control.HostAway)
	say(t, hub, "slow", "anybody there?")
	_, err := control.RemoveHost.Ask(t.Context(), black, control.RemoveHostRequest{Host: "white"})
	if e := control.AsError(err); err == nil || e.Kind != control.KindRefused || !strings.Contains(e.Hint, "run it on the host oracle-world") {
		t.Errorf("another host removes it: %v", err)
	}
	done, err := control.RemoveHost.Ask(t.Context(), hub, control.RemoveHostRequest{Host: "white", Phrase: "remove white"})
	if err != nil || done.Here || done.Waiting != 1 || done.Path.IsZero() {
		t.Fatalf("%+v, %v", done, err)
	}
	eventually(t, "the others learn of it", func() bool {
		return slices.Equal(aliases(t, black, true), []string{"black here", "oracle-world live", "white removed"})
	})
	if _, err := control.RemoveHost.Ask(t.Context(), hub, control.RemoveHostRequest{Host: "white"}); err == nil {
		t.Error("it is removed once more")
	}
	_, ended := startNode(t, white.home)
	if err := awaited(t, "its end", ended); err == nil || !strings.Contains(err.Error(), "removed from the fleet by nat at oracle-world") {
		t.Errorf("its node starts again: %v", err)
	}
}
