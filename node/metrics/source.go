package metrics

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Source is asked by whoever reads the metrics or the health, by several at once if need
// be.
type Source interface {
	Look() Snapshot
	Health() Health
}

// Snapshot is how a node fares at a moment. What is a count begins with its start.
type Snapshot struct {
	Messages int  // of the record that are here, receipts too
	Refused  int  // a count: files and letters that are no messages, or wrongly signed
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
	Unrecorded   int           // messages that are in the journal alone
	Unpushed     int           // messages that are committed, and the remote lacks
	Lag          time.Duration // since when the oldest of both waits; 0: none does
	StoreFails   bool          // nothing new can be stored
	CommitFails  bool          // what is stored cannot be committed
	HasRemote    bool
	RemoteFails  bool // it cannot be fetched from, or not be pushed to
	Pushes       int  // a count: that the remote took
	Rejected     int  // a count: pushes that came after another host's
	LastFetch    time.Time
	LastPush     time.Time // zero, as the one before: none since the start
	JournalBytes int64
	Packs        int
}

// Commands are the commands of all agents.
type Commands struct {
	Running int
	Most    int // that may run at once
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
	Linked bool          // by a link of its own to this host
	RTT    time.Duration // of that link; 0: not known
}

// Bus is the state of the bus.
type Bus struct {
	Links       int    // to other servers, that are there or should be
	LinksUp     int    // of these, that work
	Dropped     uint64 // a count: what came faster than it was handled
	Malformed   uint64 // a count: what could not be read
	Refused     uint64 // a count: letters whose signature or key does not prove their sender
	Held        int    // messages of hosts whose key is not known yet
	HeldDropped uint64 // a count: of these, what was too much
	Gaps        int    // messages that are missing in the chains of hosts, and were asked for in vain
	GapsClosed  uint64 // a count: what was missing and came
	GapsLeft    uint64 // a count: what nobody had, so that it is left to git
}

// Health is whether a node does its work. Each reason is a few words of the program's own.
type Health struct {
	Down     []string // why it does not
	Degraded []string // what fails while the work goes on
}
