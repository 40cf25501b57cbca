package root

import (
	"slices"
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
	walk(New(newRun(t).Program))
}

func TestReadingCommandsHaveJSON(t *testing.T) {
	root := New(newRun(t).Program)
	for _, line := range []string{
		"inbox", "read", "show", "log", "ls", "status", "agent list", "version", "replies", "thread", "wait", "search", "prompt", "fleet sync",
		"channel list", "channel show", "memory list", "memory show", "agent presets", "agent profile", "agent test", "record upgrade", "fleet hosts", "fleet show", "fleet ping",
	} {
		cmd, _, err := root.Find(strings.Fields(line))
		if err != nil || cmd.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json (%v)", line, err)
		}
	}
}

func TestHelpNamesTheExitCodes(t *testing.T) {
	r := newRun(t)
	if code := r.Do("help", "--all"); code != cli.ExitDone || !strings.Contains(r.Out.String(), "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waited") {
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
		{"inbox"}, {"ls"}, {"agent", "list"}, {"replies", "x"}, {"thread", "x"}, {"channel", "list"}, {"memory", "list"}, {"record", "upgrade"}, {"host", "list"},
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

// A group of commands that was given no verb shows which there are. It was an error before, with a
// list that no screen held.
func TestGroupsShowTheirHelp(t *testing.T) {
	for _, group := range []string{
		"agent", "agent dlq", "agent skill", "party", "party task", "fleet", "fleet policy", "gates key", "record", "record schema", "channel", "memory", "config", "session",
	} {
		r := newRun(t)
		code := r.Do(strings.Fields(group)...)
		if code != cli.ExitDone || !strings.Contains(r.Out.String(), "Available Commands:") || r.Err.Len() > 0 {
			t.Errorf("%s: exit %d, printed %q, said %q", group, code, r.Out.String(), r.Err.String())
		}
	}
}

// Help fits a screen of 24 lines, and shows the words by which a person finds the others.
func TestHelpFitsAScreen(t *testing.T) {
	for _, line := range [][]string{{"help"}, {"--help"}} {
		r := newRun(t)
		r.Do(line...)
		text := r.Out.String()
		if n := strings.Count(text, "\n"); n > 23 { // one line is left for the prompt
			t.Errorf("%v has %d lines", line, n)
		}
		for _, name := range []string{"init", "hey", "who", "status", "agent", "work-with", "gates", "fleet", "record"} {
			if !strings.Contains(text, "\n  "+name+" ") {
				t.Errorf("%v lacks %s", line, name)
			}
		}
	}
}

// Commands that moved below a noun are found by their old names too: by a call, with the flags of
// parley before them, and by help.
func TestOlderNames(t *testing.T) {
	for name, now := range OlderNames() {
		root := New(newRun(t).Program)
		want, _, err := root.Find(strings.Fields(now))
		if err != nil || want.CommandPath() != "parley "+now {
			t.Errorf("%s: there is no command %s (%v)", name, now, err)
		}
		for _, line := range [][]string{{name}, {"--home", "x", name}, {"--home=x", name}} {
			words := cli.Today(root, line)
			if got, _, err := root.Find(words); err != nil || got != want {
				t.Errorf("%v is %v (%v), want parley %s", line, got.CommandPath(), err, now)
			}
		}
		r := newRun(t)
		if code := r.Do("help", name); code != cli.ExitDone {
			t.Errorf("help %s: exit %d", name, code)
		}
	}
	root := New(newRun(t).Program)
	for _, line := range [][]string{{}, {"--home"}, {"--home", "queue"}, {"hey", "queue", "accept"}, {"--", "accept"}, {"-h"}} {
		if got := cli.Today(root, line); !slices.Equal(got, line) {
			t.Errorf("%q became %q", line, got)
		}
	}
}
