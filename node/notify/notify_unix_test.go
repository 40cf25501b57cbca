//go:build unix

package notify

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// human is a human who is notified, by commands that write a line into a pipe: the kind and the
// text.
type human struct {
	*testing.T
	dir  string
	pipe *bufio.Reader
	mu   sync.Mutex // guards now
	now  time.Time
}

func newHuman(t *testing.T) *human {
	h := &human{T: t, dir: t.TempDir(), now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.Local)}
	path := filepath.Join(h.dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	h.pipe = bufio.NewReader(f)
	return h
}

func (h *human) options(commands ...configs.Notification) Options {
	return Options{Commands: commands, File: filepath.Join(h.dir, "notified.json"), Wrong: func(_, text string) {
		if text != "" {
			h.Error(text)
		}
	}, Now: func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.now
	}}
}

func (h *human) command(of ...string) configs.Notification {
	return configs.Notification{Command: `sh -c 'cat >/dev/null; echo "$PARLEY_NOTIFY_KIND: $PARLEY_NOTIFY_SUBJECT" > ` + filepath.Join(h.dir, "pipe") + `'`, For: of}
}

// hears waits for a line.
func (h *human) hears(want string) {
	h.Helper()
	line, err := h.pipe.ReadString('\n')
	if got := strings.TrimSuffix(line, "\n"); err != nil || got != want {
		h.Fatalf("told %q, not %q (%v)", got, want, err)
	}
}

// It prevents: a human is told twice of the same, or after a restart of all that was before.
func TestEachIsToldOnce(t *testing.T) {
	h := newHuman(t)
	n := New(h.options(h.command("gate", "failure")))
	stop := n.Start()
	gate := Matter{Kind: "gate", ID: "g1", Text: "one \x1b[31mgate", More: "all of it"}
	n.Tell(gate)
	h.hears("gate: one ␛[31mgate")
	n.Tell(gate)
	n.Tell(Matter{Kind: "mention", ID: "m1", Text: "not for this command"})
	n.Tell(Matter{Kind: "failure", ID: "f1", Text: "it failed"})
	h.hears("failure: it failed")
	stop()
	n = New(h.options(h.command()))
	stop = n.Start()
	defer stop()
	n.Tell(gate)
	n.Tell(Matter{Kind: "gate", ID: "g2", Text: "another"})
	h.hears("gate: another")
}

// The matters that come in quiet hours are told together when these hours end. A flood is told as
// one.
func TestQuietHoursAndFloods(t *testing.T) {
	h := newHuman(t)
	quiet := h.command()
	quiet.Quiet = configs.QuietHours{{From: 11 * 60, To: 13 * 60}}
	n := New(h.options(quiet))
	for i := range 20 {
		n.Tell(Matter{Kind: "mention", ID: fmt.Sprint("m", i), Text: fmt.Sprint("mail ", i)})
	}
	n.Start()()
	h.mu.Lock()
	h.now = h.now.Add(2 * time.Hour)
	h.mu.Unlock()
	defer n.Start()()
	h.hears("several: 20 things on parley")
}

// Quiet hours that outlast a restart: what came in them was told never, neither by the command that
// waited for their end nor by one that the operator has changed since. What a command told before
// is not told by it again.
func TestQuietHoursOutlastARestart(t *testing.T) {
	h := newHuman(t)
	quiet, loud := h.command("mention"), h.command("mention")
	quiet.Quiet = configs.QuietHours{{From: 11 * 60, To: 13 * 60}}
	loud.Command = strings.Replace(loud.Command, "KIND:", "KIND, loud:", 1)
	ended := make(chan bool, 10)
	begin := func(commands ...configs.Notification) (*Notifier, func()) {
		o := h.options(commands...)
		o.Wrong = func(about, text string) {
			if strings.HasPrefix(about, "notification ") {
				ended <- text == ""
			}
		}
		n := New(o)
		return n, n.Start()
	}
	hears := func(want string) {
		t.Helper()
		h.hears(want)
		if !<-ended {
			t.Errorf("%q: the command failed", want)
		}
	}
	n, stop := begin(quiet, loud)
	n.Tell(Matter{Kind: "mention", ID: "m1", Text: "came in the night", More: "all of it"})
	hears("mention, loud: came in the night")
	stop()
	_, stop = begin(quiet, loud) // one more restart in these hours
	stop()
	changed := h.command("mention")
	changed.Command = strings.Replace(changed.Command, "KIND:", "KIND, changed:", 1)
	_, stop = begin(changed)
	hears("mention, changed: came in the night")
	stop()
	n, stop = begin(loud, changed)
	defer stop()
	n.Tell(Matter{Kind: "mention", ID: "m1", Text: "again"})
	n.Tell(Matter{Kind: "mention", ID: "m2", Text: "last"})
	hears("mention, loud: last")
	hears("mention, changed: last")
}

