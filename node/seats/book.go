package seats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Options are what a Book needs of its node.
type Options struct {
	Host, Human, Fleet protocol.Name
	File               string                                         // where the seats are kept
	Words              []string                                       // no seat is called so: they are commands
	Find               func(name string) (agentprogram.Program, bool) // nil: agentprogram.Find
	MaxHops, MaxRuns   int                                            // in one conversation of agents (R13)
	MaxTurns           int                                            // how many turns of one session parley causes within an hour (R13)
	Now                func() time.Time
	Tick               func() uint64 // now, in the unit of process.ID; nil: process.Now
	Log                zerolog.Logger
	Folded             folded.State
	Roster             *agents.Roster
	Sessions           *sessions.Book
	Messages           *feed.Feeds[protocol.Path]
	Load               func(*fleet.Item) (*protocol.Message, error)
	Store              func(ctx context.Context, c fleet.Command, about protocol.Path) ([]protocol.Path, error)
	Gave               func(agent protocol.Name, p protocol.Path) // notes why the agent writes; zero: for no message
	Publish            func(context.Context) error                // tells the fleet whom this host serves
	Announce           func()                                     // tells the other hosts what the agents here are at
	Wrong              func(about, text string)                   // has status warn; "" ends that
	// Notify has the human of the host told something, once for each id.
	Notify func(id, text string)
	// Woken tells that the program of a session took the bell for messages (R69).
	Woken func(agent protocol.Name, paths []protocol.Path)
	// Installed is where an agent program and the folder of its settings were when the operator put
	// parley into it; "" if that was not done.
	Installed func(program string) (path, home string)
}

// Book keeps the seats of a host. Its methods may be called concurrently.
type Book struct {
	Options
	table
	each   writing.OnceEach[protocol.Name] // locks what is done about one seat
	joins  sync.Mutex                      // held while a session takes a seat
	news   chan struct{}                   // holds a token if somebody may have to be rung
	ctx    context.Context                 // ends when the node stops
	cancel context.CancelFunc
	work   sync.WaitGroup // what goes on until then

	monitors monitors
	disks    disks
}

