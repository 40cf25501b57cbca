package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Channel is one channel of the record. Name, CreatedBy, CreatedAt, Parent and
// About are empty where it has no CHANNEL.md.
type Channel struct {
	ID           protocol.ChannelID   `json:"id"`
	Name         string               `json:"name"`
	CreatedBy    string               `json:"created_by"`
	CreatedAt    time.Time            `json:"created_at,omitzero"` // UTC
	Parent       protocol.ChannelID   `json:"parent"`
	About        string               `json:"about"`
	Messages     int                  `json:"messages"`      // without receipts
	Last         time.Time            `json:"last,omitzero"` // of the last message; UTC
	Participants []string             `json:"participants"`
	Children     []protocol.ChannelID `json:"children"`
}

// NewChannelRequest asks for a named channel.
type NewChannelRequest struct {
	As     string `json:"as,omitempty"`
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"` // id or name of the channel it belongs to
	About  string `json:"about,omitempty"`
}

// ChannelRequest names a channel by id or name.
type ChannelRequest struct {
	Channel string `json:"channel"`
}

// Memory is shared, lasting knowledge (R10).
type Memory struct {
	File         string    `json:"file"`
	From         string    `json:"from"`
	Via          string    `json:"via"`
	Timestamp    time.Time `json:"timestamp,omitzero"` // UTC
	Subject      string    `json:"subject"`
	Scope        string    `json:"scope"` // "global" or the id of a channel
	Tags         []string  `json:"tags"`
	Session      string    `json:"session"`
	Supersedes   string    `json:"supersedes"`
	SupersededBy string    `json:"superseded_by"`
	Body         string    `json:"body"`
}

// AddMemoryRequest asks for a memory to be written. Supersedes names one that it
// replaces; subject, scope and tags are then taken from that where none are
// given.
type AddMemoryRequest struct {
	As         string   `json:"as,omitempty"`
	Subject    string   `json:"subject"`
	Scope      string   `json:"scope,omitempty"` // "global" (or empty), or a channel's id or name
	Tags       []string `json:"tags,omitempty"`
	Session    string   `json:"session,omitempty"`
	Supersedes string   `json:"supersedes,omitempty"`
	Body       string   `json:"body"`
}

// MemoriesRequest asks for memories. Empty fields mean any.
type MemoriesRequest struct {
	Scope   string   `json:"scope,omitempty"` // "global", or a channel's id or name
	Subject string   `json:"subject,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	From    string   `json:"from,omitempty"`
	All     bool     `json:"all,omitempty"` // those that were superseded too
}

// MemoryRequest names a memory by its file, or by the hex digits at its end.
type MemoryRequest struct {
	File string `json:"file"`
}

// SearchRequest asks for messages by their words, by who wrote them, by channel
// (id or name) and by time; at least one of them.
type SearchRequest struct {
	Words   string    `json:"words,omitempty"`
	From    string    `json:"from,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Limit   int       `json:"limit,omitempty"` // 0: a sensible number
}

// SearchResult is what a search found, best first.
type SearchResult struct {
	Hits    []Message `json:"hits"`
	Total   int       `json:"total"`   // hits beyond the limit too
	Pending int       `json:"pending"` // messages that are still being indexed
}

// UpgradeRequest has the files of the record that come with the program brought
// up to the running version; with Check nothing is written.
type UpgradeRequest struct {
	Check bool `json:"check,omitempty"`
}

// UpgradedFile is one file of the record that comes with the program.
type UpgradedFile struct {
	Path  string `json:"path"`
	State string `json:"state"` // "current", "new" or "changed"
}
