package console

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/mesh"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// meshPage is the drawing of who is in parties with whom, and the same in a table.
type meshPage struct {
	Summary string
	Drawing template.HTML
	Lines   []meshLine
}

type meshLine struct {
	control.MeshEdge
	From, To control.MeshNode
}

// Now and Then are what the score is worth now, and what it was when it was given.
func (l meshLine) Now() protocol.Score  { return scoreOf(l.Data, l.Data.Decayed) }
func (l meshLine) Then() protocol.Score { return scoreOf(l.Data, l.Data.Raw) }

func scoreOf(of control.MeshEdgeData, score float64) protocol.Score {
	if !of.Synced {
		return protocol.Score{}
	}
	return protocol.NewScore(score)
}

func showMesh(a *asking) (any, string) {
	var m control.Mesh
	a.err = control.ShowMesh.Ask(a.Context(), a.c.node, control.MeshRequest{}, func(is control.Mesh) error {
		m = is
		return nil
	})
	nodes := map[string]control.MeshNode{}
	for _, n := range m.Nodes {
		nodes[n.ID] = n
	}
	p := meshPage{Summary: mesh.Summary(m)}
	for _, e := range m.Edges {
		if e.Source != e.Target { // an agent is always in sync with itself
			p.Lines = append(p.Lines, meshLine{e, nodeOf(nodes, e.Source), nodeOf(nodes, e.Target)})
		}
	}
	if len(m.Edges) > 0 {
		p.Drawing = template.HTML(mesh.Drawing(m, mesh.Links{ // it lets no markup of others through
			Who:   func(n control.MeshNode) string { return whoPage(n.Label, n.Data.Node) },
			Party: func(e control.MeshEdge) string { return "/party/" + escaped(e.Data.Channel.String()) },
		}))
	}
	return p, "Mesh"
}

// nodeOf is a node of a line; if the mesh does not have it, all that is known is what it is called.
func nodeOf(nodes map[string]control.MeshNode, id string) control.MeshNode {
	if n, ok := nodes[id]; ok {
		return n
	}
	return control.MeshNode{ID: id, Label: id}
}

// whoPage is the address of the page of a participant.
func whoPage(name, host any) string {
	return "/who/" + url.PathEscape(fmt.Sprintf("%v@%v", name, host))
}

// tone is the class of what has a score of that colour. Divergence is no alarm.
func tone(colour topic.Colour) string {
	return map[topic.Colour]string{topic.Green: "good", topic.Amber: "warn", topic.Cyan: "cyan"}[colour]
}

// spark draws the last scores that one gave.
func spark(scores []float64) template.HTML {
	if len(scores) == 0 {
		return ""
	}
	said := make([]string, len(scores))
	for i, score := range scores {
		said[i] = protocol.NewScore(score).Percent()
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %d 20" width="%d" height="20" role="img" aria-label="last scores, worth now: %s"><path class="bars" d="%s"/></svg>`,
		8*len(scores)-2, 8*len(scores)-2, strings.Join(said, ", "), mesh.Bars(scores)))
}

// fits reports whether one of the words has what somebody looks for.
func fits(looked string, words ...string) bool {
	looked = strings.ToLower(strings.TrimSpace(looked))
	return strings.Contains(strings.ToLower(visible.Line(strings.Join(words, "\n"))), looked)
}
