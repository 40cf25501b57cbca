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

	// Wait returns the first answer to a message: one that is there already, or
	// the next to come. KindTimeout if none came in time.
	Wait(ctx context.Context, r WaitRequest) (Message, error)

	// Inbox lists the mail of one participant, oldest first.
	Inbox(ctx context.Context, r InboxRequest) ([]Message, error)

	// Read returns a message and leaves a receipt for the sender, once.
	Read(ctx context.Context, r ReadRequest) (Message, error)

	// Show returns a message and writes nothing.
	Show(ctx context.Context, r ShowRequest) (Message, error)

	// Log calls yield with the messages of the record, oldest first, and with
	// Follow goes on with those to come until ctx ends. It stops at yield's
	// first error and returns it.
	Log(ctx context.Context, r LogRequest, yield func(Message) error) error

	// Agents lists the agents served on this host, by name.
	Agents(ctx context.Context) ([]Agent, error)

	// AddAgent begins to serve an agent here and tells the fleet.
	AddAgent(ctx context.Context, r AddAgentRequest) (Agent, error)

	// RemoveAgent stops serving an agent here and tells the fleet. What it
	// wrote and what it was sent stays in the record.
	RemoveAgent(ctx context.Context, r RemoveAgentRequest) error

	// List is the fleet's directory: who can be reached, and where.
	List(ctx context.Context) ([]Participant, error)

	// Stop makes the node drain and exit; it returns when draining has begun.
	Stop(ctx context.Context) error
}
