package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Channels lists the channels of the record: those with a name by name, then the
// others.
var Channels = NewQuestion[[]Channel](VerbSpec{
	Name: "channels", Access: Reads,
	Doc: "Lists the channels of the record.",
})

// Channel is one channel of the record. Name, CreatedBy, CreatedAt, Parent, Members and About are
// empty if it has no CHANNEL.md.
type Channel struct {
	ID           protocol.ChannelID   `json:"id"`                  // a UUID, the name of its folder
	Name         string               `json:"name"`                // what people call it
	CreatedBy    string               `json:"created_by"`          // the author of the channel, by its file
	CreatedAt    time.Time            `json:"created_at,omitzero"` // UTC
	Parent       protocol.ChannelID   `json:"parent"`              // the channel to which it belongs; "" for none
	ParentName   string               `json:"parent_name"`         // what people call that channel
	Members      []string             `json:"members"`             // for whom a message to all in the channel is; none: everybody
	About        string               `json:"about"`               // what it is for
	Messages     int                  `json:"messages"`            // without receipts
	Last         time.Time            `json:"last,omitzero"`       // timestamp of the last message; UTC
	Participants []string             `json:"participants"`        // who wrote there or was addressed, sorted
	Children     []protocol.ChannelID `json:"children"`            // the channels that belong to it
}

// NewChannel makes a named channel. When it returns, the channel is in a commit.
var NewChannel = NewVerb[NewChannelRequest, Channel](VerbSpec{
	Name: "new-channel", Access: Keeps,
	Doc: "Makes a named channel.",
})

// NewChannelRequest asks for a named channel.
type NewChannelRequest struct {
	As     string `json:"as,omitempty"`
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"` // id or name of the channel to which it belongs
	About  string `json:"about,omitempty"`
	// Members are those for whom a message to all in the channel is; none: everybody.
	Members []string `json:"members,omitempty"`
}

// ChangeMembers changes the members of a channel. When it returns, the change is in a commit.
var ChangeMembers = NewVerb[MembersRequest, Channel](VerbSpec{
	Name: "channel-members", Access: Keeps, Doing: "change the members of a channel",
	Doc: "Changes the members of a channel.",
})

// MembersRequest changes the members of a channel (id or name).
type MembersRequest struct {
	As      string   `json:"as,omitempty"`
	Channel string   `json:"channel"`
	Add     []string `json:"add,omitempty"`
	Remove  []string `json:"remove,omitempty"`
}

// ShowChannel describes one channel.
var ShowChannel = NewVerb[ChannelRequest, Channel](VerbSpec{
	Name: "channel", Access: Reads,
	Doc: "Describes one channel.",
})

// ChannelRequest names a channel by id or name.
type ChannelRequest struct {
	Channel string `json:"channel"`
}

// Memory is shared, lasting knowledge (R10).
type Memory struct {
	File         string    `json:"file"`               // its name, without the folder
	From         string    `json:"from"`               // who wrote it
	Via          string    `json:"via"`                // who committed it on behalf of From
	Timestamp    time.Time `json:"timestamp,omitzero"` // UTC
	Subject      string    `json:"subject"`            // a label of one line
	Scope        string    `json:"scope"`              // "global" or the id of a channel
	ScopeName    string    `json:"scope_name"`         // what people call the channel of the scope
	Tags         []string  `json:"tags"`               // as its writer gave them
	Session      string    `json:"session"`            // the session that wrote it
	Supersedes   string    `json:"supersedes"`         // the file of the memory that it replaces
	SupersededBy string    `json:"superseded_by"`      // the file of the memory that has replaced it
	Body         string    `json:"body"`               // the text
}

// AddMemory writes a memory. When it returns, the memory is in a commit.
var AddMemory = NewVerb[AddMemoryRequest, Memory](VerbSpec{
	Name: "add-memory", Access: Keeps,
	Doc: "Writes a memory.",
})

