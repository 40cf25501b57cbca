package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// linesOf returns the words in a file, in their order.
func linesOf(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// One agent that hangs holds up no other. Each tier runs its own command, as many at a time as its
// count says. What one worker answers it answers oldest first. Crosstalk C15, Crosstalk C22 and
// Crosstalk D28.
func TestEachTierRunsItsOwnCommandAndNoAgentWaitsForAnother(t *testing.T) {
	t.Parallel()
	n, _ := trying(t, initHome(t, nil)) // with the defaults, on any machine
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	held := func(file string) string {
		return fmt.Sprintf("sh -c 'read n; echo $n >> %s/%s; until test -e %s; do sleep 0.01; done; echo %s $n'", dir, file, gate, file)
	}
	tiers := control.Given{"tier": {"small*2=" + held("small"), "large=" + held("large")}}
	addExec(t, n, "sage", "cat")
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: tiers}); err != nil {
		t.Fatal(err)
	}
	addExec(t, n, "hangs", fmt.Sprintf("sh -c 'echo x >> %s/hangs; until test -e %s/end; do sleep 0.01; done; echo at last'", dir, dir))
	addExec(t, n, "quick", "cat")
	hung := say(t, n, "hangs", "for long")
	eventually(t, "one hangs", func() bool { return len(linesOf(t, filepath.Join(dir, "hangs"))) == 1 })

	asked := map[protocol.Path]int{}
	var chosen [2][]string // of each tier, in order
	for i := 0; len(chosen[0]) < 5 || len(chosen[1]) < 3; i++ {
		m := say(t, n, "sage", fmt.Sprint(i))
		asked[m.Path] = i
		at := chosenTier(t, n, m.Path)
		chosen[at] = append(chosen[at], fmt.Sprint(i))
	}
	eventually(t, "as many run as the counts say", func() bool {
		return len(linesOf(t, filepath.Join(dir, "small"))) == 2 && len(linesOf(t, filepath.Join(dir, "large"))) == 1
	})
	if got := answerTo(t, n, say(t, n, "quick", "are you there?").Path).Body; got != "are you there?" {
		t.Errorf("answered %q", got)
	}
	all, err := control.Agents.Ask(t.Context(), n)
	if err != nil || !slices.ContainsFunc(all, func(a control.Agent) bool { return a.Name == "sage" && a.Running == 3 }) {
		t.Errorf("agents: %+v, %v; want three runs of sage", all, err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for p, i := range asked {
		tier := []string{"small", "large"}[chosenTier(t, n, p)]
		if got, want := answerTo(t, n, p).Body, fmt.Sprintf("%s %d", tier, i); got != want {
			t.Errorf("message %d is answered %q, want %q", i, got, want)
		}
	}
	if got := linesOf(t, filepath.Join(dir, "large")); !slices.Equal(got, chosen[1]) {
		t.Errorf("the worker of one tier began in the order %v, want %v", got, chosen[1])
	}
	if got := linesOf(t, filepath.Join(dir, "small")); len(got) != len(chosen[0]) {
		t.Errorf("the other tier ran for %v, want %v", got, chosen[0])
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, n, hung.Path).Body; got != "at last" {
		t.Errorf("what hung is answered %q", got)
	}
}

// It prevents: an agent that may have more commands at once than the host, and has them run for long,
// leaves no place for the first message of another agent. Crosstalk C22 and Crosstalk D28.
func TestManyLongRunsOfOneAgentLeaveRoomForAnother(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	allowCommands(t, home, "4")
	n, _ := trying(t, home)
	dir := t.TempDir()
	addExec(t, n, "quick", "cat")
	addExec(t, n, "hog", "cat")
	tiers := control.Given{"tier": {fmt.Sprintf("all*9=sh -c 'echo x >> %s/ran; until test -e %s/end; do sleep 0.01; done; echo at last'", dir, dir)}}
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "hog", Settings: tiers}); err != nil {
		t.Fatal(err)
	}
	var asked []protocol.Path
	for i := range 9 {
		asked = append(asked, say(t, n, "hog", fmt.Sprint(i)).Path)
	}
	eventually(t, "it has all that it may have", func() bool {
		used, waiting, _ := n.serving.Usage()
		return used == 3 && waiting == 1 && len(linesOf(t, filepath.Join(dir, "ran"))) == 3
	})
	for range 3 {
		if got := answerTo(t, n, say(t, n, "quick", "are you there?").Path).Body; got != "are you there?" {
			t.Errorf("answered %q", got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range asked {
		if got := answerTo(t, n, p).Body; got != "at last" {
			t.Errorf("answered %q", got)
		}
	}
}

// chosenTier returns which of two tiers of sage is to answer a message.
func chosenTier(t *testing.T, n *Node, p protocol.Path) (at int) {
	t.Helper()
	t.Helper()
	var name string
	n.reading(func() bool {
		it, ok := n.state.Ledger.Item(p)
		if ok {
			name, _ = n.state.Talk.ChosenTier(it, fleet.Who{Name: "sage", Host: n.cfg.Alias})
		}
		return ok
	})
	if at = slices.Index([]string{"small", "large"}, name); at < 0 {
		t.Fatalf("for %s the tier %q is chosen", p, name)
	}
	return at
}

// A command that hangs is ended at its agent's timeout, with all that it has started, and the next
// message is served. Crosstalk D28.
func TestAHungCommandIsEndedAtItsTimeout(t *testing.T) {
	t.Parallel()
	n, _ := trying(t, initHome(t, nil))
	request := control.AddAgentRequest{
		Name: "slow", Exec: `sh -c 'read word; test "$word" = hang && { sleep 1000 & wait; }; echo $word'`, Settings: control.Given{"timeout": {"300ms"}, "attempts": {"1"}},
	}
	if _, err := control.AddAgent.Ask(t.Context(), n, request); err != nil {
		t.Fatal(err)
	}
	hung, next := say(t, n, "slow", "hang"), say(t, n, "slow", "next")
	if got := answerTo(t, n, next.Path); got.Body != "next" {
		t.Errorf("what followed is answered %q", got.Body)
	}
	if got := answerTo(t, n, hung.Path); got.Act != protocol.ActFailed || !strings.Contains(got.Body, "no answer within 300ms") {
		t.Errorf("the sender is told %s: %q", got.Act, got.Body)
	}
}
