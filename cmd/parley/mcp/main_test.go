package mcp_test

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley.
func TestMain(m *testing.M) { scripts.Main(m, root.Play, nil) }

// The script talks to parley mcp by hand, in each revision of the protocol.
func TestScript(t *testing.T) { scripts.Play(t, "mcp") }
