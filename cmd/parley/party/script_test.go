package party_test

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley.
func TestMain(m *testing.M) { scripts.Main(m, root.Play, nil) }

// The scripts tell the stories of parties, gates, topics and inquiries end to end.
func TestScript(t *testing.T) {
	scripts.Play(t, "frame", "parties")
}
