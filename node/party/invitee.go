package party

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// agents returns all agents of the fleet, as AGENT@HOST, sorted. It is asked while the state is
// read.
func agents(s *fleet.State) (all []protocol.Address) {
	for _, h := range s.Keys().Hosts() {
		if h.Out() {
			continue
		}
		for _, a := range h.Agents {
			all = append(all, protocol.Address{Name: a.Name.String(), Host: h.Alias.String()})
		}
	}
	slices.SortFunc(all, func(a, b protocol.Address) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// agentCalled returns the agent that a text names (seed, "Disambiguate target"). That is the agent of
// exactly that name, or else the only one whose name contains the text. If several hosts serve the
// agent, the text has to name the host. It is asked while the state is read.
func agentCalled(s *fleet.State, text string) (protocol.Address, error) {
	want, err := protocol.ParseAddress(strings.TrimSpace(text))
	if err != nil {
		return protocol.Address{}, control.Errorf(control.KindUsage, "", "cannot invite %q: %v", text, err)
	}
	var exact, like []protocol.Address
	for _, a := range agents(s) {
		switch {
		case want.Host != "" && a.Host != want.Host:
		case a.Name == want.Name:
			exact = append(exact, a)
		case strings.Contains(strings.ToLower(a.Name), strings.ToLower(want.Name)):
			like = append(like, a)
		}
	}
	fit := exact
	if len(fit) == 0 {
		fit = like
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return protocol.Address{}, control.Errorf(control.KindNotFound, "see who is there: parley who; whom a host serves can be invited", "no agent found matching %q", text)
	}
	var list strings.Builder
	for i, a := range fit {
		fmt.Fprintf(&list, "\n%6d  %s", i+1, a)
	}
	return protocol.Address{}, control.Errorf(control.KindRefused, "be specific: parley party invite "+fit[0].String(), "several agents match %q:%s", text, list.String())
}

// invitee is whom a text names: an agent, or a partner of `me` who has only an issue. Such a partner
// is asked on the issue of the party, `anchor` (R34). It is asked while the state is read.
func invitee(s *fleet.State, known Standing, me, text, anchor string) (protocol.Address, error) {
	whom := protocol.Address{Name: strings.TrimSpace(text)}
	if !known.ByIssue(s, me, whom.Name) {
		return agentCalled(s, text)
	}
	if a, err := protocol.ParseAnchor(anchor, ""); err != nil || a.URL() == "" {
		return whom, control.Errorf(control.KindRefused, "begin the party on the issue: parley party organize NAME --anchor owner/repo#332",
			"cannot invite %s: no host serves it, and the party hangs on no issue where it could be asked", whom.Name)
	}
	return whom, nil
}

// window is how long an invite stays open. As for any decision, that depends on whether it goes to
// another host. On an issue it never ends (R25).
func (p *Parties) window(s *fleet.State, whom protocol.Address) time.Duration {
	if whom.Host == "" {
		return 0
	}
	now := fleet.Value(s, p.policies, policy.KindName, time.Time{})
	if whom.Host == p.Host.String() {
		return now.Window(policy.KeyWindowSameHost)
	}
	return now.Window(policy.KeyWindowCrossHost)
}

// humansOf returns the humans of a host, who decide for its agents. It is asked while the state is
// read.
func humansOf(s *fleet.State, host protocol.Name) []protocol.Name {
	h, joined := s.Keys().Host(host)
	if !joined {
		return nil
	}
	return slices.Clone(h.Humans)
}

// inviting is the command with which an agent invites another one, because its human agreed to
// that.
func (p *Parties) inviting(by string, channel protocol.ChannelID, whom protocol.Address, because protocol.Path) (c affair.Command) {
	p.Folded(func(s *fleet.State) {
		c = p.actor(s, by, "", "").Invite(channel, whom, humansOf(s, protocol.Name(whom.Host)), p.window(s, whom), because)
	})
	return c
}
