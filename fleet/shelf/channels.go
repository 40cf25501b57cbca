package shelf

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/protocol"
)

// Channel is a channel as the record describes it.
type Channel struct {
	protocol.ChannelFile // empty if the channel has no CHANNEL.md
	ID                   protocol.ChannelID
	Messages             int       // without receipts
	Last                 time.Time // timestamp of the last message; zero if there is none
	Participants         []string  // who wrote there or was addressed, sorted
	Children             []protocol.ChannelID
}

// Channels are the channels of a record, with what their CHANNEL.md files say.
type Channels struct {
	system   protocol.ChannelID // the channel of the fleet's own book-keeping, which is not listed
	messages Messages
	people   People
	files    map[protocol.ChannelID]protocol.ChannelFile
}

// Messages gives Channels what it has to know of the messages in channels.
type Messages interface {
	// InUse yields the channels that have messages or receipts, in no order.
	InUse() iter.Seq[protocol.ChannelID]
	// HasAny reports whether any message or receipt is in the channel.
	HasAny(c protocol.ChannelID) bool
	// Said returns how many messages, without receipts, a channel has, who wrote or was addressed
	// there, sorted, and the timestamp of the last message. The timestamp is zero if there is no
	// message.
	Said(c protocol.ChannelID) (messages int, who []string, last time.Time)
}

// NewChannels are the channels of the record with that id before its first CHANNEL.md.
func NewChannels(recordID string, messages Messages, people People) *Channels {
	return &Channels{system: protocol.SystemChannel(recordID), messages: messages, people: people, files: map[protocol.ChannelID]protocol.ChannelFile{}}
}

// Set takes in what the CHANNEL.md of a channel says.
func (c *Channels) Set(id protocol.ChannelID, f protocol.ChannelFile) { c.files[id] = f }

// Drop forgets the CHANNEL.md of a channel.
func (c *Channels) Drop(id protocol.ChannelID) { delete(c.files, id) }

// Exists reports whether the record has a directory for the channel.
func (c *Channels) Exists(id protocol.ChannelID) bool {
	_, described := c.files[id]
	return described || c.messages.HasAny(id)
}

// spelling is the channel that exists, of those that an id can mean: somebody may write the id in
// another case than its folder. If none exists, it is the id itself.
func (c *Channels) spelling(id protocol.ChannelID) protocol.ChannelID {
	for _, other := range id.Spellings() {
		if c.Exists(other) {
			return other
		}
	}
	return id
}

// Count is how many channels All returns.
func (c *Channels) Count() int { return len(c.ids()) }

func (c *Channels) ids() map[protocol.ChannelID]bool {
	ids := map[protocol.ChannelID]bool{}
	for id := range c.files {
		ids[id] = true
	}
	for id := range c.messages.InUse() {
		ids[id] = true
	}
	delete(ids, c.system)
	return ids
}

