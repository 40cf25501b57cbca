package install

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/node/control"
)

// A session in which the installed monitor does not run is named, with how it hears then.
func TestUnmonitored(t *testing.T) {
	claude, _ := install.Find("claude")
	at := install.Places{Home: t.TempDir(), Getenv: func(string) string { return "" }}
	sessions := []control.Session{
		{Agent: "well", Program: "claude", State: control.AgentIdle, Ways: []control.SessionWay{control.BySocket, control.ByMonitor}},
		{Agent: "begun-before", Program: "claude", Process: 7, State: control.AgentRunning, Ways: []control.SessionWay{control.BySocket}},
		{Agent: "deaf", Program: "claude", Process: 8, State: control.AgentIdle},
		{Agent: "closed", Program: "claude", State: control.AgentAway},
		{Agent: "other", Program: "codex", State: control.AgentIdle},
	}
	if found := unmonitored(claude, at, sessions); found != nil {
		t.Errorf("no monitor is installed: %+v", found)
	}
	file := filepath.Join(at.Home, ".claude", "skills", "parley", "monitors", "monitors.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("[]"), 0o600)); err != nil {
		t.Fatal(err)
	}
	found := unmonitored(claude, at, sessions)
	if len(found) != 2 || found[0].Problem != "the session begun-before (process 7) runs no monitor of parley's, so its socket alone wakes it" ||
		found[1].Problem != "the session deaf (process 8) runs no monitor of parley's, so it hears at its next turn" {
		t.Errorf("%+v", found)
	}
}
