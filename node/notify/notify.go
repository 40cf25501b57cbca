// Package notify tells the human of a host what happens, by commands and in other ways that the human
// chose. It tells, for example, that something waits for their decision, that mail came, or that an
// agent failed. Each matter is told once; a gate that still waits after a while is told once more. The
// package holds nothing up: a command that hangs is ended, and what comes meanwhile is told together.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// Matter is something of which a human is notified.
type Matter struct {
	Kind string `json:"kind"` // one of configs.NotifiedOf
	ID   string `json:"id"`   // names the matter for good, so that it is told once
	Text string `json:"text"` // one line of who and what, with nothing that a terminal obeys
	Word string `json:"word"` // what commands are told behind it in the same line: the first words of others
	More string `json:"more"` // text below it; may have several lines

	Due  time.Time `json:"due,omitzero"`   // when it is told for the second time; zero: it is told for the first time
	Only string    `json:"only,omitempty"` // the command that told it then, and tells it again
}

// kept is a matter that waits, as the next start finds it. Its commands may be others by then.
type kept struct {
	Matter
	Told []string `json:"told"` // the commands that have told it already
}

// Options is what this part needs of its node.
type Options struct {
	Commands []configs.Notification // they change by Change
	Config   string                 // the config.yaml that has them
	Host     protocol.Name          // whose human is told
	Dir      string                 // a program that is named by a relative path is looked for here; "": where this process works
	File     string                 // keeps the ids of matters that were told
	Now      func() time.Time
	Waits    func(gate string) bool // whether nobody has answered a gate, not even to put it off
	Changed  func()                 // is called when there are other commands
	// Wrong tells that a command does not work; `text` is "" if it works.
	Wrong func(about, text string)
}

// Notifier runs the commands. Its methods may be called concurrently, and never wait for a command.
// Try is an exception: it runs one.
type Notifier struct {
	Options
	wake chan struct{} // holds a token if there is something to tell

	changing sync.Mutex // held while the setting is changed

	mu      sync.Mutex          // guards Commands and what follows
	told    []string            // ids of matters that were told, the oldest first
	known   map[string]bool     // the same ids, and those of matters that wait
	waiting map[string][]Matter // by the key of a command
	kept    []byte              // what was written last of those that wait
}

// Bounds of a notifier.
const (
	maxTold    = 4096             // matters that are remembered
	maxWaiting = 1000             // matters that wait for one command
	together   = 3                // if more than these wait, they are told together
	maxText    = 400              // characters of Matter.Text
	timeout    = 30 * time.Second // for one run of a command
	again      = 30 * time.Minute // after this a gate that still waits is told once more

	// lastMoment is how long a command may go on when the node stops: what it tells would be told
	// again.
	lastMoment = 500 * time.Millisecond
)

// New makes this part of a node. A file that cannot be read counts as empty. What still waited when
// an earlier node stopped, such as for the end of quiet hours, waits again.
func New(o Options) *Notifier {
	n := &Notifier{Options: o, wake: make(chan struct{}, 1), known: map[string]bool{}, waiting: map[string][]Matter{}}
	if data, err := os.ReadFile(o.File); err == nil && json.Unmarshal(data, &n.told) == nil {
		for _, id := range n.told {
			n.known[id] = true
		}
	}
	var waited []kept
	if data, err := os.ReadFile(n.waitingFile()); err == nil && json.Unmarshal(data, &waited) == nil {
		n.kept = bytes.TrimSpace(data)
		for _, k := range waited {
			n.known[k.ID] = true
			n.queue(k.Matter, k.Told)
		}
	}
	return n
}

func (n *Notifier) waitingFile() string { return n.File + ".waiting" }

// queue has each command tell a matter that is for it and has not told it. The caller holds mu, or
// nobody else has the notifier.
func (n *Notifier) queue(m Matter, told []string) {
	for _, c := range n.Commands {
		if k := key(c); c.IsFor(m.Kind) && (m.Only == "" || m.Only == c.String()) && !slices.Contains(told, c.String()) && len(n.waiting[k]) < maxWaiting {
			n.waiting[k] = append(n.waiting[k], m)
		}
	}
}

// key tells commands apart, also two that run the same for other matters.
func key(c configs.Notification) string { return fmt.Sprint(c.String(), c.For, c.Quiet) }

// Used returns the commands that are used now.
func (n *Notifier) Used() []configs.Notification {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Commands
}

// Idle reports whether there is no command, so that nobody needs to look for matters.
func (n *Notifier) Idle() bool { return len(n.Used()) == 0 }

