package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// It prevents: a bench says "none lost" while messages are missing.
func TestWhatIsMissingIsCounted(t *testing.T) {
	s := newStand(t)
	came := newArrivals()
	pair, err := s.startHosts(t.Context(), wantedHosts{size: 2, log: func(int) zerolog.Logger { return came.log() }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pair.stop(); err != nil {
			t.Error(err)
		}
	}()
	paths, err := s.sendMany(t.Context(), pair.nodes[0], pair.nodes[1].human, 5)
	if err != nil || len(paths) != 5 {
		t.Fatalf("%d messages were sent: %v", len(paths), err)
	}
	if whole, err := s.awaitArrivals(t.Context(), paths, came); err != nil || !whole {
		t.Fatalf("not all were seen to come in: %v", err)
	}
	var wrong int
	err = until(t.Context(), "the other host has them", time.Millisecond, func() (bool, error) {
		var err error
		wrong, _, err = wrongAt(t.Context(), pair.nodes[1], paths)
		return wrong == 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	paths["nobody/sent/this"] = true
	wrong, note, err := wrongAt(t.Context(), pair.nodes[1], paths)
	if err != nil || wrong != 1 || note != "1 missing, 0 double" {
		t.Errorf("wrong are %d: %q, %v", wrong, note, err)
	}
}

// Real nodes run in one process. Nothing that a host says to all is lost, and all hosts are back
// after the hub's restart.
func TestHostsHearTheHub(t *testing.T) {
	newStand(t)
	dir := t.TempDir()
	figures, err := Bus().Run(t.Context(), Options{Dir: dir, Quick: true, Only: []string{"fanout_lost", "back_all"}})
	if err != nil || len(figures) != 2 {
		t.Fatalf("%v, %v", figures, err)
	}
	if f := figures[0]; f.Value == nil || *f.Value != 0 || f.OK == nil || !*f.OK {
		t.Errorf("%+v", f)
	}
	if f := figures[1]; f.Value == nil || *f.Value <= 0 {
		t.Errorf("%+v", f)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// It prevents: a yardstick that is taken before the servers know each other, and that waits for
// messages that nobody carries.
func TestBareLinksDeliver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	took, err := natsDeliveries(ctx, 3, []byte("text"), 1000)
	if err != nil || took <= 0 {
		t.Errorf("took %s, %v", took, err)
	}
}

func TestLinuxTellsWhatAProcessUses(t *testing.T) {
	pid := os.Getpid()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	if all, anonymous := residentMemory(pid), anonymousMemory(pid); anonymous <= 0 || all <= anonymous {
		t.Errorf("%d bytes are resident, %d of them anonymous", all, anonymous)
	}
	before := processorTime(pid)
	for deadline := time.Now().Add(time.Minute); processorTime(pid) == before; {
		if time.Now().After(deadline) {
			t.Fatalf("no processor time was used in a minute of work")
		}
	}
}
