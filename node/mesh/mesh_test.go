package mesh

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	leaf "github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var seen = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

func ago(hours float64) time.Time { return seen.Add(-time.Duration(hours * float64(time.Hour))) }

// member returns a member whose last score is so many hours old. If raw is below 0, the member was
// never synced.
func member(id string, node protocol.Name, raw, hours float64) control.PartyMember {
	m := control.PartyMember{Member: leaf.Member{Name: id, Host: node, Joined: ago(200), Since: ago(200)}, Status: "active", Role: "member", Trust: "uncalibrated", Sparkline: []float64{}}
	if raw >= 0 {
		m.Raw, m.LastSync, m.Trust, m.Sparkline = protocol.NewScore(raw), ago(hours), "high", []float64{raw}
	}
	return m
}

// party returns a party on host a that nat leads through skills.
func party(channel protocol.ChannelID, name string, lambda float64, members ...control.PartyMember) Party {
	p := Party{Party: control.Party{
		Name: name, Short: strings.ReplaceAll(name, " ", "-"), Channel: channel, Host: "a", State: "active", Leader: "nat", Via: "skills", Team: "core",
		Anchor: "nat/maw-js#332", Rules: protocol.DefaultPartyRules(),
	}}
	p.Rules.DecayLambda = lambda
	via := member("skills", "a", -1, 0)
	via.Role = "initiator"
	p.Members = append([]control.PartyMember{via}, members...)
	for _, m := range members {
		if raw, ok := m.Raw.Value(); ok {
			p.Scores = append(p.Scores, Score{By: m.Name, Asker: "skills", Host: "a", Raw: raw, At: m.LastSync})
		}
	}
	return p
}

// two returns two parties of agents of two hosts.
func two() []Party {
	design := party("c1", "tmux design", 0.01, member("mawjs", "b", 0.95, 12), member("volt", "b", -1, 0))
	// mawjs asked too, and got other scores from skills than it gave.
	design.Scores = append(design.Scores, Score{By: "skills", Asker: "mawjs", Host: "b", Raw: 0.6, At: ago(10), Trust: "medium"},
		Score{By: "skills", Asker: "mawjs", Host: "b", Raw: 0.4, At: ago(2), Trust: "medium"})
	late := member("mawjs", "b", 0.5, 1)
	late.Status, late.Since, late.Trust = "busy", ago(3), "medium"
	return []Party{design, party("c2", "release", 0.1, late)}
}

