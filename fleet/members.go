package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Members are whom a message to all in the channel is for; none: everybody.
func (s *State) Members(c protocol.ChannelID) []string { return s.channelFiles[c].Members }

// withMembers are the addresses of what is to be said, with the members of its channel,
// without who speaks, in the place of "all". So the message itself says whom it is for:
// it stays so when the members change, and other programs understand it.
func (s *State) withMembers(c Say) ([]string, error) {
	members := s.Members(c.channel())
	at := slices.Index(c.To, protocol.All)
	if at < 0 || len(members) == 0 {
		return c.To, nil
	}
	others := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == c.As.Name })
	wanted := slices.Replace(slices.Clone(c.To), at, at+1, others...)
	wanted = slices.DeleteFunc(wanted, func(to string) bool { return to == protocol.All })
	if len(wanted) == 0 {
		name := s.channelFiles[c.channel()].Name
		return nil, refuse(Senseless, "add one: parley channel members "+name+" --add NAME",
			"%s is the only member of the channel %q", c.As.Name, name)
	}
	return wanted, nil
}

// ChangeMembers asks for other members of a channel.
type ChangeMembers struct {
	Channel     protocol.ChannelID
	Add, Remove []string
}

// MembersAfter are the members of the channel once they are changed: those that stay in
// their order, then the new ones. To add one that is a member changes nothing. The error
// is a *Refusal.
func (s *State) MembersAfter(c ChangeMembers) ([]string, error) {
	f, described := s.channelFiles[c.Channel]
	if !described {
		return nil, refuse(Forbidden, "make one with members: parley channel new NAME --member NAME",
			"the channel %s has no name and no CHANNEL.md that could hold members: it is for those who take part", c.Channel)
	}
	for _, name := range c.Remove {
		if !slices.Contains(f.Members, name) {
			return nil, refuse(Unknown, "see who is: parley channel members "+f.Name, "%q is no member of the channel %q", name, f.Name)
		}
	}
	if err := s.checkMembers(c.Add); err != nil {
		return nil, err
	}
	after := slices.DeleteFunc(slices.Clone(f.Members), func(m string) bool { return slices.Contains(c.Remove, m) })
	for _, name := range c.Add {
		if !slices.Contains(after, name) {
			after = append(after, name)
		}
	}
	return after, nil
}

// checkMembers refuses members who could not be written to (R5).
func (s *State) checkMembers(names []string) error {
	for _, name := range names {
		if err := protocol.CheckMember(name); err != nil {
			return refuse(Senseless, "", "cannot make a member of %q: %v", name, err)
		}
		if !s.Known(name) {
			return refuse(Unknown, s.suggest(name), "cannot make a member of %q: nobody is called that", name)
		}
	}
	return nil
}
