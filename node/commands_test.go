package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// allowCommands has at most this many commands run at once, whatever the machine is.
func allowCommands(t *testing.T, home configs.Home, most string) {
	t.Helper()
	config, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	config = []byte(strings.Replace(string(config), "max_commands: auto", "max_commands: "+most, 1))
	if err := os.WriteFile(home.Config(), config, 0o600); err != nil {
		t.Fatal(err)
	}
}

// It prevents: one message to many agents starts as many commands at once.
func TestNoMoreCommandsThanAllowedRunAtOnce(t *testing.T) {
	home := initHome(t, nil)
	allowCommands(t, home, "2")
	n, _ := runNode(t, home)
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	names := []string{"a", "b", "c", "d", "e"}
	for _, name := range names {
		addExec(t, n, name, "sh -c 'touch "+dir+"/ran-"+name+"; until test -e "+gate+"; do sleep 0.01; done; echo done'")
	}
	ran := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "ran-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	to := func() []string { return slices.Clone(names) }
	m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: to(), Body: "work"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "two run and the others wait for their turn", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, a := range s.Agents {
			if a.Held {
				held++
			}
		}
		return ran() == 2 && s.Commands == (control.CommandStatus{Running: 2, Most: 2, Waiting: 3}) && held == 3
	})
	note, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: to(), Act: "note", Body: "for your eyes"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all have answered, and have read the note", func() bool {
		answers, err := control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: m.Path.String()})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: note.Path.String()})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, a := range shown.Addressees {
			if a.Stage == protocol.StageRead {
				read++
			}
		}
		return len(answers) == len(names) && read == len(names)
	})
	if used, waiting, _ := n.serving.Usage(); used != 0 || waiting != 0 {
		t.Errorf("%d commands run, %d agents wait", used, waiting)
	}
}