func edgeOf(t *testing.T, m control.Mesh, id string) control.MeshEdge {
	t.Helper()
	for _, e := range m.Edges {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("there is no edge %s", id)
	return control.MeshEdge{}
}

// Work-with W139, W146: nodes are the members of all parties, of all hosts, each once, and the
// humans who lead the parties. Each node has what is known of it over all its parties, and no
// place.
func TestNodesAreMembersAndTheHumanWhoLeads(t *testing.T) {
	m := Of(two(), seen)
	got := map[string]control.MeshNode{}
	for _, n := range m.Nodes {
		got[n.ID] = n
	}
	want := map[string]control.MeshNode{
		"nat@a":  {ID: "nat@a", Label: "nat", Type: "human", Data: control.MeshNodeData{Node: "a"}},
		"skills": {ID: "skills", Label: "skills", Type: "agent", Data: control.MeshNodeData{Node: "a", Status: "active", Trust: "uncalibrated", LastSync: ago(200)}},
		"mawjs":  {ID: "mawjs", Label: "mawjs", Type: "agent", Data: control.MeshNodeData{Node: "b", Status: "busy", Trust: "medium", LastSync: ago(1)}},
		"volt":   {ID: "volt", Label: "volt", Type: "agent", Data: control.MeshNodeData{Node: "b", Status: "active", Trust: "uncalibrated", LastSync: ago(200)}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(m.Nodes) != len(want) {
		t.Error(len(m.Nodes), diff)
	}
	if b, err := json.Marshal(m); err != nil || strings.Contains(string(b), "position") {
		t.Errorf("%v: %s says where nodes are drawn", err, b)
	}
}

// It prevents: the trust and the last sync of an agent fall back to nothing when it joins another
// party, or show only one party's topic.
func TestANodeKeepsWhatIsKnownOfIt(t *testing.T) {
	newcomer := member("mawjs", "b", -1, 0) // in a party on whose topic it was never scored
	newcomer.Joined = ago(1)
	design := party("c1", "tmux design", 0.01, member("mawjs", "b", 0.95, 12))
	elsewhere := party("c2", "release", 0.1, newcomer)
	elsewhere.Synced = map[string]time.Time{"mawjs": ago(12)}
	related := newcomer // its relation with who leads this party is known from other topics
	related.Trust = "medium"
	alone := party("c3", "ports", 0.1, related)
	alone.Synced = elsewhere.Synced
	for _, c := range []struct {
		parties []Party
		trust   topic.Trust
	}{{[]Party{design, elsewhere}, "high"}, {[]Party{elsewhere, design}, "high"}, {[]Party{alone}, "medium"}, {[]Party{elsewhere, alone}, "medium"}} {
		for _, n := range Of(c.parties, seen).Nodes {
			if n.ID == "mawjs" && (n.Data.Trust != c.trust || !n.Data.LastSync.Equal(ago(12))) {
				t.Errorf("%d parties: trust %s, last sync %s", len(c.parties), n.Data.Trust, n.Data.LastSync)
			}
		}
	}
}

// It prevents: lines to nobody, and a drawing without lines, once the agent through which the party
// is led has left.
func TestEdgesBeginAtNodes(t *testing.T) {
	ps := two()
	for i := range ps {
		ps[i].Members = ps[i].Members[1:]
	}
	m := Of(ps, seen)
	nodes := map[string]bool{}
	for _, n := range m.Nodes {
		nodes[n.ID] = true
	}
	for _, e := range m.Edges {
		if !nodes[e.Source] || !nodes[e.Target] {
			t.Errorf("%s leads from %q to %q, and the nodes are %v", e.ID, e.Source, e.Target, nodes)
		}
	}
	if e := edgeOf(t, m, "c1/mawjs@b/forward"); e.Source != "nat@a" || len(m.Edges) != 3 {
		t.Errorf("%d edges, that of mawjs from %q", len(m.Edges), e.Source)
	}
}

// Work-with W140, W126, W130: each party and member has an edge, from the agent through which the
// party is led, with what the seed names. It prevents: the mean of a mesh counts a member that was
// never synced as 0.
func TestEdgesAreOfEachPartyAndMember(t *testing.T) {
	ps := two()
	ps[1].Rules.DecayLambda = 0
	m := Of(ps, seen)
	forth := 0
	for _, e := range m.Edges {
		if e.Data.Direction == forwards {
			forth++
		}
	}
	if forth != 5 {
		t.Errorf("%d edges forward, not one for each of 2 parties' 3 and 2 members", forth)
	}
	want := control.MeshEdge{ID: "c1/mawjs@b/forward", Source: "skills", Target: "mawjs", Data: control.MeshEdgeData{
		Direction: forwards, Party: "tmux-design", Channel: "c1", Leader: "nat@a", Topic: "tmux design", Anchor: "nat/maw-js#332", Team: "core", Role: "member", Trust: "high",
		Synced: true, Raw: 0.95, Decayed: 0.843, Lambda: 0.01, LastSync: ago(12), Observer: "skills", ObserverNode: "a", Colour: "amber", Opacity: 0.859, Sparkline: []float64{0.95},
	}}
	if diff := cmp.Diff(want, edgeOf(t, m, want.ID)); diff != "" {
		t.Error(diff)
	}
	if e := edgeOf(t, m, "c2/mawjs@b/forward").Data; e.Decayed != 0.5 || e.Colour != "cyan" || e.Dashed {
		t.Errorf("a score that does not decay is worth %g, %s", e.Decayed, e.Colour)
	}
	never := edgeOf(t, m, "c1/volt@b/forward").Data
	if never.Synced || never.Raw != 0 || !never.LastSync.Equal(ago(200)) || never.Colour != "gray" || never.Opacity != 0.1 || never.Observer != "" {
		t.Errorf("who was never synced: %+v", never)
	}
	if own := edgeOf(t, m, "c1/skills@a/forward"); own.Source != own.Target || own.Data.Role != roleInitiator {
		t.Errorf("the one through whom it is led: %+v", own)
	}
}

// It prevents: after the leader's agent has left, the lines of its party come from nobody. They
// come from the human then, who leads it still, until that agent is a member again.
func TestNoLineLeadsToNobody(t *testing.T) {
	ps := two()
	for i := range ps {
		ps[i].Members = ps[i].Members[1:] // skills left
	}
	namesake := member("skills", "b", 0.8, 1) // another agent of this name, on another host
	ps[1].Members = append(ps[1].Members, namesake)
	m := Of(ps, seen)
	there := map[string]bool{}
	for _, n := range m.Nodes {
		there[n.ID] = true
	}
	for _, e := range m.Edges {
		if !there[e.Source] || !there[e.Target] || e.Source != "nat@a" || e.Data.Direction != forwards {
			t.Errorf("%s: from %s to %s", e.ID, e.Source, e.Target)
		}
	}
	if len(m.Edges) != 4 {
		t.Errorf("%d edges, not one for each party and member", len(m.Edges))
	}
	ps[0].Members = append(ps[0].Members, member("skills", "a", -1, 0)) // it came back, and is no initiator any more
	if e := edgeOf(t, Of(ps, seen), "c1/mawjs@b/forward"); e.Source != "skills" {
		t.Errorf("after it came back: %+v", e)
	}
}

// Work-with W136, W145: what each of two agents says of the other has an edge of its own, with the
// agent that observed it and its host.
func TestBothDirectionsAreKept(t *testing.T) {
	m := Of(two(), seen)
	e := edgeOf(t, m, "c1/mawjs@b/back")
	if e.Source != "mawjs" || e.Target != "skills" || e.Data.Raw != 0.4 || e.Data.Observer != "mawjs" || e.Data.ObserverNode != "b" || e.Data.Trust != "medium" ||
		e.Data.Role != roleInitiator {
		t.Errorf("%+v", e)
	}
	if forth := edgeOf(t, m, "c1/mawjs@b/forward").Data; forth.Raw != 0.95 || forth.Observer != "skills" {
		t.Errorf("the other direction: %+v", forth)
	}
	if len(m.Edges) != 6 {
		t.Errorf("%d edges: who did not ask has no edge back", len(m.Edges))
	}
}

// Work-with W137, W138: the colour of an edge, and how strongly it is drawn, go by the decayed
// score. A bound belongs to the upper colour, and nothing is red. An edge that is older than three
// half-lives is dashed.
func TestHowEdgesAreDrawn(t *testing.T) {
	halfLife := math.Ln2 / 0.01
	for _, test := range []struct {
		raw, hours float64
		colour     topic.Colour
		opacity    float64
		dashed     bool
	}{
		{1, 0, "green", 1, false}, {0.9, 0, "green", 0.91, false}, {0.899, 0, "amber", 0.909, false}, {0.7, 0, "amber", 0.73, false},
		{0.5, 0, "cyan", 0.55, false}, {0.499, 0, "gray", 0.549, false}, {0, 0, "gray", 0.1, false}, {1, halfLife, "cyan", 0.55, false},
		{1, 3*halfLife - 1, "gray", 0.213, false}, {1, 3*halfLife + 1, "gray", 0.212, true}, {1, -5, "green", 1, false},
	} {
		m := Of([]Party{party("c1", "x", 0.01, member("mawjs", "b", test.raw, test.hours))}, seen)
		d := edgeOf(t, m, "c1/mawjs@b/forward").Data
		if d.Colour != test.colour || d.Opacity != test.opacity || d.Dashed != test.dashed {
			t.Errorf("%g of %g hours ago is %s, %g, dashed %v", test.raw, test.hours, d.Colour, d.Opacity, d.Dashed)
		}
	}
}

// A party that has not begun, or is over, has no part in the mesh, and nothing is null.
func TestOnlyPartiesThatAreOn(t *testing.T) {
	ps := two()
	ps[0].State, ps[1].State = "proposed", "closed"
	m := Of(ps, seen)
	if b, err := json.Marshal(m); err != nil || string(b) != `{"nodes":[],"edges":[],"ts":"2026-04-17T12:00:00Z"}` {
		t.Errorf("%v %s", err, b)
	}
}

// Work-with W142: a change has what is new, different or gone, and time alone changes nothing. It
// prevents: every edge is told again whenever anything happens, because each score has decayed.
func TestChangesAreWhatDiffers(t *testing.T) {
	was := Of(two(), seen)
	if c, changed := Changes(was, Of(two(), seen.Add(48*time.Hour))); changed {
		t.Errorf("two days alone change %+v", c)
	}
	ps := two()
	ps[0].Members = ps[0].Members[:2] // volt left
	ps[1].Members[1].Status, ps[1].Members[1].Since = "away", ago(0)
	ps[1].Scores = append(ps[1].Scores, Score{By: "mawjs", Asker: "skills", Host: "a", Raw: 0.8, At: ago(0)})
	is := Of(ps, seen)
	c, changed := Changes(was, is)
	if !changed || len(c.Nodes) != 1 || c.Nodes[0].ID != "mawjs" || c.Nodes[0].Data.Status != "away" || len(c.Edges) != 1 || c.Edges[0].Data.Raw != 0.8 {
		t.Fatalf("%v %+v", changed, c)
	}
	if diff := cmp.Diff(&control.MeshGone{Nodes: []string{"volt"}, Edges: []string{"c1/volt@b/forward"}}, c.Gone); diff != "" {
		t.Error(diff)
	}
	if c, _ := Changes(is, was); c.Gone != nil || len(c.Nodes) != 2 || len(c.Edges) != 2 {
		t.Errorf("the way back: %+v", c)
	}
}