// Tell has the human told of a matter, unless they were told before.
func (n *Notifier) Tell(m Matter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.Commands) == 0 || n.known[m.ID] {
		return
	}
	n.known[m.ID] = true
	m.Text, m.Word = cut(redact.Said(visible.Line(m.Text))), redact.Said(visible.Line(m.Word))
	n.queue(m, nil)
	wait.Nudge(n.wake)
}

// Hide takes the words of others out of matters that wait, such as for the end of quiet hours, and
// puts a text in their place. `instead` has the texts by the ids of matters.
func (n *Notifier) Hide(instead map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, waiting := range n.waiting {
		for i := range waiting {
			if text, hidden := instead[waiting[i].ID]; hidden {
				waiting[i].Word, waiting[i].More = "", text
			}
		}
	}
	wait.Nudge(n.wake)
}

func cut(line string) string {
	if runes := []rune(line); len(runes) > maxText {
		return string(runes[:maxText-1]) + "…"
	}
	return line
}

// Start tells what waits, until `stop` is called, which also ends a command that runs.
func (n *Notifier) Start() (stop func()) { return wait.Background(n.work) }

// clockLook is for how long at most a timer waits for the end of quiet hours, or for a matter that is
// due, before the clock is looked at again. The clock can be set, and a timer stands still while the
// machine sleeps.
const clockLook = time.Minute

func (n *Notifier) work(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer n.keep()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-timer.C:
		}
		look := clockLook
		for _, c := range n.Used() {
			if now := n.Now().Local(); c.Quiet.Hold(now) {
				look = min(look, c.Quiet.Until(now).Sub(now))
				continue
			}
			for ctx.Err() == nil {
				batch, some := n.take(key(c))
				if !some {
					break
				}
				batch = slices.DeleteFunc(batch, n.answered)
				if len(batch) > 0 {
					n.settle(c, batch, n.run(ctx, c, batch))
				}
			}
			look = min(look, n.untilNext(key(c)))
		}
		if n.keep() {
			timer.Reset(look)
		}
	}
}

// answered reports whether a matter is a gate that waits no more.
func (n *Notifier) answered(m Matter) bool {
	return m.Kind == configs.NotifyGate && n.Waits != nil && !n.Waits(strings.TrimSuffix(m.ID, secondOf(m.Only)))
}

// secondOf is what follows a gate's id in the id of what a command tells of it for the second time.
func secondOf(command string) string {
	if command == "" {
		return ""
	}
	return " again by " + command
}

// take returns what a command is told next: one matter, or all if there are many. `some` is false if
// nothing is due.
func (n *Notifier) take(k string) (batch []Matter, some bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.Now()
	due := func(m Matter) bool { return !m.Due.After(now) }
	most := len(slices.DeleteFunc(slices.Clone(n.waiting[k]), func(m Matter) bool { return !due(m) }))
	if most <= together {
		most = 1
	}
	n.waiting[k] = slices.DeleteFunc(n.waiting[k], func(m Matter) bool {
		taken := due(m) && len(batch) < most
		if taken {
			batch = append(batch, m)
		}
		return taken
	})
	return batch, len(batch) > 0
}

// settle notes that a command has told a batch. What it told of gates it tells once more. If the end
// of the node cut it short (not `done`), the batch waits for the next start.
func (n *Notifier) settle(c configs.Notification, batch []Matter, done bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := key(c)
	if !done {
		n.waiting[k] = append(batch, n.waiting[k]...)
	}
	used := slices.ContainsFunc(n.Commands, func(now configs.Notification) bool { return key(now) == k })
	for _, m := range batch {
		if done && used && m.Kind == configs.NotifyGate && m.Due.IsZero() {
			m.Due, m.Only = n.Now().Add(again), c.String()
			m.ID += secondOf(m.Only)
			m.Text = cut("parley: still waits: " + strings.TrimPrefix(m.Text, "parley: "))
			n.waiting[k] = append(n.waiting[k], m)
		}
	}
}

// untilNext is how long it takes until the first of those that wait for a command is due.
func (n *Notifier) untilNext(k string) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	until := clockLook
	for _, m := range n.waiting[k] {
		until = min(until, m.Due.Sub(n.Now()))
	}
	return until
}

