package talk_test

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley.
func TestMain(m *testing.M) { scripts.Main(m, root.Play, nil) }

// The scripts tell the stories of messages, agents and their runs end to end.
func TestScript(t *testing.T) {
	scripts.Play(t, "agents", "callers", "chat", "dead_letters", "events", "hey_exec", "inbox_wait", "loops", "max_commands", "presence", "queue", "search", "waiting")
}
