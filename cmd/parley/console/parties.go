package console

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// partyKinds are the events after which parties may have changed: words, and who is there.
var partyKinds = []control.EventKind{control.EventMessage, control.EventHost, control.EventSession, control.EventGate}

// partiesPage lists parties.
type partiesPage struct {
	Query    string
	All      int
	On, Over []control.Party
}

func showParties(a *asking) (any, string, error) {
	list, err := ask(a, control.Parties, control.PartiesRequest{Fleet: true, Closed: true})
	if err != nil {
		return nil, "", err
	}
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
	return p, "Parties", nil
}

// partyPage is one party: who is in it, what is open, and what it has come to.
type partyPage struct {
	control.Party
	Here   []string // members that this host serves
	Values []rule   // of its rules
}

type rule struct{ Name, Value string }

func showParty(a *asking) (any, string, error) {
	self, err := control.Whoami.Ask(a.Context(), a.c.node)
	if err != nil {
		return nil, "", err
	}
	of, err := ask(a, control.ShowParty, control.PartyRequest{Viewing: control.Viewing{For: self.Human.String()}, Party: a.PathValue("id")})
	if err != nil {
		return nil, "", err
	}
	p := partyPage{Party: of}
	for _, m := range of.Members {
		if m.Host == self.Host {
			p.Here = append(p.Here, m.Name)
		}
	}
	for _, name := range protocol.PartyRuleNames() {
		p.Values = append(p.Values, rule{strings.ReplaceAll(name, "_", " "), of.Rules.Get(name)})
	}
	return p, of.Name, nil
}

// Waiting and Decided are what humans are asked in it, and what they have said.
func (p partyPage) Waiting() []control.Gate { return gatesThat(p.Gates, true) }
func (p partyPage) Decided() []control.Gate { return gatesThat(p.Gates, false) }

func gatesThat(gates []control.Gate, wait bool) []control.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g control.Gate) bool {
		return wait == (g.Outcome == party.Accepted || g.Outcome == party.Declined || g.Outcome == party.Answered)
	})
}

// Pending and Settled are the agreements that were put to it.
func (p partyPage) Pending() []control.PartyProposal { return proposals(p.Proposals, true) }
func (p partyPage) Settled() []control.PartyProposal { return proposals(p.Proposals, false) }

func proposals(all []control.PartyProposal, pending bool) []control.PartyProposal {
	return slices.DeleteFunc(slices.Clone(all), func(pr control.PartyProposal) bool { return pending != (pr.Outcome == party.Pending) })
}

// ToDo and Done are its tasks.
func (p partyPage) ToDo() []control.PartyTask { return tasks(p.Tasks, false) }
func (p partyPage) Done() []control.PartyTask { return tasks(p.Tasks, true) }

func tasks(all []control.PartyTask, done bool) []control.PartyTask {
	return slices.DeleteFunc(slices.Clone(all), func(t control.PartyTask) bool { return done != (t.State == "done") })
}

// Missing are those who may vote on an agreement and have not.
func (partyPage) Missing(pr control.PartyProposal) (list []protocol.Address) {
	for _, who := range pr.Voters {
		if !slices.ContainsFunc(pr.Votes, func(v party.Vote) bool { return v.Who == who }) {
			list = append(list, who)
		}
	}
	return list
}

// addTask puts something to do on a party's list, in the name of one of its members.
func addTask(a *asking) (done, error) {
	did, err := ask(a, control.DoInParty, control.PartyDeedRequest{
		Acting: control.Acting{As: a.FormValue("as")}, Party: a.FormValue("party"), Deed: protocol.ActTask, Text: a.FormValue("text"),
	})
	if err != nil {
		return done{}, err
	}
	said := "It is on the list."
	if n := len(did.Party.Tasks); n > 0 {
		said = did.Party.Tasks[n-1].Label.String() + " is on the list."
	}
	return done{Said: said}, nil
}
