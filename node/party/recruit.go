package party

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Recruits answers control.Recruits.
func (p *Parties) Recruits(_ context.Context, by control.Caller, r control.RecruitsRequest) (control.RecruitList, error) {
	list := control.RecruitList{Agents: []control.Recruit{}, Contacts: []control.RecruitContact{}}
	who, err := p.viewing(by, r.Viewing)
	if err != nil {
		return list, err
	}
	served := map[string]bool{}
	p.Folded(func(s *fleet.State) {
		f, none := p.find(s, who.Me, r.Party)
		if r.Party != "" && none != nil {
			err = none
			return
		}
		for _, a := range agents(s) {
			served[a.Name] = true
			if a.Name == who.Me && a.Host == p.Host.String() {
				continue
			}
			one := control.Recruit{Name: a.Name, Host: protocol.Name(a.Host)}
			_, one.Live = p.Seen(one.Host)
			switch {
			case none == nil && f.Member(a.Name, one.Host) != nil:
				one.Standing = "member"
			case none == nil && f.Invited(a) != nil:
				one.Standing = "invited"
			}
			list.Agents = append(list.Agents, one)
		}
	})
	for name, c := range p.standing.Contacts(who.Me) {
		if !served[name] && name != who.Me {
			list.Contacts = append(list.Contacts, control.RecruitContact{Name: name, Node: c.Node})
		}
	}
	slices.SortFunc(list.Contacts, func(a, b control.RecruitContact) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// introduce tells an agent who may not know the inviting agent who that is, before an invite (seed,
// "Introduction").
func (p *Parties) introduce(ctx context.Context, by control.Caller, who collab.Acting, f found, whom protocol.Address) error {
	text := fmt.Sprintf("INTRODUCTION | from: %s (led by %s)\nNode: %s\nPurpose: %s\nWe're working on: %s\nWould you like to join?\n%s",
		who.Me, f.Leader.Human, p.Host, strings.Join(purposes(f), ", "), f.Name, protocol.Rule6(who.Me, who.Human))
	_, err := p.Send(ctx, by, control.SendRequest{As: who.Me, To: []string{whom.String()}, Channel: f.channel.String(), Body: text})
	return err
}

// purposes says what a party is about, in the words that the party has.
func purposes(f found) []string {
	about := []string{f.Name}
	if f.Team != "" {
		about = append(about, "team "+f.Team)
	}
	if f.Anchor != "" {
		about = append(about, f.Anchor)
	}
	return about
}
