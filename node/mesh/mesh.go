// Package mesh makes a graph of parties, and says what changed from one graph to the next. It needs
// nothing but what a party shows of itself. So the graph and the table of the party's members never
// differ.
package mesh

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The types, directions, states and roles that the mesh writes or compares.
const (
	typeAgent = "agent"
	typeHuman = "human"

	forwards  = "forward"
	backwards = "back"

	stateActive   = "active"
	roleInitiator = "initiator"
	roleMember    = "member"
)

// Score is one result of a sync-check: `By` answered it to `Asker`.
type Score struct {
	By, Asker string
	Host      string // of Asker; "" if nobody says it
	Raw       float64
	At        time.Time
	Trust     topic.Trust // the trust of Asker in By
}

// Party is a party as it is shown, with the scores on its topic in the order of time.
type Party struct {
	control.Party
	Scores []Score
	Synced map[string]time.Time // when each member was last scored, on whatever topic
}

// Of makes the mesh of parties at a time. Parties that have not begun, or are over, have no part in
// it.
func Of(parties []Party, now time.Time) control.Mesh {
	nodes := map[string]control.MeshNode{}
	is := map[string]*known{}
	m := control.Mesh{Nodes: []control.MeshNode{}, Edges: []control.MeshEdge{}, Time: now.UTC()}
	for _, p := range parties {
		if p.State != stateActive {
			continue
		}
		leader := control.MeshNode{ID: p.Leader + "@" + p.Host.String(), Label: p.Leader, Type: typeHuman, Data: control.MeshNodeData{Node: p.Host}}
		nodes[leader.ID] = leader
		for _, member := range p.Members {
			if is[member.Name] == nil {
				is[member.Name] = &known{}
			}
			nodes[member.Name] = joined(nodes[member.Name], is[member.Name], p, member)
			m.Edges = append(m.Edges, forward(p, member, leader.ID, now))
			if edge, ok := back(p, member, leader.ID, now); ok {
				m.Edges = append(m.Edges, edge)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		m.Nodes = append(m.Nodes, nodes[id])
	}
	slices.SortFunc(m.Edges, func(a, b control.MeshEdge) int {
		return cmp.Or(cmp.Compare(a.Data.Topic, b.Data.Topic), cmp.Compare(a.ID, b.ID))
	})
	return m
}

// known is how new what a node shows of its member is.
type known struct {
	said, scored time.Time // its status, and its score on the topic of a party
	synced       bool      // it was scored, on whatever topic
}

// joined is the node of a member after one more of its parties was taken in. It shows the newest
// status, the trust of who last scored it, and when it was last scored, on whatever topic. If it
// never was, that is when it joined (R23).
func joined(n control.MeshNode, is *known, p Party, m control.PartyMember) control.MeshNode {
	isNew := n.ID == ""
	n.ID, n.Label, n.Type = m.Name, m.Name, typeAgent
	if isNew || m.Since.After(is.said) {
		is.said = m.Since
		n.Data.Node, n.Data.Status = m.Host, m.Status
	}
	if isNew || m.LastSync.After(is.scored) || is.scored.IsZero() && n.Data.Trust == topic.TrustUncalibrated {
		is.scored, n.Data.Trust = m.LastSync, m.Trust
	}
	last := m.LastSync
	if synced := p.Synced[m.Name]; synced.After(last) {
		last = synced
	}
	switch {
	case last.IsZero() && !is.synced:
		last = m.Joined
	case !last.IsZero() && !is.synced:
		is.synced, n.Data.LastSync = true, time.Time{}
	}
	if last.After(n.Data.LastSync) {
		n.Data.LastSync = last.UTC()
	}
	return n
}

// source is the node from which a party is led: the agent of its leader, or the human once that
// agent has left. So no edge comes from nobody.
func source(p Party, leader string) string {
	for _, m := range p.Members {
		if m.Role == roleInitiator || m.Name == p.Via && m.Host == p.Host {
			return m.Name
		}
	}
	return leader
}

// edge is what all edges between a party and a member have in common.
func edge(p Party, m control.PartyMember, leader, direction string) control.MeshEdge {
	return control.MeshEdge{
		ID: p.Channel.String() + "/" + m.Name + "@" + m.Host.String() + "/" + direction,
		Data: control.MeshEdgeData{
			Direction: direction, Party: p.Short, Channel: p.Channel, Leader: leader, Topic: p.Name, Anchor: p.Anchor, Team: p.Team, Role: m.Role, Trust: m.Trust,
			Lambda: p.Rules.DecayLambda, LastSync: m.Joined.UTC(), Colour: topic.Gray, Opacity: topic.Opacity(0), Sparkline: []float64{},
		},
	}
}

// scored is an edge with a score, at its present worth.
func scored(e control.MeshEdge, s Score, now time.Time) control.MeshEdge {
	lambda := topic.Lambda{Value: e.Data.Lambda, Tier: topic.TierRule}
	d := &e.Data
	d.Synced, d.Raw, d.LastSync, d.Observer, d.ObserverNode = true, s.Raw, s.At.UTC(), s.Asker, s.Host
	d.Decayed = lambda.Decayed(s.Raw, s.At, now)
	d.Colour, d.Opacity, d.Dashed = topic.ColourOf(protocol.NewScore(d.Decayed)), topic.Opacity(d.Decayed), lambda.Faded(s.At, now)
	return e
}

func last(scores []Score, fits func(Score) bool) (Score, bool) {
	for _, s := range slices.Backward(scores) {
		if fits(s) {
			return s, true
		}
	}
	return Score{}, false
}

// forward is the edge from the source of a party to a member. It shows the last score that the
// member gave on the topic, whoever asked it (R23).
func forward(p Party, m control.PartyMember, leader string, now time.Time) control.MeshEdge {
	e := edge(p, m, leader, forwards)
	e.Source, e.Target = source(p, leader), m.Name
	e.Data.Sparkline = append(e.Data.Sparkline, m.Sparkline...)
	if s, ok := last(p.Scores, func(s Score) bool { return s.By == m.Name }); ok {
		e = scored(e, s, now)
	}
	return e
}

// back is the edge from a member to the source of a party. It shows what the source answered
// when the member asked. This score and that of the edge forward differ, and both hold.
func back(p Party, m control.PartyMember, leader string, now time.Time) (control.MeshEdge, bool) {
	of := source(p, leader)
	s, ok := last(p.Scores, func(s Score) bool { return s.By == of && s.Asker == m.Name && m.Name != of })
	if !ok {
		return control.MeshEdge{}, false
	}
	e := edge(p, m, leader, backwards)
	e.Source, e.Target = m.Name, of
	e.Data.Trust, e.Data.Role = s.Trust, roleMember
	for _, other := range p.Members {
		if other.Name == of {
			e.Data.Role = other.Role
		}
	}
	return scored(e, s, now), true
}

// Changes returns what the mesh `is` has that `was` had not, or had otherwise, and what of `was` is
// gone. `changed` is false if there is nothing of that. What changes only with the time is no
// change: a reader that draws a mesh computes it each time.
func Changes(was, is control.Mesh) (change control.Mesh, changed bool) {
	change = control.Mesh{Time: is.Time}
	gone := control.MeshGone{}
	change.Nodes, gone.Nodes = differing(was.Nodes, is.Nodes, func(n control.MeshNode) string { return n.ID }, func(a, b control.MeshNode) bool { return a == b })
	change.Edges, gone.Edges = differing(was.Edges, is.Edges, func(e control.MeshEdge) string { return e.ID }, sameEdge)
	if len(gone.Nodes)+len(gone.Edges) > 0 {
		change.Gone = &gone
	}
	return change, len(change.Nodes)+len(change.Edges) > 0 || change.Gone != nil
}

// differing returns the values of `is` that `was` has not, or has otherwise, and the ids of those
// that only `was` has.
func differing[T any](was, is []T, id func(T) string, same func(a, b T) bool) (other []T, gone []string) {
	other, gone = []T{}, []string{}
	before := map[string]T{}
	for _, v := range was {
		before[id(v)] = v
	}
	for _, v := range is {
		if old, had := before[id(v)]; !had || !same(old, v) {
			other = append(other, v)
		}
		delete(before, id(v))
	}
	return other, append(gone, slices.Sorted(maps.Keys(before))...)
}

// sameEdge reports whether two edges are equal, except for what changes with the time.
func sameEdge(a, b control.MeshEdge) bool {
	timeless := func(d control.MeshEdgeData) control.MeshEdgeData {
		d.Decayed, d.Colour, d.Opacity, d.Dashed, d.Sparkline = 0, "", 0, false, nil
		return d
	}
	return a.Source == b.Source && a.Target == b.Target && reflect.DeepEqual(timeless(a.Data), timeless(b.Data))
}
