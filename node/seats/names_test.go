package seats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// folder makes a folder that sessions are named after.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A session is called like its folder, and like nothing else in the fleet. A name stays with its
// folder for ever (R68).
func TestNames(t *testing.T) {
	f := newFleet(t)
	bridge := folder(t, "bridge")
	one := f.begin(bridge, "s-1")
	one.name("bridge")
	two := f.begin(bridge, "s-2")
	two.name("bridge-2")
	f.begin(folder(t, "bridge"), "s-3").name("bridge-3")
	for _, taken := range []string{"hub", "zoe", "who"} {
		f.begin(folder(t, taken), taken).name(taken + "-2")
	}
	f.begin(folder(t, protocol.All), "all").name("session")
	one.tell(control.SessionEnded)
	two.end()
	f.begin(folder(t, "bridge"), "s-4").name("bridge-4")
	f.begin(bridge, "s-5").name("bridge")
	f.begin(t.TempDir(), "s-2").name("bridge-2") // it goes on elsewhere
}

// Which name a session has after what happens to it.
func TestNamesInALife(t *testing.T) {
	for what, happens := range map[string]func(s *session){
		"cleared":   func(s *session) { s.request.Session, s.request.Source = "s-2", "clear" },
		"shortened": func(s *session) { s.request.Source = "compact" },
	} {
		s := newFleet(t).begin(folder(t, "bridge"), "s-1")
		happens(s)
		s.tell(control.SessionStarted)
		if s.name("bridge"); t.Failed() {
			t.Fatal(what)
		}
	}
	f := newFleet(t)
	bridge := folder(t, "bridge")
	s := f.begin(bridge, "s-1")
	f.begin(bridge, "s-1").name("bridge-2") // the same id in a second process
	s.request.Session, s.request.Source = "s-2", "fork"
	s.tell(control.SessionStarted)
	s.name("bridge-3")
	if f.book.Roster.Serves("bridge") {
		t.Error("the session that was forked is still there")
	}
	s.request.Session, s.request.Source = "s-1", "resume"
	s.tell(control.SessionStarted)
	s.name("bridge")
	if f.book.Roster.Serves("bridge-3") {
		t.Error("the session that its process has left is still there")
	}
}

// The agent that was added for a program and folder is the session's name.
func TestNameOfAnAddedAgent(t *testing.T) {
	f := newFleet(t)
	bridge := folder(t, "bridge")
	f.book.Roster.Put(configs.Agent{Name: "mawjs", Door: configs.DoorInbox, Dir: bridge, Session: "claude"})
	s := f.begin(bridge, "s-1")
	s.name("mawjs")
	f.begin(bridge, "s-2").name("bridge")
	if _, err := f.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: "neo"}); err == nil {
		t.Error("an agent that the operator added can be renamed")
	}
}

// A session that is renamed goes on as the same session. No name that anybody has or had can be
// taken. It prevents: two seats of one name, of which each is given the other's mail.
func TestRename(t *testing.T) {
	f := newFleet(t)
	old := f.begin(folder(t, "old"), "s-0")
	old.tell(control.SessionEnded)
	s := f.begin(folder(t, "bridge"), "s-1")
	rename := func(to string) error {
		_, err := f.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: to})
		return err
	}
	for _, taken := range []string{"old", "bridge", "hub", "zoe", "nat", "who", "all", "no name"} {
		if err := rename(taken); err == nil {
			t.Errorf("it may be called %q", taken)
		}
	}
	f.mail("bridge", "For bridge.", nil)
	f.look(true)
	before := s.by()
	if err := rename("neo"); err != nil {
		t.Fatal(err)
	}
	r := s.request
	r.Event = control.SessionUsedTool
	if a, err := f.book.Tell(t.Context(), before, r); err != nil || a.Agent != "neo" {
		t.Errorf("a hook that called before is that of %q: %v", a.Agent, err)
	}
	s.name("neo")
	f.mail("neo", "For neo.", nil)
	if a := s.tell(control.SessionPrompted); a.Agent != "neo" || !strings.Contains(a.Text, "For neo.") || strings.Contains(a.Text, "For bridge.") {
		t.Errorf("%s is told %q", a.Agent, a.Text)
	}
	if f.unread("bridge") != 1 || !f.book.Roster.Serves("bridge") {
		t.Error("the name that the fleet knew is gone, or its mail")
	}
	if err := rename("bridge"); err == nil {
		t.Error("the name that has mail of its own is taken by somebody")
	}
	s.tell(control.SessionEnded)
	if _, err := f.book.Rename(t.Context(), control.Caller{}, control.NameSessionRequest{As: "neo", Name: "trinity"}); err != nil {
		t.Fatal(err)
	}
	if state, _ := f.book.Sessions.At("trinity", time.Time{}); state != control.AgentAway {
		t.Errorf("nobody is there, and it is %s", state)
	}
}

// What a model was handed under the old name is read under that name when the turn goes on, also after
// the node has started again, or else waits there. It prevents: mail that the model has seen is handed
// to the next who is called so, or is lost.
func TestRenamedInATurn(t *testing.T) {
	for _, goesOn := range []bool{true, false} {
		f := newFleet(t)
		bridge := folder(t, "bridge")
		s := f.begin(bridge, "s-1")
		f.mail("bridge", "For bridge.", nil)
		s.tell(control.SessionPrompted)
		if _, err := f.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: "neo"}); err != nil {
			t.Fatal(err)
		}
		other := f.begin(bridge, "s-2")
		if other.name("bridge"); strings.Contains(other.tell(control.SessionPrompted).Text, "For bridge.") {
			t.Error("another session is handed it too")
		}
		f.book.Start()()
		f.open(f.book.File)
		if a := other.tell(control.SessionUsedTool); a.Text != "" || f.unread("bridge") != 1 {
			t.Errorf("after a start another session is handed %q", a.Text)
		}
		if goesOn {
			s.tell(control.SessionUsedTool)
			if f.unread("bridge") != 0 {
				t.Error("what its model has seen is not read")
			}
			continue
		}
		s.tell(control.SessionEnded)
		if a := other.tell(control.SessionUsedTool); !strings.Contains(a.Text, "For bridge.") || !strings.Contains(a.Text, again) {
			t.Errorf("told %q", a.Text)
		}
	}
}