// AddMemoryRequest asks for a memory to be written. Supersedes names a memory that it replaces. If
// subject, scope or tags are not given, they are taken from that memory.
type AddMemoryRequest struct {
	As         string   `json:"as,omitempty"`
	Subject    string   `json:"subject"`
	Scope      string   `json:"scope,omitempty"` // "global" (or empty), or the id or name of a channel
	Tags       []string `json:"tags,omitempty"`
	Session    string   `json:"session,omitempty"`
	Supersedes string   `json:"supersedes,omitempty"`
	Body       string   `json:"body"`
}

// Memories lists memories, oldest first.
var Memories = NewVerb[MemoriesRequest, []Memory](VerbSpec{
	Name: "memories", Access: Reads,
	Doc: "Lists memories, oldest first.",
})

// MemoriesRequest asks for memories. Empty fields mean any.
type MemoriesRequest struct {
	Scope   string   `json:"scope,omitempty"` // "global", or the id or name of a channel
	Subject string   `json:"subject,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	All     bool     `json:"all,omitempty"` // also those that were superseded
}

// ShowMemory returns one memory.
var ShowMemory = NewVerb[MemoryRequest, Memory](VerbSpec{
	Name: "memory", Access: Reads,
	Doc: "Returns one memory.",
})

// MemoryRequest names a memory by its file, or by the hex digits at its end.
type MemoryRequest struct {
	File string `json:"file"`
}

// Search finds messages by their words.
var Search = NewVerb[SearchRequest, SearchResult](VerbSpec{
	Name: "search", Access: Reads,
	Doc: "Finds messages and memories by their words.",
})

// MaxHits is how many messages, and how many memories, a search shows at most.
const MaxHits = 1000

// SearchRequest asks for messages and memories by their words, by who wrote them, by
// channel (id or name; of a memory: its scope) and by time; at least one of them.
type SearchRequest struct {
	Words   string    `json:"words,omitempty"`
	From    string    `json:"from,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Limit   int       `json:"limit,omitempty"` // how many messages, and how many memories; 0: a sensible number
}

// SearchResult is what a search found: messages, the best match first, and of the memories that
// hold, the newest first.
type SearchResult struct {
	Hits          []MessageHit `json:"hits"`           // the messages, as many as were asked for
	Total         int          `json:"total"`          // with the hits beyond the limit
	Memories      []MemoryHit  `json:"memories"`       // the memories, as many as were asked for
	MemoriesTotal int          `json:"memories_total"` // with the memories beyond the limit
	Pending       int          `json:"pending"`        // messages that are still being indexed
}

// MessageHit is a message that was found. Excerpt is the part of its text that has the words, in
// one line. It is empty if no words were asked for.
type MessageHit struct {
	Message
	Excerpt []Fragment `json:"excerpt"` // the part of its text that has the words, in one line
}

// MemoryHit is a memory that was found. Excerpt is as in MessageHit, for the memory's subject, a
// colon and its text.
type MemoryHit struct {
	Memory
	Excerpt []Fragment `json:"excerpt"` // as in MessageHit, for its subject, a colon and its text
}

// Fragment is a piece of an excerpt: either something that was sought, or what is around it.
type Fragment struct {
	Text string `json:"text"` // a part of the line
	Hit  bool   `json:"hit"`  // it was sought
}

// Upgrade brings those files of the record that come with the program up to the running version.
var Upgrade = NewVerb[UpgradeRequest, []UpgradedFile](VerbSpec{
	Name: "upgrade", Access: Operates, Doing: "upgrade the record",
	Doc: "Brings the files of the record that come with the program up to the running version.",
}).reading("with `check`", func(r UpgradeRequest) bool { return r.Check })

// UpgradeRequest asks for the files of the record that come with the program to be brought up to
// the running version. With Check nothing is written.
type UpgradeRequest struct {
	Check bool `json:"check,omitempty"`
}

// UpgradedFile is one file of the record that comes with the program.
type UpgradedFile struct {
	Path  string `json:"path"`  // in the record
	State string `json:"state"` // "current", "new" or "changed"
}
