// Package notify tells the human of a host what happens, by running commands that the human chose.
// It tells, for example, that something waits for their decision, that mail came, or that an agent
// failed. Each matter is told once. The package holds nothing up: a command that hangs is ended,
// and what comes meanwhile is told together.
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
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/door"
)

// Matter is something of which a human is notified.
type Matter struct {
	Kind string `json:"kind"` // one of configs.NotifiedOf
	ID   string `json:"id"`   // names the matter for good, so that it is told once
	Text string `json:"text"` // one line, with nothing that a terminal obeys
	More string `json:"more"` // text below it; may have several lines
}

// kept is a matter that waits, as the next start finds it. Its commands may be others by then.
type kept struct {
	Matter
	Told []string `json:"told"` // the commands that have told it already
}

// Options is what this part needs of its node.
type Options struct {
	Commands []configs.Notification
	Dir      string // a program that is named by a relative path is looked for here; "": where this process works
	File     string // keeps the ids of matters that were told
	Now      func() time.Time
	// Wrong tells that a command does not work; `text` is "" if it works.
	Wrong func(about, text string)
}

// Notifier runs the commands. Its methods may be called concurrently, and never wait for a command.
// Try is an exception: it runs one.
type Notifier struct {
	Options
	wake chan struct{} // holds a token if there is something to tell

	mu      sync.Mutex       // guards what follows
	told    []string         // ids of matters that were told, the oldest first
	known   map[string]bool  // the same ids, and those of matters that wait
	waiting map[int][]Matter // by command
	kept    []byte           // what was written last of those that wait
}

// Bounds of a notifier.
const (
	maxTold    = 4096             // matters that are remembered
	maxWaiting = 1000             // matters that wait for one command
	together   = 3                // if more than these wait, they are told together
	maxText    = 400              // characters of Matter.Text
	timeout    = 30 * time.Second // for one run of a command

	// lastMoment is how long a command may go on when the node stops: what it tells would be told
	// again.
	lastMoment = 500 * time.Millisecond
)

// New makes this part of a node. A file that cannot be read counts as empty. What still waited when
// an earlier node stopped, such as for the end of quiet hours, waits again.
func New(o Options) *Notifier {
	n := &Notifier{Options: o, wake: make(chan struct{}, 1), known: map[string]bool{}, waiting: map[int][]Matter{}}
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
	for i, c := range n.Commands {
		if c.IsFor(m.Kind) && !slices.Contains(told, c.Command) && len(n.waiting[i]) < maxWaiting {
			n.waiting[i] = append(n.waiting[i], m)
		}
	}
}

// Idle reports whether there is no command, so that nobody needs to look for matters.
func (n *Notifier) Idle() bool { return len(n.Commands) == 0 }

// Tell has the human told of a matter, unless they were told before.
func (n *Notifier) Tell(m Matter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Idle() || n.known[m.ID] {
		return
	}
	n.known[m.ID] = true
	m.Text = visible.Line(m.Text)
	if runes := []rune(m.Text); len(runes) > maxText {
		m.Text = string(runes[:maxText-1]) + "…"
	}
	n.queue(m, nil)
	wait.Nudge(n.wake)
}

// Start tells what waits, until `stop` is called, which also ends a command that runs.
func (n *Notifier) Start() (stop func()) { return wait.Background(n.work) }

// clockLook is for how long at most a timer waits for the end of quiet hours before the clock is
// looked at again. The clock can be set, and a timer stands still while the machine sleeps.
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
		for i, c := range n.Commands {
			if now := n.Now().Local(); c.Quiet.Hold(now) {
				if n.waits(i) {
					timer.Reset(min(c.Quiet.Until(now).Sub(now), clockLook))
				}
				continue
			}
			for ctx.Err() == nil {
				batch := n.take(i)
				if len(batch) == 0 {
					break
				}
				if !n.run(ctx, c, batch) { // it was cut short: the batch waits for the next start
					n.mu.Lock()
					n.waiting[i] = append(batch, n.waiting[i]...)
					n.mu.Unlock()
				}
			}
		}
		n.keep()
	}
}

func (n *Notifier) waits(i int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.waiting[i]) > 0
}

// take returns what a command is told next: one matter, or all if there are many.
func (n *Notifier) take(i int) (batch []Matter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	batch = n.waiting[i]
	if len(batch) <= together && len(batch) > 1 {
		batch = batch[:1]
	}
	n.waiting[i] = slices.Clone(n.waiting[i][len(batch):])
	return batch
}

// keep notes which matters were told to all commands that are for them, so that they are not told
// again after a restart, and which ones wait, so that they are.
func (n *Notifier) keep() {
	n.mu.Lock()
	waiting := map[string]bool{}
	rest := []kept{}
	for _, list := range n.waiting {
		for _, m := range list {
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
		return
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
}

// toldBy are the commands that have told a matter for which others wait. The caller holds mu.
func (n *Notifier) toldBy(m Matter) (told []string) {
	for i, c := range n.Commands {
		if c.IsFor(m.Kind) && !slices.ContainsFunc(n.waiting[i], func(w Matter) bool { return w.ID == m.ID }) {
			told = append(told, c.Command)
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
		text = "the notification " + visible.Line(c.Command) + " did not work: " + r
	}
	n.Wrong("notification "+c.Command, text)
	return true
}

// Try runs a command for matters, and returns what went wrong; "" if nothing did.
func (n *Notifier) Try(ctx context.Context, c configs.Notification, batch []Matter) string {
	argv, err := door.SplitCommand(c.Command)
	if err != nil {
		return err.Error()
	}
	if named := filepath.Join(n.Dir, argv[0]); n.Dir != "" && strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = named // the node works elsewhere than where it was started
	}
	subject, kind := batch[0].Text, batch[0].Kind
	if len(batch) > 1 {
		subject, kind = fmt.Sprintf("%d things on parley", len(batch)), "several"
	}
	var body bytes.Buffer
	for _, m := range batch {
		fmt.Fprintf(&body, "%s\n", m.Text)
		if m.More != "" && len(batch) == 1 {
			fmt.Fprintf(&body, "\n%s\n", visible.Text(m.More))
		}
	}
	r := door.Run(ctx, door.Command{
		Argv: argv, Stdin: body.Bytes(), Timeout: timeout, MaxOutput: 4 << 10,
		Env: []string{"PARLEY_NOTIFY_KIND=" + kind, "PARLEY_NOTIFY_SUBJECT=" + strings.ReplaceAll(subject, "\x00", "")},
	})
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
