package metrics

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Source is asked when somebody reads the metrics or the health. It may be asked by several at
// once.
type Source interface {
	Look() Snapshot
	Health() Health
}

// Snapshot is how a node fares at a moment. A field that is a count begins at 0 when the node
// starts.
type Snapshot struct {
	Messages int  // of the record that are here, receipts included
	Refused  int  // a count: files and letters that are no messages, or are wrongly signed
	Warnings int  // that status shows now
	Halted   bool // no agent is run, for one of the reasons in Health.Down
	Record   Record
	Commands Commands
	Agents   []Agent // served here
	Hosts    []Host  // the others of the fleet
	Bus      Bus
}

// Record is the state of the record.
type Record struct {
	Unrecorded   int           // messages that are only in the journal
	Unpushed     int           // messages that are committed and that the remote lacks
	Lag          time.Duration // how long the oldest of both has waited; 0: none waits
	StoreFails   bool          // nothing new can be stored
	CommitFails  bool          // what is stored cannot be committed
	HasRemote    bool
	RemoteFails  bool // the last fetch or push failed
	Pushes       int  // a count: pushes that the remote took
	Rejected     int  // a count: pushes that the remote did not take because another host's came before
	LastFetch    time.Time
	LastPush     time.Time // zero, like LastFetch: none since the start
	JournalBytes int64
	Packs        int
}

// Commands are the commands of all agents.
type Commands struct {
	Running int
	Most    int // how many may run at once
	Waiting int // agents with messages for which no more commands may run now
}

// Agent is an agent that is served here.
type Agent struct {
	Name    protocol.Name
	Queued  int           // messages that wait for it
	Oldest  time.Duration // the age of the first of them, by its date; 0: none waits
	Running int           // messages that it handles now
	Paused  bool
}

// Host is another host of the fleet.
type Host struct {
	Alias  protocol.Name
	Live   bool          // heard on the bus a short time ago
	Linked bool          // it has a link of its own to this host
	RTT    time.Duration // round trip of that link; 0: not known
}

// Bus is the state of the bus.
type Bus struct {
	Links       int    // to other servers: those that are there, and those that should be
	LinksUp     int    // how many of Links work
	Dropped     uint64 // a count: letters that came faster than they were handled
	Malformed   uint64 // a count: letters that could not be read
	Refused     uint64 // a count: letters whose signature or key does not prove their sender
	Held        int    // messages of hosts whose key is not known yet
	HeldDropped uint64 // a count: messages of such hosts that were dropped because there were too many
	Gaps        int    // messages that are missing in the chains of hosts, and were asked for in vain
	GapsClosed  uint64 // a count: missing messages that came
	GapsLeft    uint64 // a count: missing messages that nobody had, so that they are left to git
}

// Health is whether a node does its work. Each reason is a few words that the program itself wrote.
type Health struct {
	Down     []string // why it does not do its work
	Degraded []string // what fails while the work goes on
}