// A node that starts again knows the sessions that still run, and frees the names of the others: of
// those that have ended, and of those that an earlier start of the machine had.
func TestRestart(t *testing.T) {
	f := newFleet(t)
	runs, ends, reboots := f.begin(folder(t, "runs"), "s-1"), f.begin(folder(t, "ends"), "s-2"), f.begin(folder(t, "reboots"), "s-3")
	for _, s := range []*session{runs, ends, reboots} {
		f.mail(s.by().Name.String(), "hello", nil)
		s.tell(control.SessionPrompted)
	}
	f.book.Start()() // a node that stops
	file := f.book.File
	var seats []*seat
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &seats)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range seats {
		if s.Name == "reboots" {
			s.Holder.Boot = "another start of the machine"
		}
	}
	if data, err = json.Marshal(seats); err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ends.end()
	f.open(file)
	runs.name("runs")
	ends.name("")
	reboots.name("")
	if !f.book.Roster.Serves("runs") || f.book.Roster.Serves("ends") || f.book.Roster.Serves("reboots") {
		t.Errorf("served are %v", f.book.Roster.Names())
	}
	if a := runs.tell(control.SessionUsedTool); a.Text != "" || f.unread("runs") != 0 {
		t.Errorf("what the hook has printed before a stop is handed over again: %q", a.Text)
	}
	f.mail("runs", "again", nil)
	f.look(true)
	f.rung("without a hook", 1)
	reboots.tell(control.SessionStarted)
	reboots.name("reboots")
	if a := reboots.tell(control.SessionPrompted); !strings.Contains(a.Text, again) {
		t.Errorf("told %q", a.Text)
	}
}

// All that can happen at once happens at once. It is for the race detector.
func TestAllAtOnce(t *testing.T) {
	f := newFleet(t)
	bridge := folder(t, "bridge")
	one, two := f.begin(bridge, "s-1"), f.begin(bridge, "s-2")
	stop := f.book.Start()
	var all sync.WaitGroup
	for n, s := range []*session{one, two} {
		for _, do := range []func(int){
			func(int) { s.tell(control.SessionPrompted) },
			func(int) { s.tell(control.SessionUsedTool) },
			func(int) { s.tell(control.SessionStopped) },
			func(int) { f.mail("bridge", "hello", nil); f.wait(time.Minute); f.book.Look() },
			func(i int) {
				_, err := f.book.Rename(t.Context(), s.by(), control.NameSessionRequest{Name: string(rune('a'+n)) + string(rune('a'+i))})
				if err != nil {
					t.Error(err)
				}
			},
			func(int) {
				if _, err := f.book.List(t.Context(), control.Caller{Kind: control.Operator}); err != nil {
					t.Error(err)
				}
				f.book.Carries(process.ID{PID: os.Getpid()})
				f.book.Lived(1, 0)
			},
		} {
			all.Go(func() {
				for i := range 20 {
					do(i)
				}
			})
		}
	}
	all.Wait()
	stop()
	names := map[protocol.Name]bool{}
	for _, s := range f.book.seats {
		if names[s.Name] {
			t.Errorf("two seats are called %s", s.Name)
		}
		names[s.Name] = true
	}
	if one.by().Name == two.by().Name || one.by().Name == "" {
		t.Errorf("they are %q and %q", one.by().Name, two.by().Name)
	}
}

// The id of a session that is open somewhere else goes with whoever takes it up besides. It prevents: a
// command plants the id of another session in its own, which later goes on under its name, with its mail.
func TestPlantedID(t *testing.T) {
	f := newFleet(t)
	one, two := folder(t, "one"), folder(t, "two")
	thief, honest := f.begin(one, "s-1"), f.begin(two, "s-2")
	for _, id := range []string{"s-2", "s-1", "s-2"} {
		thief.request.Session = id
		thief.tell(control.SessionUsedTool)
	}
	honest.request.Ring.Socket = "/elsewhere"
	honest.tell(control.SessionUsedTool)
	honest.name("two")
	thief.end()
	honest.end()
	f.look(true)
	f.mail("one", "for one", nil)
	again := f.begin(two, "s-2")
	again.name("two")
	if a := again.tell(control.SessionPrompted); a.Text != "" {
		t.Errorf("it is told %q", a.Text)
	}
}

// A process has names for so many sessions at most. It prevents: a program that makes up ids fills the
// memory and the file of sessions.
func TestMostThreads(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "many"), "s-0")
	s.request.Program = "codex"
	var err error
	for n := range mostThreads + 2 {
		r := s.request
		r.Event, r.Session = control.SessionStarted, fmt.Sprintf("t-%d", n)
		_, err = f.book.Tell(t.Context(), s.by(), r)
	}
	if control.AsError(err).Kind != control.KindRefused || len(f.book.held()) > mostThreads+1 {
		t.Errorf("%d names, %v", len(f.book.held()), err)
	}
}
