package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// An inquiry of another host runs an agent of this one: what it asks stands in a fence, and each run
// counts in the agent's budget. It prevents: the words of another host stand among parley's own, and it
// has an agent run without end.
func TestInquiryOfAnotherHostIsBounded(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	home := homeLinkedTo(t, hub, "left")
	changeConfig(t, home, func(c *configs.Config) { c.MaxRuns = 1 })
	left, _ := runNode(t, home)
	nat := sit(t, hub)
	st.lens(hub, "chair")
	script, err := filepath.Abs(filepath.Join("testdata", "lens.sh"))
	if err != nil {
		t.Fatal(err)
	}
	tell := filepath.Join(st.dir, "tell.sh")
	text := "#!/bin/sh\ncat >\"$1/given\"\nexec sh \"$2\" \"$1\" <\"$1/given\"\n"
	if err := os.WriteFile(tell, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	addExec(t, left, "lens", tell+" "+st.dir+" "+script) // what it names, it sees behind its walls
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "left", "live").Agents) == 1 })
	f := nat.frames("lens@left")
	nat.toMembers(f)
	eventually(t, "one of two has run, and status says that the other waits", func() bool {
		return st.ran("Cost")+st.ran("Sleep") == 1 && warned(t, left, "max_runs is 1")
	})
	given, err := os.ReadFile(filepath.Join(st.dir, "given"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, fenced := strings.Cut(string(given), "\n=== BEGIN ")
	if !fenced || strings.Contains(before, "stores") || strings.Contains(before, "expert") || !strings.Contains(before, "The host oracle-world has you take part") {
		t.Errorf("it is given:\n%s", given)
	}
	if _, err := control.PauseAgent.Ask(t.Context(), left, control.PauseRequest{Name: "lens"}); err != nil {
		t.Fatal(err)
	}
	st.awaitRuns("Cost", 1)
	st.awaitRuns("Sleep", 1)
	nat.escapes(nat.frame(f.ID))
	eventually(t, "nothing waits any more", func() bool { return !warned(t, left, "max_runs") })
}

// A member that is made has the name of no agent. It prevents: an agent that is called lens-1 is taken
// for the member that was made after lens, and given what only lens may have.
func TestAMadeMemberHasNoAgentsName(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	for _, name := range []string{"chair", "lens", "lens-1", "lens-3"} {
		st.lens(n, name)
	}
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("Sleep", 1)
	var names []string
	for _, m := range nat.frame(f.ID).Members {
		names = append(names, m.Agent)
	}
	if got := strings.Join(names, " "); got != "lens-2@oracle-world lens-4@oracle-world" {
		t.Errorf("they are %s", got)
	}
	nat.escapes(nat.frame(f.ID))
}
