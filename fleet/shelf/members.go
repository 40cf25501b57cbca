package shelf

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Members are those for whom a message to all in the channel is; none: everybody.
func (c *Channels) Members(id protocol.ChannelID) []string { return c.files[id].Members }

// People says who can be written to.
type People interface {
	// Known reports whether the fleet knows a participant of that name.
	Known(name string) bool
	// Suggest is a hint that names the participants whose names are most similar to one that nobody
	// has.
	Suggest(name string) string
}

// ChangeMembers asks for other members of a channel.
type ChangeMembers struct {
	Channel     protocol.ChannelID
	Add, Remove []string
}

// MembersAfter are the members of the channel after the change: those that stay, in their order,
// then the new ones. Adding a member that is one already changes nothing. The error is a
// *refusal.Refusal.
func (c *Channels) MembersAfter(change ChangeMembers) ([]string, error) {
	f, described := c.files[change.Channel]
	if !described {
		return nil, refusal.New(refusal.Forbidden, "make one with members: parley channel new NAME --member NAME",
			"the channel %s has no name and no CHANNEL.md that could hold members: it is for those who take part", change.Channel)
	}
	for _, name := range change.Remove {
		if !slices.Contains(f.Members, name) {
			return nil, refusal.New(refusal.Unknown, "see who is: parley channel members "+f.Name, "%q is no member of the channel %q", name, f.Name)
		}
	}
	if err := c.checkMembers(change.Add); err != nil {
		return nil, err
	}
	after := slices.DeleteFunc(slices.Clone(f.Members), func(m string) bool { return slices.Contains(change.Remove, m) })
	for _, name := range change.Add {
		if !slices.Contains(after, name) {
			after = append(after, name)
		}
	}
	return after, nil
}

// checkMembers returns an error for members who could not be written to (R5).
func (c *Channels) checkMembers(names []string) error {
	for _, name := range names {
		if err := protocol.CheckMember(name); err != nil {
			return refusal.New(refusal.Senseless, "", "cannot make a member of %q: %v", name, err)
		}
		if !c.people.Known(name) {
			return refusal.New(refusal.Unknown, c.people.Suggest(name), "cannot make a member of %q: nobody is called that", name)
		}
	}
	return nil
}
