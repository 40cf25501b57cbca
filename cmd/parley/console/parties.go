package console

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// partiesPage lists parties.
type partiesPage struct {
	Query    string
	All      int
	On, Over []control.Party
}

func showParties(a *asking) (any, string) {
	list := need(a, control.Parties, control.PartiesRequest{Fleet: true, Closed: true})
	p := partiesPage{Query: a.FormValue("q"), All: len(list.Parties)}
	for _, of := range list.Parties {
		words := []string{of.Name, of.Short, of.Leader, of.Via, of.Team, of.Anchor}
		for _, m := range of.Members {
			words = append(words, m.Name+"@"+m.Host.String())
		}
		switch {
		case !fits(p.Query, words...):
		case of.Ended.IsZero():
			p.On = append(p.On, of)
		default:
			p.Over = append(p.Over, of)
		}
	}
	return p, "Parties"
}

// partyPage is one party: who is in it, what is open, and what it has come to.
type partyPage struct {
	control.Party
	Here   []string // members that this host serves
	Values []rule   // of its rules
}

type rule struct{ Name, Value string }

func showParty(a *asking) (any, string) {
	self := need(a, control.Whoami.Verb, control.None{})
	of := need(a, control.ShowParty, control.PartyRequest{Viewing: control.Viewing{For: self.Human.String()}, Party: a.PathValue("id")})
	p := partyPage{Party: of}
	for _, m := range of.Members {
		if m.Host == self.Host {
			p.Here = append(p.Here, m.Name)
		}
	}
	p.Values = each.Of(protocol.PartyRuleNames(), func(name string) rule { return rule{strings.ReplaceAll(name, "_", " "), of.Rules.Get(name)} })
	return p, of.Name
}

// Waiting and Decided are what humans are asked in it, and what they have said.
func (p partyPage) Waiting() []control.Gate { return each.Except(p.Gates, decided) }
func (p partyPage) Decided() []control.Gate { return each.Only(p.Gates, decided) }

func decided(g control.Gate) bool {
	return g.Outcome == party.Accepted || g.Outcome == party.Declined || g.Outcome == party.Answered
}

// Pending and Settled are the agreements that were put to it.
func (p partyPage) Pending() []control.PartyProposal { return each.Only(p.Proposals, pending) }
func (p partyPage) Settled() []control.PartyProposal { return each.Except(p.Proposals, pending) }

func pending(pr control.PartyProposal) bool { return pr.Outcome == party.Pending }

// ToDo and Done are its tasks.
func (p partyPage) ToDo() []control.PartyTask { return each.Except(p.Tasks, isDone) }
func (p partyPage) Done() []control.PartyTask { return each.Only(p.Tasks, isDone) }

func isDone(t control.PartyTask) bool { return t.State == "done" }

// Missing are those who may vote on an agreement and have not.
func (partyPage) Missing(pr control.PartyProposal) []protocol.Address {
	return each.Except(pr.Voters, func(who protocol.Address) bool {
		return slices.ContainsFunc(pr.Votes, func(v party.Vote) bool { return v.Who == who })
	})
}

// addTask puts something to do on a party's list, in the name of one of its members.
func addTask(a *asking) (done, error) {
	did := need(a, control.DoInParty, control.PartyDeedRequest{
		Acting: control.Acting{As: a.FormValue("as")}, Party: a.FormValue("party"), Deed: protocol.ActTask, Text: a.FormValue("text"),
	})
	said := "It is on the list."
	if n := len(did.Party.Tasks); n > 0 {
		said = did.Party.Tasks[n-1].Label.String() + " is on the list."
	}
	return done{Said: said}, a.err
}
