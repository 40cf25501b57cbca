package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// resolve reads an address and refuses one that would reach nobody: a name that
// is neither served, nor a human, nor anyone who ever wrote (R5).
func (s *State) resolve(c Say, text string) (protocol.Address, error) {
	if text == protocol.All {
		return protocol.Address{Name: protocol.All}, nil
	}
	to, err := protocol.ParseAddress(text)
	if err != nil {
		return to, refuse(Senseless, "", "cannot address the message: %v", err)
	}
	switch {
	case c.Cross && to.Host == "":
		return to, refuse(Senseless, "name the host first, as in white:mawjs; within one host use: parley hey",
			"a wormhole needs a host: %q names none", text)
	case to.Host == "" && to.Name == c.As.Name && len(s.elsewhere(c.As)) == 0:
		return to, refuse(Forbidden, "", "%s cannot write to itself", to.Name)
	case to.Name == c.As.Name && to.Host == c.As.Host.String():
		return to, refuse(Forbidden, "", "%s cannot write to itself", to.Name)
	case c.Anyway:
		return to, nil
	case to.Host != "":
		return to, s.People.CheckHosted(to)
	case s.People.Known(to.Name):
		return to, nil
	}
	return to, refuse(Unknown, s.People.Suggest(to.Name)+"; to write to it all the same: parley send --anyway", "nobody is called %q", to.Name)
}

// Between is the channel that `who` and the addressee have in common. The error, a *Refusal, says
// why nothing could be sent there.
func (s *State) Between(who Who, addressee string) (protocol.ChannelID, error) {
	to, err := s.resolve(Say{As: who}, addressee)
	if err != nil {
		return "", err
	}
	if to.Name == protocol.All {
		return protocol.DeriveChannel(s.anchor.RecordID, protocol.All), nil
	}
	return protocol.DeriveChannel(s.anchor.RecordID, who.Name, to.Name), nil
}

// elsewhere are the other hosts that serve the participant's name.
func (s *State) elsewhere(who Who) []protocol.Name {
	return slices.DeleteFunc(s.People.ServedOn(who.Name), func(h protocol.Name) bool { return h == who.Host })
}
