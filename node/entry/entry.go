// Package entry is the front door of the bus. It lets in what comes by it, counts what it refuses, and
// holds messages that wait for their key.
package entry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// entryPortion is how many messages that have queued up on the bus are taken in together. They are
// enough to share an fsync, and so few that nobody waits long for the state.
const entryPortion = 512

// Entry is where messages of other hosts come in from the bus. It lets in what a host itself has
// signed and published on the right subject. A message whose key is not known here is held until
// the record brings the key. Anything else is refused and counted.
type Entry struct {
	Options
	keys chan struct{} // holds a token if keys may be known now that were not known before
}

// Options are what an Entry works with. All are required.
type Options struct {
	Fleet    protocol.Name
	Limit    int // longest message, in bytes
	Folded   folded.State
	Examine  func(protocol.Path, []byte) fleet.Examined
	Held     *Held
	Refusals *Refusals
	Seen     func(protocol.Path) // called with every message, whatever becomes of it
	Ring     func()              // has the remote looked at
	// Receive takes in messages that are let in, and returns how many were new on this host.
	Receive func([]gitsync.MessageFile, []fleet.Examined) int
	Judged  func() // called when messages count that did not count when they came
}

// New makes an Entry.
func New(o Options) *Entry { return &Entry{Options: o, keys: make(chan struct{}, 1)} }

// LetIn takes what came by the bus.
func (e *Entry) LetIn(batch []bus.Incoming) {
	for portion := range slices.Chunk(batch, entryPortion) {
		e.letIn(portion)
	}
}

// letIn lets in one portion, and returns how many of its messages are new on this host.
func (e *Entry) letIn(batch []bus.Incoming) (count int) {
	var known []bus.Incoming
	var examined []fleet.Examined
	for i, j := range e.judgeAll(batch) {
		in := batch[i]
		e.Seen(in.Path)
		switch {
		case j.err != nil:
			e.Refusals.Add(in.Sender, in.Path, j.err)
		case !e.hasKey(j.message.Host, j.message.Key):
			e.Held.Put(in, j.message.Key)
			e.Ring() // its join or rotation may be on the remote
		default:
			known, examined = append(known, in), append(examined, j.examined)
		}
	}
	return e.admit(known, examined)
}

type judged struct {
	message  *protocol.Message
	examined fleet.Examined
	err      error
}

// judgedAlone is how many messages one processor judges before a second one is worth using.
const judgedAlone = 8

// judgeAll judges messages. If there are many, it uses all processors: for many messages that came
// together, checking their signatures takes longer than storing and folding them.
func (e *Entry) judgeAll(batch []bus.Incoming) []judged {
	all := make([]judged, len(batch))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(batch); i = int(next.Add(1)) - 1 {
			all[i].message, all[i].examined, all[i].err = e.judge(batch[i])
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(batch)/judgedAlone) {
		others.Go(work)
	}
	work()
	others.Wait()
	return all
}

// LetInResent lets in messages of one host's chain that another host has sent again, and returns
// how many are new here. It refuses a message of another host, and one that would be refused if it
// had come in the usual way.
func (e *Entry) LetInResent(by, of protocol.Name, messages []protocol.Resent) int {
	subjects := protocol.Subjects{Fleet: e.Fleet}
	var in []bus.Incoming
	for _, r := range messages {
		m, err := protocol.Decode(r.Path, r.Data)
		if err == nil && m.Host != of {
			err = fmt.Errorf("%s sent it again as one of %s", by, of)
		}
		if err != nil {
			e.Refusals.Add(by, r.Path, err)
			continue
		}
		in = append(in, bus.Incoming{Sender: of, Subject: subjects.Message(m), Path: r.Path, Data: r.Data})
	}
	return e.letIn(in) // all at once: of a revoked key, the last messages say which of those before them count
}

// admit takes in messages of known keys, except those that are refused because the key is revoked
// or its time was over. It returns how many are new here.
func (e *Entry) admit(known []bus.Incoming, examined []fleet.Examined) (count int) {
	if len(known) == 0 {
		return 0
	}
	var refused []error
	e.Folded(func(s *fleet.State) { refused = s.Admits(examined) })
	var messages []gitsync.MessageFile
	var admitted []fleet.Examined
	for i, in := range known {
		if refused[i] != nil {
			e.Refusals.Add(in.Sender, in.Path, refused[i])
			continue
		}
		messages = append(messages, gitsync.MessageFile{Path: in.Path, Data: in.Data, Peer: true})
		admitted = append(admitted, examined[i])
	}
	if len(messages) == 0 {
		return 0
	}
	return e.Receive(messages, admitted)
}

// judge reads a message that came by the bus. The error says why it is refused: it is too large or
// no message, or nobody has signed it, or its signature does not hold, or it came on another
// subject than its own.
func (e *Entry) judge(in bus.Incoming) (*protocol.Message, fleet.Examined, error) {
	if len(in.Data) > e.Limit {
		return nil, fleet.Examined{}, fmt.Errorf("it has %d bytes; message_limit of this host is %d", len(in.Data), e.Limit)
	}
	ex := e.Examine(in.Path, in.Data)
	m := ex.Signed()
	switch refusal := new(keys.RefusedError); {
	case errors.As(ex.Err(), &refusal):
		return nil, ex, ex.Err()
	case ex.Err() != nil:
		return nil, ex, fmt.Errorf("it is no message: %w", ex.Err())
	case m == nil:
		return nil, ex, errors.New("no host signed it")
	}
	if subject := (protocol.Subjects{Fleet: e.Fleet}).Message(m); subject != in.Subject {
		return nil, ex, fmt.Errorf("it came on the subject %s and belongs to %s", in.Subject, subject)
	}
	return m, ex, nil
}

func (e *Entry) hasKey(host protocol.Name, key string) (has bool) {
	e.Folded(func(s *fleet.State) { has = s.Keys().KnowsKey(host, key) })
	return has
}

// KeysMoved says that a word of a host was taken in: more keys may be known now.
func (e *Entry) KeysMoved() { wait.Nudge(e.keys) }

// RetryAlways tries held messages again whenever the history of keys has changed. It also has mail
// looked at anew that counts by then and did not when it came. It ends with `ctx`.
func (e *Entry) RetryAlways(ctx context.Context) {
	looked := 0 // the version of the keys that was last looked at
	for {
		select {
		case <-e.keys:
			for _, who := range e.Held.Signers() {
				if e.hasKey(who.Host, who.Key) {
					e.LetIn(e.Held.Take(who))
				}
			}
			version := 0
			if e.Folded(func(s *fleet.State) { version = s.Keys().Version() }); version != looked {
				looked = version
				e.Judged()
			}
		case <-ctx.Done():
			return
		}
	}
}
