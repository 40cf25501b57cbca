package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

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
	frozen := lists(s.archive.parts[partChannels])
	for i := range frozen.len() {
		if c := protocol.ChannelID(s.archive.word(frozen.id(i))); s.ChannelExists(c) {
			ids[c] = true
		}
	}
	delete(ids, s.system)
	return ids
}

// Talks is what is said in channels, message by message.
type Talks map[protocol.ChannelID]*talk

type talk struct {
	messages int
	last     time.Time
	who      map[string]bool
}

// Add takes in a message; those of one channel come in the order of the record.
func (t Talks) Add(it *Item) {
	if it.Type != protocol.TypeText {
		return
	}
	in := t[it.Path.Channel()]
	if in == nil {
		in = &talk{who: map[string]bool{}}
		t[it.Path.Channel()] = in
	}
	in.messages++
	in.last = it.Timestamp
	in.who[it.From] = true
	for _, to := range it.To {
		in.who[to.Name] = true
	}
}

// Channels are all channels but the one of the fleet's own book-keeping: those
// with a name by name, then the others by id. What is said in them is as t has it.
func (s *State) Channels(t Talks) []Channel {
	ids := s.channelIDs()
	children := map[protocol.ChannelID][]protocol.ChannelID{}
	for id, f := range s.channelFiles {
		children[f.Parent] = append(children[f.Parent], id)
	}
	all := make([]Channel, 0, len(ids))
	for c := range ids {
		all = append(all, s.describe(c, t, children[c]))
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
	t := Talks{}
	for it := range s.Channel(c) {
		t.Add(it)
	}
	var children []protocol.ChannelID
	for id, f := range s.channelFiles {
		if f.Parent == c {
			children = append(children, id)
		}
	}
	return s.describe(c, t, children)
}

func (s *State) describe(c protocol.ChannelID, t Talks, children []protocol.ChannelID) Channel {
	channel := Channel{ChannelFile: s.channelFiles[c], ID: c, Children: children}
	if in := t[c]; in != nil {
		channel.Messages, channel.Last = in.messages, in.last
		for name := range in.who {
			channel.Participants = append(channel.Participants, name)
		}
	}
	slices.Sort(channel.Participants)
	slices.Sort(channel.Children)
	return channel
}

// Purposes are the CHANNEL.md of a channel and of those above it, the channel's
// own first, as far as they exist.
func (s *State) Purposes(c protocol.ChannelID) []protocol.ChannelFile {
	var all []protocol.ChannelFile
	for seen := map[protocol.ChannelID]bool{}; c != "" && !seen[c]; c = s.channelFiles[c].Parent {
		seen[c] = true
		if f, ok := s.channelFiles[c]; ok {
			all = append(all, f)
		}
	}
	return all
}

// FindChannel is the channel that text names: by its id, or by the name in its
// CHANNEL.md. The error is a *Refusal.
func (s *State) FindChannel(text string) (protocol.ChannelID, error) {
	if id, err := protocol.ParseChannelID(text); err == nil {
		if !s.ChannelExists(id) {
			return "", refuse(Unknown, "channels are listed by: parley channel list", "there is no channel %s", id)
		}
		return id, nil
	}
	switch named := s.channelsNamed(text); len(named) {
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

func (s *State) suggestChannel(name string) string {
	var near []string
	for _, f := range s.channelFiles {
		low := strings.ToLower(f.Name)
		if distance(low, strings.ToLower(name)) <= 1+len(name)/3 || strings.HasPrefix(low, strings.ToLower(name)) {
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
	return protocol.ChannelFile{
		Name: name, CreatedBy: c.As.Name, CreatedAt: now, Parent: c.Parent, About: protocol.NormalBody(strings.TrimSpace(c.About)),
	}, nil
}
