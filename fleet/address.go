package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/spelling"
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
		return to, s.checkHosted(c, to)
	case s.Known(to.Name):
		return to, nil
	}
	return to, refuse(Unknown, s.Suggest(to.Name)+"; to write to it all the same: parley send --anyway", "nobody is called %q", to.Name)
}

// Between is the channel that who has in common with the addressee, unless nothing could
// be sent there. The error is a *Refusal.
func (s *State) Between(who Who, addressee string) (protocol.ChannelID, error) {
	to, err := s.resolve(Say{As: who}, addressee)
	if err != nil {
		return "", err
	}
	if to.Name == protocol.All {
		return protocol.DeriveChannel(s.recordID, protocol.All), nil
	}
	return protocol.DeriveChannel(s.recordID, who.Name, to.Name), nil
}

// CheckName refuses a name that the fleet does not know, with those that are near it.
// The error is a *Refusal.
func (s *State) CheckName(name string) error {
	if s.Known(name) {
		return nil
	}
	return refuse(Unknown, s.Suggest(name), "nobody is called %q", name)
}

// elsewhere are the other hosts that serve the participant's name.
func (s *State) elsewhere(who Who) []protocol.Name {
	return slices.DeleteFunc(s.servedOn(who.Name), func(h protocol.Name) bool { return h == who.Host })
}

// checkHosted refuses an address whose host is unknown or does not serve the
// name.
func (s *State) checkHosted(c Say, to protocol.Address) error {
	alias := protocol.Name(to.Host)
	h, joined := s.Keys().Host(alias)
	file, listed := s.hostFile(alias)
	if h.Out() {
		return refuse(Forbidden, s.knownHosts(), "the host %s is out: %s", alias, h.WhyOut())
	}
	if !joined && !listed {
		return refuse(Unknown, s.knownHosts(), "no host is called %q", to.Host)
	}
	if joined {
		file = protocol.HostState{Humans: h.Humans, Agents: h.Agents}
	}
	if names(file, to.Name) {
		return nil
	}
	hint := servedThere(file)
	if on := s.servedOn(to.Name); len(on) > 0 {
		hint = fmt.Sprintf("%s is on %s", to.Name, joinNames(on))
	}
	return refuse(Unknown, hint, "the host %s does not serve %q", to.Host, to.Name)
}

// servedThere is a hint that names the agents and humans of a host.
func servedThere(h protocol.HostState) string {
	there := slices.Clone(h.Humans)
	for _, a := range h.Agents {
		there = append(there, a.Name)
	}
	if len(there) == 0 || len(there) > manyNames {
		return "see who is there: parley ls"
	}
	slices.Sort(there)
	return "there are " + joinNames(slices.Compact(there)) + "; see: parley ls"
}

func names(h protocol.HostState, name string) bool {
	return slices.ContainsFunc(h.Agents, func(a protocol.HostedAgent) bool { return a.Name.String() == name }) ||
		slices.Contains(h.Humans, protocol.Name(name))
}

// Known reports whether the fleet knows a participant of that name: an agent, a
// human, or anyone who ever wrote.
func (s *State) Known(name string) bool {
	return s.Ledger.sum(sumWriters, name) > 0 || slices.Contains(s.roster(), name)
}

// servedOn are the hosts where the name is an agent or a human, by alias.
func (s *State) servedOn(name string) []protocol.Name {
	var on []protocol.Name
	for _, h := range s.Keys().Hosts() {
		if names(protocol.HostState{Humans: h.Humans, Agents: h.Agents}, name) {
			on = append(on, h.Alias)
		}
	}
	for _, f := range s.OtherPrograms() {
		if names(f, name) {
			on = append(on, f.Host)
		}
	}
	slices.Sort(on)
	return on
}

// roster is every agent and human that some host declares, sorted.
func (s *State) roster() []string {
	var all []string
	add := func(humans []protocol.Name, agents []protocol.HostedAgent) {
		for _, n := range humans {
			all = append(all, n.String())
		}
		for _, a := range agents {
			all = append(all, a.Name.String())
		}
	}
	for _, h := range s.Keys().Hosts() {
		add(h.Humans, h.Agents)
	}
	for _, f := range s.OtherPrograms() {
		add(f.Humans, f.Agents)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Suggest is a hint that names the participants nearest to a name nobody has.
func (s *State) Suggest(name string) string {
	var near []string
	for _, n := range s.roster() {
		if spelling.Distance(n, strings.ToLower(name)) <= 1+len(n)/3 || strings.HasPrefix(n, name) {
			near = append(near, n)
		}
	}
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, ", ") + "? see: parley ls"
	case len(s.roster()) > 0:
		return "see who can be reached: parley ls"
	}
	return "nobody is served yet: parley agent add NAME --exec 'COMMAND'"
}

func (s *State) knownHosts() string {
	var all []protocol.Name
	for _, h := range s.Keys().Hosts() {
		all = append(all, h.Alias)
	}
	return "the hosts of this fleet are " + joinNames(all)
}

func joinNames(list []protocol.Name) string {
	var b strings.Builder
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n.String())
	}
	return b.String()
}
