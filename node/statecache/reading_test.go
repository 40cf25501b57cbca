package statecache

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

// A program that asks a node that reads a long record is told so, and how far the reading has come.
func TestLongStartAnswers(t *testing.T) {
	r := &Reading{Socket: filepath.Join(t.TempDir(), "socket"), Version: "test", Log: zerolog.Nop()}
	client := control.NewClient(r.Socket, "test")
	end := r.begin(longStart)
	r.done.Store(longStart * 2 / 5)
	_, err := control.ShowStatus.Ask(t.Context(), client)
	if e := control.AsError(err); err == nil || e.Kind != control.KindUnavailable || e.Message != "the node is starting: reading the record: 40%" {
		t.Errorf("while it starts: %v", err)
	}
	if _, err := control.Stop.Ask(t.Context(), client); err == nil || !strings.Contains(control.AsError(err).Hint, "end process") {
		t.Errorf("asked to stop: %v", err)
	}
	end()
	if _, err := control.ShowStatus.Ask(t.Context(), client); err == nil || strings.Contains(err.Error(), "starting") {
		t.Errorf("afterwards: %v", err)
	}
}