// It prevents: a command that is not there, or that fails, fails in silence.
func TestACommandThatFailsIsNamed(t *testing.T) {
	n := New(Options{File: filepath.Join(t.TempDir(), "notified.json")})
	for command, want := range map[string]string{
		"/no/such/program": "not-started", "sh -c 'echo no screen >&2; exit 3'": "exit-status", "sh -c 'unfinished": "quote",
	} {
		if got := n.Try(t.Context(), configs.Notification{Command: command}, []Matter{{Text: "x"}}); !strings.Contains(got, want) {
			t.Errorf("%s: %q", command, got)
		}
	}
	if got := n.Try(t.Context(), configs.Notification{Command: "true"}, []Matter{{Text: "x"}}); got != "" {
		t.Errorf("true: %q", got)
	}
}

// A gate that still waits is told once more, half an hour after it was told, by each command by
// itself, also by a node that was restarted meanwhile; what is answered, and all else, is not. It
// prevents: a gate that was overlooked once waits for days.
func TestAGateRingsTwice(t *testing.T) {
	h := newHuman(t)
	asked, answered := map[string]int{}, map[string]bool{"g2": true}
	o := h.options(h.command())
	o.Waits = func(gate string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		asked[gate]++
		return !answered[gate] || asked[gate] == 1
	}
	later := func(d time.Duration) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.now = h.now.Add(d)
	}
	n := New(o)
	stop := n.Start()
	n.Tell(Matter{Kind: "gate", ID: "g1", Text: "parley: asked by nat"})
	h.hears("gate: parley: asked by nat")
	n.Tell(Matter{Kind: "gate", ID: "g2", Text: "parley: asked by eve"})
	h.hears("gate: parley: asked by eve")
	n.Tell(Matter{Kind: "mention", ID: "m1", Text: "parley: mail"})
	h.hears("mention: parley: mail")
	stop()
	later(29 * time.Minute)
	n = New(o)
	stop = n.Start()
	n.Tell(Matter{Kind: "mention", ID: "m2", Text: "not due yet"})
	h.hears("mention: not due yet")
	stop()
	later(time.Minute)
	n = New(o)
	stop = n.Start()
	h.hears("gate: parley: still waits: asked by nat")
	stop()
	later(24 * time.Hour)
	n = New(o)
	defer n.Start()()
	n.Tell(Matter{Kind: "mention", ID: "m3", Text: "the last"})
	h.hears("mention: the last")
}

// What is set while the node runs counts at once. What a command that is gone was to tell is dropped.
func TestACommandIsAddedAndRemoved(t *testing.T) {
	h := newHuman(t)
	config := filepath.Join(h.dir, "config.yaml")
	if err := os.WriteFile(config, []byte("fleet: demo\nhuman: nat\nnotify:\n  - command: false\n    quiet: 00:00-24:00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, changed := h.options(), 0
	o.Config, o.Changed = config, func() { changed++ }
	n := New(o)
	defer n.Start()()
	n.Tell(Matter{Kind: "gate", ID: "g1", Text: "before anybody could tell it"})
	if _, err := n.Change(t.Context(), control.ChangeNotificationsRequest{Add: "bell", Quiet: []string{"00:00-24:00"}}); err != nil || len(n.Used()) != 2 {
		t.Fatal(n.Used(), err)
	}
	n.Tell(Matter{Kind: "gate", ID: "g2", Text: "in quiet hours"})
	for _, which := range []string{"1", "bell"} {
		if _, err := n.Change(t.Context(), control.ChangeNotificationsRequest{Remove: which}); err != nil {
			t.Fatal(err)
		}
	}
	if !n.Idle() || len(n.waiting) != 0 || changed != 3 {
		t.Errorf("%v is used, %v waits, after %d changes", n.Used(), n.waiting, changed)
	}
	n.use([]configs.Notification{h.command()})
	n.Tell(Matter{Kind: "gate", ID: "g1", Text: "now it can be told"})
	h.hears("gate: now it can be told")
}
