package gitsync

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/protocol"
)

// Errors to ask for with errors.Is.
var (
	// ErrExists says that Init found a record where it was to make one.
	ErrExists = errors.New("a record exists already")
	// ErrNotFound says that a path is neither in the journal nor in main.
	ErrNotFound = errors.New("not in the record")
	// ErrNoRecord says that Open found no record.
	ErrNoRecord = errors.New("there is no record")
	// ErrForeign says that a repository holds something else than the record
	// that was expected: other content, another version, another root.
	ErrForeign = errors.New("not a record of this fleet")
	// ErrUnsure says that Init was cut short, and that the remote may have the record that it began.
	ErrUnsure = errors.New("the remote may have it")
	// ErrRemote says that the shared repository could not be reached or used.
	ErrRemote = carrier.ErrRemote
	// ErrUnfit says that the repository could be reached, and that no record can be shared through
	// a repository of its kind.
	ErrUnfit = carrier.ErrUnfit
	// ErrInUse says that another process has the record open.
	ErrInUse = journal.ErrInUse
	// ErrClosed says that the record was closed.
	ErrClosed = errors.New("the record is closed")
)

// MessageFile is the exact bytes of one message file.
type MessageFile struct {
	Path protocol.Path
	Data []byte
	// Peer marks a message that was heard from another host over the bus. The first courier commits
	// it at once (SetPlace), and so does a node without a remote. Any other node commits it only if
	// the remote still lacks it after Options.Grace, or when Sync or the end of Run commits
	// everything.
	Peer bool
	// Recorded marks a message that Walk or WalkSince found in a commit of main.
	Recorded bool
}

// Author is the author and committer of this node's commits.
type Author struct {
	Name  string // the host's alias
	Email string
}

// Options say where a record is and how it is shared. Dir and Author are required. Every other
// field may have its zero value.
type Options struct {
	// Dir is the node's home; record.git and journal are below it.
	Dir string
	// Remote is the URL or path of the shared repository; "" means none.
	Remote string
	// Dial reaches other hosts. It is needed if Remote is another host (gitremote.Host).
	Dial carrier.Dial
	// Others are the hosts that have the record too. They are asked for what they have while the host
	// that Remote names is away. nil: nobody else is asked.
	Others func() []string
	Author Author

	shared *atomic.Pointer[string] // Remote, or the one that Share has set; copies of Options have it in common

	FetchInterval time.Duration // time between looks at the remote; 0 means 10 s
	PushInterval  time.Duration // least time between two pushes; 0 means 1 s
	Grace         time.Duration // time before messages of peers are committed here; 0 means 30 s

	// Here returns an error once Dir is gone, or another folder is in its place. Then nothing more is
	// written, and nothing is acknowledged. nil: Dir stays.
	Here func() error
	// Patient lets every fetch and push take as long as a large record needs. It is for a call for
	// which somebody waits, and which they can end.
	Patient bool
	// Ask lets Init ask for the remote's password, by the program that the user has named for that.
	Ask bool
	// Builtin fetches and pushes without the git program, even if that is installed.
	Builtin bool

	Log zerolog.Logger
	Now func() time.Time // nil means time.Now
	// Looking is told for how many objects was looked while the record is searched for what the disk
	// has lost, and about how many there are. nil means that nobody is told.
	Looking func(done, total int)
	Events  Events

	// Prefer decides which of two different contents of one path stays there. It must give the same
	// answer on every host, and whatever the order of `a` and `b`. nil means the content with the
	// lower SHA-256.
	Prefer func(p protocol.Path, a, b []byte) (aWins bool)
	// Signed reports whether a message bears a signature that fits its path. Of what does not, one
	// fetch and one day take in so much and no more, unless Admit was called. nil means that nobody
	// looks.
	Signed func(p protocol.Path, data []byte) bool
	// Known reports whether a host of the fleet has signed a message. What they signed is read out of
	// a main that is not taken in, because it brings too much. nil means that nothing is.
	Known func(p protocol.Path, data []byte) bool
	// Describe makes the commit message for messages, which are in the order of the journal. nil
	// means "N messages". It must not call the Record.
	Describe func([]MessageFile) string
	// Adopt says which files are missing in a record that Init is about to adopt. They are added in
	// one commit, which is pushed. It must not name a file that is there already, and it can
	// neither change nor remove anything. nil adds nothing. An error refuses the record.
	Adopt func(main Tree) (add map[string][]byte, err error)
	// Check looks at a record that Init is about to adopt, together with the files that Adopt adds.
	// `read` reads one file of its main. An error refuses the record, and nothing is left behind.
	// An open record asks Check about each main of the remote that is to be taken in, and about its
	// own main before each commit: see UnusableError.
	Check func(read func(path string) ([]byte, bool, error)) error
}