// New reads the seats, and finds again those sessions that still run.
func New(o Options) *Book {
	b := &Book{Options: o, table: table{boot: boot()}, news: make(chan struct{}, 1)}
	if b.Tick == nil {
		b.Tick = process.Now
	}
	if b.Find == nil {
		b.Find = agentprogram.Find
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.read(); err != nil {
		b.Wrong(aboutFile, fmt.Sprintf("%v: a session that goes on may get another name, and what was handed over may be once more", err))
	}
	named := map[protocol.Name]bool{}
	b.seats = slices.DeleteFunc(b.seats, func(s *seat) bool {
		if s == nil {
			return true
		}
		_, err := protocol.ParseName(s.Name.String())
		odd := err != nil || s.Name == o.Human || named[s.Name] || b.displaced(s)
		if named[s.Name] = true; odd {
			b.past = append(b.past, s.Lived...)
		}
		return odd
	})
	for _, s := range b.seats {
		if s.Rung != nil && s.Rung.Tries < 1 {
			s.Rung = nil
		}
		if s.Holder != nil && (s.Holder.PID == 0 || s.Holder.Boot != b.boot || !s.Holder.process().Alive()) {
			b.vacate(s, b.Now())
		}
		if s.Holder != nil {
			b.here = append(b.here, s)
		}
	}
	for _, s := range b.seats {
		if s.Made && (s.Holder != nil || s.Declared) {
			b.seatInRoster(s)
		}
		if s.Holder != nil {
			b.Sessions.Say(s.Name, s.session(), control.AgentIdle)
			claim(b.Sessions, s)
		}
	}
	b.version.Add(1)
	return b
}

// aboutFile is about what status warns if the seats cannot be kept.
const aboutFile = "the file of sessions"

// read reads the seats. Of a damaged file it takes what can be read, and puts the file aside: the
// error says so.
func (b *Book) read() error {
	var data []byte
	info, err := os.Stat(b.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && info.Mode()&os.ModeNamedPipe != 0: // nobody would write into it
		err = errors.New("it is no file")
	case err == nil:
		data, err = os.ReadFile(b.File)
	}
	if err == nil {
		if err = json.Unmarshal(data, &b.seats); err == nil {
			return nil
		}
		b.seats = nil
		in := json.NewDecoder(bytes.NewReader(data))
		_, _ = in.Token() // the bracket before the first seat
		for one := new(seat); in.Decode(&one) == nil; one = new(seat) {
			b.seats = append(b.seats, one)
		}
	}
	aside := b.File + b.Now().UTC().Format(".bad-20060102T150405Z")
	if moved := os.Rename(b.File, aside); moved != nil {
		return fmt.Errorf("%s is damaged and cannot be moved away: %w", b.File, errors.Join(err, moved))
	}
	return fmt.Errorf("the sessions of agent programs were damaged, and are kept as %s: %w", aside, errors.Join(err, b.save()))
}

// forget forgets seats that nobody has: those of which the fleet was never told some time after
// their last session, and of all others the oldest ones that are too many. It is never what mail
// waits for. The caller holds joins and mu, and not the state.
func (b *Book) forget() {
	left := func(s *seat) time.Time {
		if s.Left.IsZero() {
			return s.Added
		}
		return s.Left
	}
	gone := slices.DeleteFunc(slices.Clone(b.seats), func(s *seat) bool { return s.Holder != nil || !s.Made })
	slices.SortStableFunc(gone, func(x, y *seat) int { return left(y).Compare(left(x)) })
	drop := map[*seat]bool{}
	for i, s := range gone {
		if i >= mostGone || !s.Declared && b.Now().Sub(left(s)) > keptFor {
			drop[s] = true
		}
	}
	if len(drop) == 0 {
		return
	}
	b.mu.Unlock() // the state comes first
	b.Folded(func(state *fleet.State) {
		for s := range drop {
			for it := range state.Talk.Inbox(fleet.Who{Name: s.Name.String(), Host: b.Host}, false) {
				if !it.ToAll() {
					delete(drop, s)
					break
				}
			}
		}
	})
	b.mu.Lock()
	b.seats = slices.DeleteFunc(b.seats, func(s *seat) bool {
		if drop[s] {
			b.Roster.Remove(s.Name)
			b.past = append(b.past, s.Lived...)
		}
		return drop[s]
	})
}

// boot names the start of the machine since which numbers of processes count; "" if the system does
// not tell.
func boot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// save writes the seats down. The caller holds mu.
func (b *Book) save() error {
	data, err := json.MarshalIndent(b.seats, "", "  ")
	if err == nil {
		err = durable.WriteFile(b.File, append(data, '\n'), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("cannot write down the sessions: %w", err)
		b.Wrong(aboutFile, err.Error()+": no mail is handed over until that works")
		b.unwritten = true
	} else if b.unwritten {
		b.Wrong(aboutFile, "")
		b.unwritten = false
	}
	return err
}

// change changes a seat and writes that down. What cannot be written is an error, and counts all
// the same until the node ends.
func (b *Book) change(do func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	return b.save()
}

// At implements caller.Seats.
func (b *Book) At(p, beneath process.ID, thread string) (agent protocol.Name, seated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.seatsOf(p)
	if len(all) == 0 {
		return "", false
	}
	program, ok := b.Find(all[0].Program)
	if !ok || !program.Shares() {
		return all[0].Name, true
	}
	id := marked(program, p, beneath)
	if id == "" && thread != "" && (len(all) == 1 || process.Feeds(p, beneath)) {
		id = thread
	}
	for _, s := range all {
		if id == s.id() || id == "" && len(all) == 1 {
			return s.Name, true
		}
	}
	return "", true
}

// marked is the session for which a process that holds several has started a process beneath it as a
// command. That is what the program itself has written into that process's environment; "" if it has
// not, as for hooks and servers of tools.
func marked(program agentprogram.Program, p, beneath process.ID) string {
	if program.Variable() == "" || beneath.PID == 0 {
		return ""
	}
	id, _ := process.Environment(beneath.PID, program.Variable())
	if own, _ := process.Environment(p.PID, program.Variable()); id == own { // it was started within another session
		return ""
	}
	return id
}

// Carries implements caller.Seats.
func (b *Book) Carries(of process.ID) protocol.Name {
	b.mu.Lock()
	defer b.mu.Unlock()
	carried := map[string]string{}
	for _, s := range b.here {
		program, ok := b.Find(s.Program)
		if s.id() == "" || !ok || program.Variable() == "" {
			continue
		}
		id, read := carried[program.Variable()]
		if !read {
			id, _ = process.Environment(of.PID, program.Variable())
			carried[program.Variable()] = id
		}
		if id == s.id() {
			return s.Name
		}
	}
	return ""
}

// seatInRoster has the agent of a seat served.
func (b *Book) seatInRoster(s *seat) {
	b.Roster.PutSession(configs.Agent{Name: s.Name, Door: configs.DoorInbox, Dir: s.Folder, Session: s.Program, Added: s.Added}, s.Declared)
}

// displaced reports whether the operator has removed the agent of a seat, or has added one that is
// called as nobody was who sat there.
func (b *Book) displaced(s *seat) bool {
	if s.Made {
		return b.Roster.Added(s.Name.String()) == nil
	}
	return !b.Roster.Serves(s.Name.String())
}

// leave notes that the session of a seat has ended.
func (b *Book) leave(s *seat) error {
	b.nothingWaits(s.Name)
	b.mu.Lock()
	if s.Holder == nil {
		b.mu.Unlock()
		return nil
	}
	b.vacates(s)
	err := b.save()
	b.mu.Unlock()
	b.Announce()
	return err
}

// vacates takes a seat from its session, of which nobody is there any more. The caller holds mu.
func (b *Book) vacates(s *seat) {
	b.Sessions.Say(s.Name, s.session(), control.AgentAway)
	for _, h := range s.Handed {
		b.Sessions.GiveBack(s.mailbox(h), []protocol.Path{h.Path})
	}
	b.vacate(s, b.Now())
	b.version.Add(1)
	if s.Made && !s.Declared {
		b.Roster.Remove(s.Name)
	}
}
