package inquiry

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/protocol"
)

// A folder that another host's inquiry names is not read here, whatever lies at that path.
func TestFolderOfAnotherHostIsNotReadHere(t *testing.T) {
	mine, base := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(mine, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := place.Snapshot(t.Context(), base, place.Ask{In: mine, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	q := New(Options{Host: "white", Places: t.TempDir(), Home: t.TempDir(), Folded: func(func(*fleet.State)) {}})
	v := inquiries.Inquiry{Channel: "1f2e3d4c-0000-4000-8000-000000000000", Opening: protocol.InquiryOpening{In: mine, Snapshot: source.Hash}, By: protocol.Address{Name: "nat", Host: "black"}}
	if dir, err := q.material.dir(t.Context(), v); err == nil || !strings.Contains(err.Error(), "is a folder of black") {
		t.Errorf("it is investigated at %s, %v", dir, err)
	}
	if left, _ := os.ReadDir(q.Places); len(left) > 0 {
		t.Error("something of it was copied")
	}
	v.Opening.In, v.Opening.Humans = mine+"@main", []protocol.Name{"bo"}
	if dir, err := q.material.dir(t.Context(), v); err == nil {
		t.Errorf("what an agent of another host named is investigated at %s", dir)
	}
	v.Opening.Humans = nil
	if dir, err := q.material.dir(t.Context(), v); err == nil || strings.Contains(err.Error(), mine) {
		t.Errorf("what cannot be had here is told to others: %s, %v", dir, err)
	}
	v.Opening.In, v.By.Host = mine, "white"
	if dir, err := q.material.dir(t.Context(), v); err != nil || dir == "" {
		t.Errorf("a folder of this host is not: %v", err)
	}
}

// It prevents: an agent that names something slow to take keeps all other agents of the host from
// beginning an inquiry.
func TestEachAgentTakesByItself(t *testing.T) {
	q := New(Options{})
	release, err := q.material.turn(t.Context(), "slow")
	if err != nil {
		t.Fatal(err)
	}
	other, err := q.material.turn(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := q.material.turn(ended, "slow"); err == nil {
		t.Error("one agent takes two at once")
	}
	release()
	if release, err = q.material.turn(t.Context(), "slow"); err != nil {
		t.Fatal(err)
	}
	release()
}
