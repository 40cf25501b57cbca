package seats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A node starts whatever its file of seats is, keeps what it cannot read, and says so. What it can read
// of the file counts. It prevents: one bad byte stops a host, or takes the names of all sessions.
func TestDamagedFile(t *testing.T) {
	for what, c := range map[string]struct {
		damage func(file string, data []byte) error
		name   string // of the session that runs
	}{
		"cut":      {func(file string, data []byte) error { return os.WriteFile(file, data[:len(data)-10], 0o600) }, "one"},
		"empty":    {func(file string, _ []byte) error { return os.WriteFile(file, nil, 0o600) }, ""},
		"no seats": {func(file string, _ []byte) error { return os.WriteFile(file, []byte(`{"seats": 1}`), 0o600) }, ""},
		"a folder": {func(file string, _ []byte) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(file, "within"), 0o700)
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFleet(t)
			one, two := f.begin(folder(t, "one"), "s-1"), f.begin(folder(t, "two"), "s-2")
			f.mail("one", "For one.", nil)
			two.tell(control.SessionEnded)
			file := f.book.File
			data, err := os.ReadFile(file)
			if err == nil {
				err = c.damage(file, data)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.open(file)
			one.name(c.name)
			if kept, err := filepath.Glob(file + ".bad-*"); err != nil || len(kept) != 1 || !strings.Contains(f.warned[aboutFile], kept[0]) {
				t.Errorf("kept are %q, %v; status says %q", kept, err, f.warned[aboutFile])
			}
			f.open(file)
			if one.name(c.name); f.unread("one") != 1 {
				t.Error("its mail is lost")
			}
			one.tell(control.SessionStarted)
			if agent := one.by().Name; c.name != "" && !strings.Contains(one.tell(control.SessionPrompted).Text, "For one.") || agent == "" {
				t.Errorf("%q is not told of its mail", agent)
			}
		})
	}
}

// Where the seats cannot be written down no mail is handed over, because nobody would know of it, and
// status says so until it works.
func TestFileThatCannotBeWritten(t *testing.T) {
	f := newFleet(t)
	s := f.begin(folder(t, "one"), "s-1")
	f.mail("one", "For one.", nil)
	file := f.book.File
	f.book.File = filepath.Join(file, "within a file")
	r := s.request
	r.Event = control.SessionPrompted
	if a, err := f.book.Tell(t.Context(), s.by(), r); err == nil || a.Text != "" || f.warned[aboutFile] == "" {
		t.Errorf("told %q, %v; status says %q", a.Text, err, f.warned[aboutFile])
	}
	f.book.File = file
	if a := s.tell(control.SessionUsedTool); !strings.Contains(a.Text, "For one.") || f.warned[aboutFile] != "" {
		t.Errorf("told %q; status says %q", a.Text, f.warned[aboutFile])
	}
}

// A name of which the fleet was never told is free two weeks after its last session, and of all that
// nobody has the latest thousand stay. What mail waits for stays beside. It prevents: a host that
// gets slower with each session that there ever was.
func TestForgotten(t *testing.T) {
	f := newFleet(t)
	unsaid, said := f.begin(folder(t, "unsaid"), "s-1"), f.begin(folder(t, "said"), "s-2")
	f.mail("said", "hello", nil)
	f.look(true)
	unsaid.tell(control.SessionEnded)
	said.tell(control.SessionEnded)
	known := func(when string, want map[protocol.Name]bool) {
		t.Helper()
		for name, want := range want {
			f.book.mu.Lock()
			s := f.book.find(name)
			f.book.mu.Unlock()
			if (s != nil) != want {
				t.Errorf("%s: %s is known: %v", when, name, s != nil)
			}
		}
	}
	f.wait(keptFor)
	f.begin(folder(t, "later"), "s-3").tell(control.SessionEnded)
	known("in time", map[protocol.Name]bool{"unsaid": true, "said": true})
	f.wait(time.Minute)
	f.book.Start()()
	known("after that", map[protocol.Name]bool{"unsaid": false, "said": true, "later": true})
	f.begin(folder(t, "unsaid"), "s-4").name("unsaid")

	f.book.mu.Lock()
	for i := range mostGone {
		name := protocol.Name(fmt.Sprintf("n-%d", i))
		f.book.seats = append(f.book.seats, &seat{Name: name, Program: "claude", Made: true, Declared: true, Left: f.clock().Add(time.Second)})
	}
	f.book.mu.Unlock()
	f.book.Start()()
	known("with a thousand others", map[protocol.Name]bool{"said": true, "later": false, "n-0": true, "unsaid": true})
}
