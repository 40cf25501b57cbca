package main

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

func TestEveryCommandHasAnExample(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		if cmd.Short == "" || !strings.Contains(cmd.Example, "parley") {
			t.Errorf("%s has no Short or no Example", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(newRun(t).Program))
}

func TestReadingCommandsHaveJSON(t *testing.T) {
	root := newRootCommand(newRun(t).Program)
	for _, line := range []string{
		"inbox", "read", "show", "log", "ls", "status", "agent list", "version", "replies", "thread", "wait", "search", "prompt", "wake",
		"channel list", "channel show", "memory list", "memory show", "agent presets", "agent profile", "agent test", "upgrade", "host list", "host show", "host ping",
	} {
		cmd, _, err := root.Find(strings.Fields(line))
		if err != nil || cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json (%v)", line, err)
		}
	}
}

func TestHelpNamesTheExitCodes(t *testing.T) {
	r := newRun(t)
	if code := r.Do("--help"); code != cli.ExitDone || !strings.Contains(r.Out.String(), "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waited") {
		t.Errorf("exit %d, printed %s", code, r.Out.String())
	}
}

func TestVersion(t *testing.T) {
	for _, line := range []string{"version", "--version"} {
		r := newRun(t)
		if code := r.Do(line); code != cli.ExitDone || !strings.HasPrefix(r.Out.String(), "parley "+cli.Version+" (") {
			t.Errorf("%s: exit %d, printed %q", line, code, r.Out.String())
		}
	}
}

func TestHelpOfACommand(t *testing.T) {
	r := newRun(t)
	if code := r.Do("help", "host", "list"); code != cli.ExitDone || !strings.HasPrefix(r.Out.String(), "List the hosts of the fleet, as this host knows them") {
		t.Errorf("exit %d, printed %q", code, r.Out.String())
	}
}

func TestEmptyListsAsJSONAreArrays(t *testing.T) {
	for _, line := range [][]string{
		{"inbox"}, {"ls"}, {"agent", "list"}, {"replies", "x"}, {"thread", "x"}, {"channel", "list"}, {"memory", "list"}, {"upgrade"}, {"host", "list"},
	} {
		r := newRun(t)
		if code := r.Do(append(line, "--json")...); code != cli.ExitDone || r.Out.String() != "[]\n" {
			t.Errorf("%q: exit %d, printed %q, want []", line, code, r.Out.String())
		}
	}
	r := newRun(t)
	r.Do("status", "--json")
	if strings.Contains(r.Out.String(), "null") {
		t.Errorf("status has lists that are null: %s", r.Out.String())
	}
}

// It prevents: a command without a group, which stands at the end of help under "Additional
// Commands", where nobody looks for it.
func TestHelpListsEachCommandInAGroup(t *testing.T) {
	root := newRootCommand(testProgram())
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if !cmd.Hidden && cmd.GroupID == "" {
			t.Errorf("parley %s is in no group", cmd.Name())
		}
	}
}
