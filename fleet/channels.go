package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/protocol"
)

// Channel is a channel as the record describes it.
type Channel struct {
	protocol.ChannelFile // empty where it has no CHANNEL.md
	ID                   protocol.ChannelID
	Messages             int       // without receipts
	Last                 time.Time // timestamp of the last message; zero if there is none
	Participants         []string  // who wrote there or was addressed, sorted
	Children             []protocol.ChannelID
}

// SetChannelFile tells the state what the CHANNEL.md of a channel says.
func (s *State) SetChannelFile(c protocol.ChannelID, f protocol.ChannelFile) { s.channelFiles[c] = f }

// DropChannelFile forgets the CHANNEL.md of a channel.
func (s *State) DropChannelFile(c protocol.ChannelID) { delete(s.channelFiles, c) }

// ChannelExists reports whether the record has a directory for the channel.
func (s *State) ChannelExists(c protocol.ChannelID) bool {
	_, described := s.channelFiles[c]
	if described {
		return true
	}
	for range s.Channel(c) {
		return true
	}
	return false
}

// spelling is the channel that exists of those that an id can mean, which may be written
// in another case than its folder; the id itself if there is none.
func (s *State) spelling(c protocol.ChannelID) protocol.ChannelID {
	for _, other := range c.Spellings() {
		if s.ChannelExists(other) {
			return other
		}
	}
	return c
}

// CountChannels is how many channels Channels lists.
func (s *State) CountChannels() int { return len(s.channelIDs()) }

func (s *State) channelIDs() map[protocol.ChannelID]bool {
	ids := map[protocol.ChannelID]bool{}
	for c := range s.channelFiles {
		ids[c] = true
	}
	for c, seq := range s.channels {
		if len(seq.items) > 0 {
			ids[c] = true
		}
	}
	for name := range s.archive.Names(listChannels) {
		if c := protocol.ChannelID(name); s.ChannelExists(c) {
			ids[c] = true
		}
	}
	delete(ids, s.system)
	return ids
}

// Channels are all channels but the one of the fleet's own book-keeping: those
// with a name by name, then the others by id. It looks at a few messages of each.
func (s *State) Channels() []Channel {
	ids := s.channelIDs()
	children := map[protocol.ChannelID][]protocol.ChannelID{}
	for id, f := range s.channelFiles {
		parent := s.spelling(f.Parent)
		children[parent] = append(children[parent], id)
	}
	all := make([]Channel, 0, len(ids))
	for c := range ids {
		all = append(all, s.describe(c, children[c]))
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
func (s *State) Describe(c protocol.ChannelID) Channel {
	var children []protocol.ChannelID
	for id, f := range s.channelFiles {
		if s.spelling(f.Parent) == c {
			children = append(children, id)
		}
	}
	return s.describe(c, children)
}

func (s *State) describe(c protocol.ChannelID, children []protocol.ChannelID) Channel {
	channel := Channel{ChannelFile: s.channelFiles[c], ID: c, Children: children, Last: s.lastSaid(c)}
	channel.Messages, channel.Participants = s.talkIn(c)
	slices.Sort(channel.Children)
	return channel
}

// Purposes are the CHANNEL.md of a channel and of those above it, the channel's
// own first, as far as they exist.
func (s *State) Purposes(c protocol.ChannelID) []protocol.ChannelFile {
	var all []protocol.ChannelFile
	for seen := map[protocol.ChannelID]bool{}; c != "" && !seen[c]; c = s.spelling(s.channelFiles[c].Parent) {
		seen[c] = true
		if f, ok := s.channelFiles[c]; ok {
			all = append(all, f)
		}
	}
	return all
}

// ChannelName is what people call a channel, "" where it has no name.
func (s *State) ChannelName(c protocol.ChannelID) string { return s.channelFiles[c].Name }

// InCommon reports whether a message stands in the channel that its author and those
// whom it is for have without anybody making it.
func (s *State) InCommon(it *Item) bool {
	names := []string{it.From}
	for _, to := range it.To {
		names = append(names, to.Name)
	}
	if it.ToAll() {
		names = []string{protocol.All}
	}
	return it.Path.Channel() == protocol.DeriveChannel(s.recordID, names...)
}

// FindChannel is the channel that text names: by its id, by the name in its CHANNEL.md,
// or by the eight hex digits with which its id begins. The error is a *Refusal.
func (s *State) FindChannel(text string) (protocol.ChannelID, error) {
	if id, err := protocol.ParseChannelID(text); err == nil {
		if id = s.spelling(id); !s.ChannelExists(id) {
			return "", refuse(Unknown, "channels are listed by: parley channel list", "there is no channel %s", id)
		}
		return id, nil
	}
	named := s.channelsNamed(text)
	if len(named) == 0 {
		named = s.channelsFrom(strings.ToLower(strings.TrimSuffix(text, "…")))
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return "", refuse(Unknown, s.suggestChannel(text), "no channel is called %q", text)
	default:
		return "", refuse(Senseless, "give the id, such as "+named[0].String(), "%d channels are called %q", len(named), text)
	}
}

// channelsNamed are the channels of that name, by id. Case does not count:
// nobody could tell such names apart when speaking.
func (s *State) channelsNamed(name string) []protocol.ChannelID {
	var named []protocol.ChannelID
	for id, f := range s.channelFiles {
		if strings.EqualFold(f.Name, name) {
			named = append(named, id)
		}
	}
	slices.Sort(named)
	return named
}

// channelsFrom are the channels whose id begins with the eight hex digits, as lists show
// it of those without a name.
func (s *State) channelsFrom(start string) []protocol.ChannelID {
	if len(start) != 8 {
		return nil
	}
	var found []protocol.ChannelID
	for id := range s.channelIDs() {
		if strings.HasPrefix(id.String(), start+"-") {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found
}

func (s *State) suggestChannel(name string) string {
	var near []string
	for _, f := range s.channelFiles {
		low := strings.ToLower(f.Name)
		if spelling.Distance(low, strings.ToLower(name)) <= 1+len(name)/3 || strings.HasPrefix(low, strings.ToLower(name)) {
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
	As     Who
	Name   string
	Parent protocol.ChannelID // "" = none
	About  string
	// Members are whom a message to all there is for; none: everybody.
	Members []string
}

// Found checks that such a channel can be made and says what its CHANNEL.md is
// to hold. The error is a *Refusal.
func (s *State) Found(c NewChannel, now time.Time) (protocol.ChannelFile, error) {
	name := strings.TrimSpace(c.Name)
	if err := protocol.CheckLabel(name); err != nil {
		return protocol.ChannelFile{}, refuse(Senseless, "", "cannot make a channel called %q: its name: %v", name, err)
	}
	if _, err := protocol.ParseChannelID(name); err == nil {
		return protocol.ChannelFile{}, refuse(Senseless, "choose a word", "cannot make a channel called %q: that is the form of an id", name)
	}
	if named := s.channelsNamed(name); len(named) > 0 {
		return protocol.ChannelFile{}, refuse(Forbidden, "see it: parley channel show "+named[0].String(),
			"cannot make a channel called %q: there is one, %s", name, named[0])
	}
	if err := s.checkMembers(c.Members); err != nil {
		return protocol.ChannelFile{}, err
	}
	var members []string
	for _, m := range c.Members {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return protocol.ChannelFile{
		Name: name, CreatedBy: c.As.Name, CreatedAt: now, Parent: c.Parent, Members: members, About: protocol.NormalBody(strings.TrimSpace(c.About)),
	}, nil
}