// Events tell what happened. They are called one at a time, by Run or in a call of Sync, Fetch or Told.
// Append never waits for them. Any may be nil. They must not call Run, Sync, Fetch, Told or Close, but
// may call every other method of the Record.
type Events struct {
	// Arrived gets messages that are new in main and were not in this node's journal, in the order
	// of their paths, at most 256 at a time. Messages that have lost their path and are new below
	// data/conflicts are among them. Their objects are durable.
	Arrived func([]MessageFile)
	// Arriving is told true before the messages of one fetch are reported to Arrived, and false
	// after the last of them. For what one message means can depend on another one, such as its
	// receipt.
	Arriving func(more bool)
	// Files gets the paths of other files that others have changed in main: all outside
	// data/channels, and those below it that are no messages.
	Files func(changed []string)
	// Recorded gets messages of the journal that are now in a commit of main.
	Recorded func([]protocol.Path)
	// Pushed gets messages that are now at their paths in a tip of the remote that this node has
	// fetched or pushed.
	Pushed func([]protocol.Path)
	// Moved says that this node has pushed, and that others should look at the remote.
	Moved func()
	// Trouble says that the remote cannot be used, each time that the kind of trouble changes. With
	// KindNone it says that the remote can be used, for the first time or again.
	Trouble func(Trouble)
	// Damaged says why a part of main is no longer on this disk. Until that is over nothing is
	// committed, and messages stay in the journal. "" says that it is over. Lost then says what is
	// still missing.
	Damaged func(why string)
	// Stuck says why messages cannot be stored, or why stored messages cannot be committed. A nil
	// error says that they can be again.
	Stuck func(Step, error)
	// Notice gets what an operator should know, in one sentence: what somebody did to the remote,
	// or that a file has two versions. If it is nil, the sentence goes to the log.
	Notice func(string)
}

// Step is something that is done with every message.
type Step string

// The steps of which Events.Stuck tells.
const (
	Storing    Step = "storing"
	Committing Step = "committing"
)

// Place says how far a message has come on this node.
type Place int

// The places of a message, from the beginning to the end of its way.
const (
	Absent   Place = iota // neither in the journal nor in main
	Stored                // in the journal only
	Recorded              // in a commit of main
	Pushed                // in the known tip of the remote as well
)

// String returns the word that people read.
func (p Place) String() string {
	return [...]string{"absent", "stored", "recorded", "pushed"}[p]
}

// Found is what Init made or adopted.
type Found struct {
	ID      string   // hex of the root commit
	Adopted bool     // the remote held the record already
	Notes   []string // what the operator should know or do, a sentence each
}

// Status is a snapshot of the record.
type Status struct {
	Remote       string          // as configured, without a password
	Tip          string          // commit of main
	RemoteTip    string          // the last known commit of the remote's main, or ""
	Unrecorded   int             // messages that are only in the journal, without those that are withheld
	Withheld     []protocol.Path // see Record.Withhold
	CommitError  string          // why they could not be committed, or ""
	Broken       string          // why a part of main is no longer on this disk, or ""
	StoreError   error           // why nothing new can be stored, or nil
	Unpushed     int             // messages in main that the remote lacks; 1 if it only lacks other files; 0 without a remote
	LastFetch    time.Time
	WaitingSince time.Time // since when the oldest message waits to be recorded or, if it is, to be pushed; zero if none waits
	LastPush     time.Time
	Place        int // the place that SetPlace has set
	Trouble      Trouble
	Packs        int
	JournalBytes int64
	Pushes       int // pushes since Open that the remote took
	Rejected     int // pushes since Open that were rejected because somebody else had pushed before
	Arriving     int // messages that came from elsewhere and are being reported; 0 when all have been
	Arrived      int // how many of them have been reported
}

const (
	defaultFetchInterval = 10 * time.Second
	defaultPushInterval  = time.Second
	defaultGrace         = 30 * time.Second
)

// withDefaults fills in what the operator has not set.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("no directory for the record was given")
	}
	if o.Author.Name == "" {
		return o, errors.New("no author for the record's commits was given")
	}
	remote, err := carrier.Clean(o.Remote)
	if err != nil {
		return o, err
	}
	o.Remote, o.shared = remote, new(atomic.Pointer[string])
	o.shared.Store(&remote)
	o.FetchInterval = cmp.Or(max(o.FetchInterval, 0), defaultFetchInterval)
	o.PushInterval = cmp.Or(max(o.PushInterval, 0), defaultPushInterval)
	o.Grace = cmp.Or(max(o.Grace, 0), defaultGrace)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Here == nil {
		o.Here = func() error { return nil }
	}
	if o.Prefer == nil {
		o.Prefer = lowerHash
	}
	if o.Describe == nil {
		o.Describe = countMessages
	}
	return o, nil
}

// remote is the shared repository at the moment; "" means none.
func (o *Options) remote() string { return *o.shared.Load() }

// isShared reports whether there is a shared repository.
func (o *Options) isShared() bool { return o.remote() != "" }

func lowerHash(_ protocol.Path, a, b []byte) bool {
	ha, hb := sha256.Sum256(a), sha256.Sum256(b)
	return bytes.Compare(ha[:], hb[:]) <= 0
}

func countMessages(messages []MessageFile) string {
	if len(messages) == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", len(messages))
}
