package seats

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// newBook is a Book of a host with agents that have an inbox and the folder /work.
func newBook(t *testing.T, names ...protocol.Name) *Book {
	t.Helper()
	roster := &agents.Roster{}
	for _, name := range names {
		roster.Put(configs.Agent{Name: name, Door: configs.DoorInbox, Session: "claude", Dir: t.TempDir()})
	}
	return New(Options{
		Host: "white", Human: "nat", File: filepath.Join(t.TempDir(), "sessions.json"), Now: time.Now, Log: zerolog.Nop(), Roster: roster,
		Sessions: sessions.New(time.Now, process.ID.Alive), Announce: func() {}, Wrong: func(string, string) {},
		Folded: func(read func(*fleet.State)) { read(fleet.New(keys.Anchor{RecordID: testRecord})) },
	})
}

// A caller that the node cannot see bears an agent's token. It prevents: such a program takes the
// mail of another agent, because it names that one's session or folder.
func TestATokenIsForOneSeat(t *testing.T) {
	b := newBook(t, "ann", "ben")
	folder := b.Roster.All()[1].Dir
	starts := func(as protocol.Name, id string) protocol.Name {
		t.Helper()
		s, _, err := b.seatFor(control.Caller{Kind: control.ByAgent, Name: as}, control.SessionEventRequest{Program: "claude", Session: id, Event: control.SessionStarted, Folder: folder})
		if err != nil || s == nil {
			t.Fatalf("%s as %s: no seat: %v", id, as, err)
		}
		return s.Name
	}
	for _, c := range []struct {
		as protocol.Name
		id string
	}{{"ben", "s-1"}, {"ann", "s-1"}, {"ann", "s-2"}, {"ben", "s-1"}, {"ben", "s-2"}} {
		if got := starts(c.as, c.id); got != c.as {
			t.Errorf("session %s with the token of %s is %s", c.id, c.as, got)
		}
	}
	b.mu.Lock()
	err := b.leaveAll()
	b.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if got := starts("ann", "s-1"); got != "ann" {
		t.Errorf("with the token of ann, the session that ben had is %s", got)
	}
}

// leaveAll has nobody be there. The caller holds mu.
func (b *Book) leaveAll() error {
	for _, s := range b.seats {
		b.vacates(s)
	}
	return b.save()
}

// What nobody proves to have been shown is handed over again, but not for ever. It prevents: mail
// is lost because a hook was too slow twice.
func TestHandedOverAgain(t *testing.T) {
	for name, c := range map[string]struct {
		printed uint64
		most    int
	}{"printed": {1, mostLost}, "not said to be printed": {0, mostMute}} {
		h, again := handed{}, 0
		for again < 10 {
			h.At, h.Given = time.Now(), c.printed
			if h.back(true); h.Lost > mostLost {
				break
			}
			again++
		}
		if again != c.most {
			t.Errorf("%s: it is handed over %d times again, want %d", name, again, c.most)
		}
	}
}

// A process that began while a session lived may be the session's. It prevents: what a session has
// left counts as the operator's when the session has ended.
func TestLived(t *testing.T) {
	if process.Now() == 0 {
		t.Skip("the system tells nothing of processes")
	}
	b := newBook(t)
	own := process.ID{PID: 1 << 30, Start: process.Now() - 100}
	s := &seat{Name: "one", Program: "claude", Made: true, Holder: &holder{PID: own.PID, Start: own.Start, Boot: b.boot, At: 5}}
	b.seats = append(b.seats, s)
	b.here = append(b.here, s)
	check := func(when string, want bool, start uint64) {
		t.Helper()
		if got := b.Lived(start, 0); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	check("before it began", false, own.Start-1)
	check("while it lives", true, own.Start+1)
	for terminal, want := range map[int]bool{5: true, 6: false} { // what has lost its parent keeps the session's terminal
		if got := b.Lived(own.Start+1, terminal); got != want {
			t.Errorf("at the terminal %d: %v", terminal, got)
		}
	}
	if err := b.leave(s); err != nil {
		t.Fatal(err)
	}
	check("before it began, and it has ended", false, own.Start-1)
	check("while it lived", true, own.Start+1)
	check("after it ended", false, process.Now()+100)
	b = New(b.Options)
	check("while it lived, to another node", true, own.Start+1)
}
