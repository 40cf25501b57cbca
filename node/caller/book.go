package caller

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/protocol"
)

// outlives is how long the token of a run counts after the end of the run. It is also how long a
// message that an agent was given is taken for the cause of what the agent writes.
const outlives = time.Hour

// Options describe the node of a Book.
type Options struct {
	// Key is the secret of the tokens.
	Key   []byte
	Human protocol.Name
	// Serves says whether the node serves an agent, and since when.
	Serves func(protocol.Name) (since time.Time, served bool)
	Now    func() time.Time // nil: time.Now
	// Seats are the sessions of agent programs on this host; nil: there are none.
	Seats Seats
	// Program names the agent program that a process is, by its executable and arguments;
	// nil: no process is one.
	Program func(executable string, argv []string) (name string, ok bool)
}

// Seats are the sessions of agent programs, as far as they tell who calls (R67).
type Seats interface {
	// At is the agent as which a process `p` is seated to what runs beneath it through its child
	// `beneath`; a zero one is nobody. A process that holds several sessions only proves its program:
	// then it is the session for which it has started the child as a command, or the session
	// `thread`, which the child names, if it is told that by that process. Else there is no name.
	At(p, beneath process.ID, thread string) (agent protocol.Name, seated bool)
	// Carries is the agent of the session whose variables a process has; "" for none.
	Carries(process.ID) protocol.Name
	// Lived reports whether a session lived when a process began of which that is the start. It may
	// have ended since. If the process has a terminal (process.Terminal), only sessions there count.
	Lived(start uint64, terminal int) bool
	// Version is another number whenever a session was registered or has ended.
	Version() uint64
}

// Book knows the runs of a node's agents: those under way and those that ended within the last
// hour. Its methods may be called concurrently.
type Book struct {
	// RunPrefix begins the ids of all runs of this home, even of its earlier nodes, and of no other
	// home's runs.
	RunPrefix string

	o     Options
	began time.Time
	self  process.ID
	above map[process.ID]bool // the ancestors of this process: what they start is no run of its agents

	mu    sync.Mutex // guards what follows
	runs  map[string]*Run
	given map[protocol.Name]gift
	// loose is the start of the earliest run of which something may still live that nobody can
	// find; 0 if there is none.
	loose uint64
}

// gift is a message that an agent was given.
type gift struct {
	path protocol.Path
	at   time.Time
}

// New makes the Book of this process's node.
func New(o Options) *Book {
	if o.Now == nil {
		o.Now = time.Now
	}
	prefix := sha256.Sum256([]byte("parley-runs-v1\x00" + string(o.Key)))
	b := &Book{o: o, RunPrefix: hex.EncodeToString(prefix[:4]) + "-", began: o.Now(), above: map[process.ID]bool{}, runs: map[string]*Run{}, given: map[protocol.Name]gift{}}
	if chain, err := process.Ancestry(os.Getpid()); err == nil {
		b.self = chain[0]
		for _, p := range chain[1:] {
			b.above[p] = true
		}
	}
	return b
}

// Run is one start of an agent's command.
type Run struct {
	ID      string
	Agent   protocol.Name
	Because protocol.Path // the message for which it is; zero for none
	Token   string

	alone bool // the node answers nothing to it
	book  *Book
	over  chan struct{} // closed when it is noted that the run is over
	root  process.ID    // the process beneath which all of the run lives; guarded by the book's mu
	ended time.Time     // zero while it is under way; guarded by the book's mu
}

// Begin notes that a command of an agent is about to be started, which takes at most `within`.
func (b *Book) Begin(agent protocol.Name, because protocol.Path, within time.Duration) *Run {
	now := b.o.Now()
	r := &Run{ID: b.RunPrefix + random.Hex(8), Agent: agent, Because: because, book: b, over: make(chan struct{})}
	r.Token = b.seal(token{Agent: agent, Because: because.String(), Run: r.ID, Issued: now.Unix(), Until: now.Add(within).Unix()})
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, old := range b.runs {
		if !old.ended.IsZero() && now.Sub(old.ended) > outlives {
			delete(b.runs, id)
		}
	}
	b.runs[r.ID] = r
	return r
}

// BeginAlone is Begin for a member of an inquiry, which must know nothing but what it was given.
// Whatever the member asks the node is refused, and it has no token (R53).
func (b *Book) BeginAlone(agent protocol.Name, within time.Duration) *Run {
	r := b.Begin(agent, protocol.Path{}, within)
	r.alone, r.Token = true, ""
	return r
}

// Began notes the process beneath which the run lives.
func (r *Run) Began(pid int) {
	root, err := process.Find(pid)
	if err != nil {
		return // it has ended already
	}
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.root = root
}

// End notes that the run is over. `left` says that some of its processes may still live.
func (r *Run) End(left bool) {
	r.book.mu.Lock()
	defer r.book.mu.Unlock()
	r.ended = r.book.o.Now()
	close(r.over)
	if left {
		r.book.loosen(r.root)
	}
}

// loosen notes a run of which some processes may still live. The caller holds mu.
func (b *Book) loosen(root process.ID) {
	if b.loose == 0 || root.Start < b.loose {
		b.loose = root.Start
	}
}

// Watches reports whether what agent programs start is told apart from what their user types.
func (b *Book) Watches() bool { return b.o.Program != nil }

// Standing is a token for an agent that the node does not start. It counts as long as the agent is
// served.
func (b *Book) Standing(agent protocol.Name) string {
	return b.seal(token{Agent: agent, Issued: b.o.Now().Unix()})
}

// Gave notes the message that an agent was last given, other than by a run.
func (b *Book) Gave(agent protocol.Name, p protocol.Path) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given[agent] = gift{p, b.o.Now()}
}

// lastGiven is why an agent writes if it writes without a run.
func (b *Book) lastGiven(agent protocol.Name) protocol.Path {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.given[agent]
	if b.o.Now().Sub(g.at) > outlives {
		return protocol.Path{}
	}
	return g.path
}
