package control_test

import (
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/node/control"
)

func TestContractInProcess(t *testing.T) {
	controltest.RunMail(t, func(*testing.T) control.Service { return newMemory().answers() })
}

func TestContractOverSocket(t *testing.T) {
	controltest.RunMail(t, func(t *testing.T) control.Service { return controltest.OverSocket(t, newMemory().answers()) })
}