// All are all channels without that of the fleet's own book-keeping: those with a name by name,
// then the others by id. It looks at a few messages of each.
func (c *Channels) All() []Channel {
	ids := c.ids()
	children := map[protocol.ChannelID][]protocol.ChannelID{}
	for id, f := range c.files {
		parent := c.spelling(f.Parent)
		children[parent] = append(children[parent], id)
	}
	all := make([]Channel, 0, len(ids))
	for id := range ids {
		all = append(all, c.describe(id, children[id]))
	}
	slices.SortFunc(all, func(a, b Channel) int {
		if (a.Name == "") != (b.Name == "") {
			return cmp.Compare(b.Name, a.Name)
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Describe is what the record says of one channel.
func (c *Channels) Describe(id protocol.ChannelID) Channel {
	var children []protocol.ChannelID
	for child, f := range c.files {
		if c.spelling(f.Parent) == id {
			children = append(children, child)
		}
	}
	return c.describe(id, children)
}

func (c *Channels) describe(id protocol.ChannelID, children []protocol.ChannelID) Channel {
	slices.Sort(children)
	channel := Channel{ChannelFile: c.files[id], ID: id, Children: children}
	channel.Messages, channel.Participants, channel.Last = c.messages.Said(id)
	return channel
}

// Purposes are the CHANNEL.md files of a channel and of the channels above it, the channel's own
// first, as far as they exist.
func (c *Channels) Purposes(id protocol.ChannelID) []protocol.ChannelFile {
	var all []protocol.ChannelFile
	for seen := map[protocol.ChannelID]bool{}; id != "" && !seen[id]; id = c.spelling(c.files[id].Parent) {
		seen[id] = true
		if f, ok := c.files[id]; ok {
			all = append(all, f)
		}
	}
	return all
}

// Name is what people call a channel, "" if it has no name.
func (c *Channels) Name(id protocol.ChannelID) string { return c.files[id].Name }

// Find is the channel that `text` names: by its id, by the name in its CHANNEL.md, or by the eight
// hex digits with which its id begins. The error is a *refusal.Refusal.
func (c *Channels) Find(text string) (protocol.ChannelID, error) {
	if id, err := protocol.ParseChannelID(text); err == nil {
		if id = c.spelling(id); !c.Exists(id) {
			return "", refusal.New(refusal.Unknown, "channels are listed by: parley channel list", "there is no channel %s", id)
		}
		return id, nil
	}
	named := c.named(text)
	if len(named) == 0 {
		named = c.startingWith(strings.ToLower(strings.TrimSuffix(text, "…")))
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return "", refusal.New(refusal.Unknown, c.suggest(text), "no channel is called %q", text)
	default:
		return "", refusal.New(refusal.Senseless, "give the id, such as "+named[0].String(), "%d channels are called %q", len(named), text)
	}
}

// named are the channels with that name, by id. Case does not matter, because nobody could tell
// such names apart when speaking.
func (c *Channels) named(name string) []protocol.ChannelID {
	var named []protocol.ChannelID
	for id, f := range c.files {
		if strings.EqualFold(f.Name, name) {
			named = append(named, id)
		}
	}
	slices.Sort(named)
	return named
}

// startingWith are the channels whose id begins with the eight hex digits. Lists show these digits
// for a channel without a name.
func (c *Channels) startingWith(start string) []protocol.ChannelID {
	if len(start) != 8 {
		return nil
	}
	var found []protocol.ChannelID
	for id := range c.ids() {
		if strings.HasPrefix(id.String(), start+"-") {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found
}

func (c *Channels) suggest(name string) string {
	var near []string
	for _, f := range c.files {
		if spelling.Near(name, f.Name) {
			near = append(near, f.Name)
		}
	}
	if len(near) == 0 {
		return "make it: parley channel new NAME; or see: parley channel list"
	}
	slices.Sort(near)
	return "did you mean " + strings.Join(near, ", ") + "? see: parley channel list"
}

// NewChannel asks for a named channel.
type NewChannel struct {
	By     string // who makes it
	Name   string
	Parent protocol.ChannelID // "" = none
	About  string
	// Members are those for whom a message to all in the channel is; none: everybody.
	Members []string
}

// Found checks that such a channel can be made, and returns what its CHANNEL.md is to say. The
// error is a *refusal.Refusal.
func (c *Channels) Found(asked NewChannel, now time.Time) (protocol.ChannelFile, error) {
	name := strings.TrimSpace(asked.Name)
	if err := protocol.CheckLabel(name); err != nil {
		return protocol.ChannelFile{}, refusal.New(refusal.Senseless, "", "cannot make a channel called %q: its name: %v", name, err)
	}
	if _, err := protocol.ParseChannelID(name); err == nil {
		return protocol.ChannelFile{}, refusal.New(refusal.Senseless, "choose a word", "cannot make a channel called %q: that is the form of an id", name)
	}
	if low := strings.ToLower(name); low == protocol.All || low == "direct" {
		return protocol.ChannelFile{}, refusal.New(refusal.Senseless, "choose another word",
			"cannot make a channel called %q: lists call channels so that nobody made", name)
	}
	if named := c.named(name); len(named) > 0 {
		return protocol.ChannelFile{}, refusal.New(refusal.Forbidden, "see it: parley channel show "+named[0].String(),
			"cannot make a channel called %q: there is one, %s", name, named[0])
	}
	if err := c.checkMembers(asked.Members); err != nil {
		return protocol.ChannelFile{}, err
	}
	var members []string
	for _, m := range asked.Members {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return protocol.ChannelFile{
		Name: name, CreatedBy: asked.By, CreatedAt: now, Parent: asked.Parent, Members: members, About: protocol.NormalBody(strings.TrimSpace(asked.About)),
	}, nil
}
