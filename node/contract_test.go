package node

import (
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
)

func TestServiceInProcess(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	controltest.Run(t, func(t *testing.T) control.Service {
		n, _ := runNode(t, initHome(t, nil))
		return n
	})
}

func TestServiceOverSocket(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	controltest.Run(t, func(t *testing.T) control.Service {
		n, _ := runNode(t, initHome(t, nil))
		return control.NewClient(n.home.Socket(), "test")
	})
}