// keep notes which matters were told to all commands that are for them, so that they are not told
// again after a restart, and which ones wait, so that they are. It reports whether any wait.
func (n *Notifier) keep() (some bool) {
	n.mu.Lock()
	waiting := map[string]bool{}
	rest := []kept{}
	for _, c := range n.Commands {
		for _, m := range n.waiting[key(c)] {
			if !waiting[m.ID] {
				rest = append(rest, kept{m, n.toldBy(m)})
			}
			waiting[m.ID] = true
		}
	}
	slices.SortFunc(rest, func(a, b kept) int { return strings.Compare(a.ID, b.ID) })
	old := map[string]bool{}
	for _, id := range n.told {
		old[id] = true
	}
	changed := false
	for id := range n.known {
		if !waiting[id] && !old[id] {
			n.told, changed = append(n.told, id), true
		}
	}
	if over := len(n.told) - maxTold; over > 0 {
		for _, id := range n.told[:over] {
			delete(n.known, id)
		}
		n.told = slices.Clone(n.told[over:])
	}
	data, err := json.Marshal(n.told)
	later, laterErr := json.Marshal(rest)
	unwritten := !bytes.Equal(later, n.kept) && (len(rest) > 0 || n.kept != nil)
	n.kept = later
	n.mu.Unlock()
	err = errors.Join(err, laterErr)
	if !changed && !unwritten {
		return len(rest) > 0
	}
	if err == nil && unwritten { // first, so that nothing is in neither file
		err = durable.WriteFile(n.waitingFile(), append(later, '\n'), 0o600)
	}
	if err == nil && changed {
		err = durable.WriteFile(n.File, append(data, '\n'), 0o600)
	}
	text := ""
	if err != nil {
		text = "what was notified is not kept, and may be told again: " + err.Error()
	}
	n.Wrong("notifications that were told", text)
	return len(rest) > 0
}

// toldBy are the commands that have told a matter for which others wait. The caller holds mu.
func (n *Notifier) toldBy(m Matter) (told []string) {
	for _, c := range n.Commands {
		if c.IsFor(m.Kind) && !slices.ContainsFunc(n.waiting[key(c)], func(w Matter) bool { return w.ID == m.ID }) {
			told = append(told, c.String())
		}
	}
	return told
}

// run runs a command for one matter, or for several together. It returns false if the end of the
// node cut that short.
func (n *Notifier) run(ctx context.Context, c configs.Notification, batch []Matter) bool {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastMoment, end) })()
	r := n.Try(running, c, batch)
	if ctx.Err() != nil && r != "" {
		return false
	}
	text := ""
	if r != "" {
		text = "the notification " + visible.Line(c.Name()) + " did not work: " + r
	}
	n.Wrong("notification "+c.Name(), text)
	return true
}

// Try runs a command for matters, and returns what went wrong; "" if nothing did.
func (n *Notifier) Try(ctx context.Context, c configs.Notification, batch []Matter) string {
	subject, kind := cut(batch[0].Text+batch[0].Word), batch[0].Kind
	if len(batch) > 1 {
		subject, kind = fmt.Sprintf("%d things on parley", len(batch)), "several"
	}
	if c.Way != "" { // it may leave this machine: who and what, and no word of what somebody wrote
		if len(batch) == 1 {
			subject = batch[0].Text
		}
		return tell(ctx, c.Way, kind, subject)
	}
	argv, err := door.SplitCommand(c.Command)
	if err != nil {
		return err.Error()
	}
	if named := filepath.Join(n.Dir, argv[0]); n.Dir != "" && strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = named // the node works elsewhere than where it was started
	}
	var body bytes.Buffer
	for _, m := range batch {
		fmt.Fprintf(&body, "%s\n", cut(m.Text+m.Word))
		if m.More != "" && len(batch) == 1 {
			fmt.Fprintf(&body, "\n%s\n", visible.Text(m.More))
		}
	}
	return started(ctx, argv, body.Bytes(), "PARLEY_NOTIFY_KIND="+kind, "PARLEY_NOTIFY_SUBJECT="+strings.ReplaceAll(subject, "\x00", ""))
}

// started runs a program, and returns what went wrong; "" if nothing did.
func started(ctx context.Context, argv []string, stdin []byte, env ...string) string {
	r := door.Run(ctx, door.Command{Argv: argv, Stdin: stdin, Timeout: timeout, MaxOutput: 4 << 10, Env: env})
	switch {
	case r.Failure == door.Empty || r.Failure == door.None && r.ExitCode == 0: // it printed nothing
		return ""
	}
	why := fmt.Sprintf("%v", r.Failure)
	for _, more := range []string{r.Detail, r.Stderr} {
		if more != "" {
			why += ": " + visible.Line(more)
		}
	}
	return why
}
