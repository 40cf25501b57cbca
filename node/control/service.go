package control

import (
	"context"
)

// Service is what a node does for those on its own machine. Every error is an
// *Error. Paths in requests are text as a person gives it: "<uuid>/…/NAME.md",
// with "data/channels/" before it or not, or the unique eight hex digits of its
// name (R2).
type Service interface {
	// Status says who this node is and how it fares.
	Status(ctx context.Context) (Status, error)

	// Send stores a message and returns once it is fsynced, or up to
	// SendRequest.HeardWithin later if other hosts are live.
	Send(ctx context.Context, r SendRequest) (Message, error)

	// Wait returns the first answer to a message, or the next message from or to
	// someone. KindTimeout if none came in time.
	Wait(ctx context.Context, r WaitRequest) (Message, error)

	// Talk says where two participants talk, and refuses an addressee to whom nothing
	// could be sent. It writes nothing.
	Talk(ctx context.Context, r TalkRequest) (Talk, error)

	// Inbox lists the mail of one participant, oldest first.
	Inbox(ctx context.Context, r InboxRequest) ([]Message, error)

	// Read returns a message and leaves a receipt for the sender, once.
	Read(ctx context.Context, r ReadRequest) (Message, error)

	// ReadAll leaves receipts for all mail of one participant that waits, or for
	// some of it.
	ReadAll(ctx context.Context, r ReadAllRequest) (Marked, error)

	// Shown leaves receipts for those messages that waited for the participant to
	// whom they were shown; of the others it leaves none.
	Shown(ctx context.Context, r ShownRequest) (Marked, error)

	// Show returns a message and writes nothing.
	Show(ctx context.Context, r ShowRequest) (Message, error)

	// Replies lists the answers to a message, oldest first.
	Replies(ctx context.Context, r ThreadRequest) ([]Message, error)

	// Thread lists the whole conversation that a message is in, each message
	// followed by its answers.
	Thread(ctx context.Context, r ThreadRequest) ([]ThreadMessage, error)

	// Search finds messages by their words.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)

	// Log calls yield with the messages of the record, oldest first, and with
	// Follow goes on with those to come until ctx ends. It stops at yield's
	// first error and returns it.
	Log(ctx context.Context, r LogRequest, yield func(Message) error) error

	// Agents lists the agents served on this host, by name.
	Agents(ctx context.Context) ([]Agent, error)

	// AddAgent begins to serve an agent here and tells the fleet.
	AddAgent(ctx context.Context, r AddAgentRequest) (Agent, error)

	// SetAgent changes how an agent is served here. Its mail goes on; commands that
	// run end as they began.
	SetAgent(ctx context.Context, r SetAgentRequest) (Agent, error)

	// RemoveAgent stops serving an agent here and tells the fleet. What it
	// wrote and what it was sent stays in the record.
	RemoveAgent(ctx context.Context, r AgentRequest) error

	// PauseAgent has an agent's mail wait, or go on.
	PauseAgent(ctx context.Context, r PauseRequest) (Agent, error)

	// TestAgent runs an agent's command once and keeps nothing of it.
	TestAgent(ctx context.Context, r TestRequest) (TestResult, error)

	// AgentToken makes a token for an agent served here that the node does not start
	// itself. It counts as long as the agent is served.
	AgentToken(ctx context.Context, r AgentRequest) (AgentToken, error)

	// Profile returns an actor profile, or writes it.
	Profile(ctx context.Context, r ProfileRequest) (Profile, error)

	// Prompt returns what an agent served here is given for a message.
	Prompt(ctx context.Context, r PromptRequest) (Prompt, error)

	// Open returns what an agent's own interactive program needs to run.
	Open(ctx context.Context, r OpenRequest) (Opening, error)

	// Wake looks at the remote and at what waits for agents, at once.
	Wake(ctx context.Context, r WakeRequest) (Woken, error)

	// Channels lists the channels of the record: those with a name by name, then
	// the others.
	Channels(ctx context.Context) ([]Channel, error)

	// Channel describes one channel.
	Channel(ctx context.Context, r ChannelRequest) (Channel, error)

	// NewChannel makes a named channel, in a commit when it returns.
	NewChannel(ctx context.Context, r NewChannelRequest) (Channel, error)

	// ChangeMembers changes the members of a channel, in a commit when it returns.
	ChangeMembers(ctx context.Context, r MembersRequest) (Channel, error)

	// AddMemory writes a memory, in a commit when it returns.
	AddMemory(ctx context.Context, r AddMemoryRequest) (Memory, error)

	// Memories lists memories, oldest first.
	Memories(ctx context.Context, r MemoriesRequest) ([]Memory, error)

	// Memory returns one memory.
	Memory(ctx context.Context, r MemoryRequest) (Memory, error)

	// Upgrade brings the files of the record that come with the program up to
	// the running version.
	Upgrade(ctx context.Context, r UpgradeRequest) ([]UpgradedFile, error)

	// Verify looks at every message of the record.
	Verify(ctx context.Context) (Verification, error)

	// VerifyProgress says how far the Verify has come that was asked for last.
	VerifyProgress(ctx context.Context) (Progress, error)

	// RecordStats counts what is in the record.
	RecordStats(ctx context.Context) (RecordStats, error)

	// Export writes all files of the record into a folder.
	Export(ctx context.Context, r ExportRequest) (Exported, error)

	// List is the fleet's directory: who can be reached, and where.
	List(ctx context.Context, r HostsRequest) ([]Participant, error)

	// Hosts lists the hosts of the fleet by alias, without asking any of them.
	Hosts(ctx context.Context, r HostsRequest) ([]Host, error)

	// Host describes one host, without asking it.
	Host(ctx context.Context, r HostRequest) (Host, error)

	// HostCertificate returns the certificate that a host shows to NATS clients; one
	// of another host that is live is asked for, and is made for a key of that host.
	HostCertificate(ctx context.Context, r HostRequest) (Certificate, error)

	// PingHost asks a host that is live a question and waits for its answer.
	PingHost(ctx context.Context, r PingRequest) (Ping, error)

	// ProbeHost dials each address of a host, up to where a link would begin.
	ProbeHost(ctx context.Context, r HostRequest) (Probe, error)

	// FleetStatus asks all live hosts how they fare, at the same time, and waits
	// about two seconds for those that do not answer.
	FleetStatus(ctx context.Context, r HostsRequest) (FleetStatus, error)

	// RotateKey gives this host a new key.
	RotateKey(ctx context.Context, r RotateRequest) (Rotation, error)

	// RevokeKey ends a key of a host, or says what that would do.
	RevokeKey(ctx context.Context, r RevokeRequest) (Revocation, error)

	// RemoveHost takes a host out of the fleet for good, or says what that would do.
	RemoveHost(ctx context.Context, r RemoveHostRequest) (HostRemoval, error)

	// Stop makes the node drain and exit; it returns when draining has begun.
	Stop(ctx context.Context) error
}
