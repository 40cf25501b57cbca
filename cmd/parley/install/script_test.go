package install_test

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley.
func TestMain(m *testing.M) { scripts.Main(m, root.Play, nil) }

// The scripts put parley into programs that say no more than their version.
func TestScript(t *testing.T) { scripts.Play(t, "install") }
