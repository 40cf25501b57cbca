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
	scripts.Play(t, "callers", "events", "inbox_wait", "max_commands", "presence", "queue", "waiting")
}
