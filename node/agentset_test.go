package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: changing an agent needs a stop of its node, loses what else the agent's file said or
// what waits for the agent, or ends a command that runs.
func TestAnAgentIsChangedWhileItWorks(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	n, _ := runNode(t, home)
	work := t.TempDir()
	released := filepath.Join(work, "released")
	_, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{
		Name: "sage", Settings: control.Given{"dir": {work}, "timeout": {"1h"}}, Exec: "sh -c 'while [ ! -e released ]; do sleep 0.02; done; echo before'"})
	if err != nil {
		t.Fatal(err)
	}
	begun := say(t, n, "sage", "that is worked on")
	eventually(t, "it works", func() bool {
		all, err := control.Agents.Ask(t.Context(), n)
		return err == nil && all[0].Running == 1
	})
	waits := say(t, n, "sage", "that waits")
	before := readAgents(t, home)[0]

	for name, given := range map[string]control.Given{
		"no command":  {"exec": {""}},
		"no folder":   {"dir": {filepath.Join(work, "nowhere")}},
		"no profile":  {"profile": {"nobody"}},
		"two doors":   {"exec": {"cat"}, "inbox": {"true"}},
		"a bad tier":  {"tier": {"=cat"}},
		"a bad input": {"input": {"song"}},
		"no setting":  {"door": {"inbox"}},
		"another one": {"run-as": {"nobody"}},
	} {
		if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: given}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "nobody", Settings: control.Given{"exec": {"cat"}}}); control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("nobody was changed: %v", err)
	}
	if got := readAgents(t, home)[0]; got.Tiers[0] != before.Tiers[0] {
		t.Errorf("what was refused has changed the file: %+v", got)
	}
	changed, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: control.Given{"exec": {"sh -c 'echo after'"}, "answers": {"true"}}})
	if err != nil || changed.Command != "sh -c 'echo after'" || changed.Queued != 1 || changed.Running != 1 {
		t.Fatalf("it is %+v, %v; want one that waits and one that is worked on", changed, err)
	}
	if c := changed.Changed; len(c) != 2 || c[0].Name != "exec" || c[0].Now != "sh -c 'echo after'" || c[1] != (control.SettingChange{Name: "answers", Was: "false", Now: "true"}) {
		t.Errorf("it says that %+v was changed", c)
	}
	want := before
	want.Tiers = []configs.Tier{{Name: before.Tiers[0].Name, Count: 1, Exec: "sh -c 'echo after'"}}
	want.RunReplies = true
	if got := readAgents(t, home)[0]; got.Timeout != want.Timeout || got.DispatchSince != want.DispatchSince || !got.Added.Equal(want.Added) ||
		got.Dir != want.Dir || got.Tiers[0] != want.Tiers[0] || !got.RunReplies {
		t.Errorf("the file says %+v, want %+v", got, want)
	}
	if err := os.WriteFile(released, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(answerTo(t, n, begun.Path).Body); got != "before" {
		t.Errorf("what was worked on was answered %q", got)
	}
	if got := strings.TrimSpace(answerTo(t, n, waits.Path).Body); got != "after" {
		t.Errorf("what waited was answered %q", got)
	}
}

func readAgents(t *testing.T, home configs.Home) []configs.Agent {
	t.Helper()
	all, err := configs.ReadAgents(home.Agents())
	if err != nil || len(all) == 0 {
		t.Fatalf("%d agents, %v", len(all), err)
	}
	return all
}

// Tiers are told to the fleet, and a door can be changed. What waited in an inbox is then not run.
func TestAnAgentGetsTiersAndAnotherDoor(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "sage", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	inbox := say(t, n, "sage", "for the inbox")
	eventually(t, "it is in a commit", func() bool { return n.record.Status().Unrecorded == 0 })
	tiers := control.Given{"tier": {"haiku*5=sh -c 'echo haiku'", "opus=sh -c 'echo opus'"}}
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: tiers}); err != nil {
		t.Fatal(err)
	}
	h, err := control.ShowHost.Ask(t.Context(), n, control.HostRequest{Alias: n.cfg.Alias.String()})
	told := n.reading(func() bool {
		h, _ := n.state.Keys().Host(n.cfg.Alias)
		agent, serves := h.Serves("sage")
		return serves && len(agent.Tiers) == 2 && agent.Tiers[0].Count == 5
	})
	if err != nil || len(h.Agents) != 1 || !told {
		t.Errorf("the fleet was not told of the tiers: %+v, %v", h, err)
	}
	asked := say(t, n, "sage", "for a command")
	if got := strings.TrimSpace(answerTo(t, n, asked.Path).Body); got != "haiku" && got != "opus" {
		t.Errorf("it answered %q", got)
	}
	if got := answered(t, n, inbox); len(got) != 0 {
		t.Errorf("what waited in its inbox was run: %q", got)
	}
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: control.Given{"exec": {"cat"}}}); err == nil || !strings.Contains(err.Error(), "2 tiers") {
		t.Errorf("one command for two tiers: %v", err)
	}
	a, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "sage", Settings: control.Given{"inbox": {"true"}}})
	if err != nil || a.Door != configs.DoorInbox || a.Command != "" {
		t.Errorf("it is %+v, %v; want it behind the inbox", a, err)
	}
}

// It prevents: a host whose node cannot run because of an agent, while its agents can only be
// changed when the node runs.
func TestAgentsAreChangedWhileNoNodeRuns(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "sage", "sh -c 'echo before'")
	addExec(t, n, "calc", "cat")
	if _, err := OpenAgentFiles(home); err == nil {
		t.Fatal("the files of a running node were opened")
	}
	stop()
	f, err := OpenAgentFiles(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetAgent(control.SetAgentRequest{Name: "sage", Settings: control.Given{"exec": {"sh -c 'echo after'"}}}); err != nil {
		t.Error(err)
	}
	if _, err := f.PauseAgent(control.PauseRequest{Name: "nobody", Paused: true}); control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("nobody was paused: %v", err)
	}
	if a, err := f.PauseAgent(control.PauseRequest{Name: "sage", Paused: true}); err != nil || !a.Paused {
		t.Errorf("sage is %+v, %v", a, err)
	}
	if _, err := f.RemoveAgent(control.AgentRequest{Name: "calc"}); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	n, _ = runNode(t, home)
	h, err := control.ShowHost.Ask(t.Context(), n, control.HostRequest{Alias: n.cfg.Alias.String()})
	if err != nil || len(h.Agents) != 1 || h.Agents[0] != "sage" {
		t.Errorf("the fleet is told of %v, %v", h.Agents, err)
	}
	asked := say(t, n, "sage", "hello")
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "sage"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(answerTo(t, n, asked.Path).Body); got != "after" {
		t.Errorf("it answered %q", got)
	}
}
