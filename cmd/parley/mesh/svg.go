package mesh

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The measures of a drawing, in units of SVG unless it says something else.
const (
	leastSlot  = 40.0  // length on the circle for one node
	leastR     = 150.0 // least radius of the circle
	dot        = 9.0   // half the size of a node
	inner      = 5.0   // half the size of the mark that a node is there
	letter     = 7.5   // width of a letter, about
	head, foot = 60.0, 62.0
	maxLabel   = 40 // longest name, in columns
	maxWords   = 60 // most edges that show their score: with more, nobody could read it
)

// style is the look of a drawing: dark on white on paper and in a light window, light on black in a
// dark window. Divergence is cyan, and never red (R22).
const style = `<style>
text{font:13px system-ui,sans-serif}
.small{font-size:11px}
.bg{fill:#fff;stroke:none}.ink{fill:#1b1f24}.dim{fill:#57606a}
.node{stroke:#1b1f24}.on{fill:#1b1f24}.off{fill:#fff}
.leads{stroke:#57606a}
.green{stroke:#1a7f37}.amber{stroke:#9a6700}.cyan{stroke:#0e7490}.gray{stroke:#6e7781}
.green,.amber,.cyan,.gray,.leads{fill:none}
marker .green{fill:#1a7f37}marker .amber{fill:#9a6700}marker .cyan{fill:#0e7490}marker .gray{fill:#6e7781}
.score{fill:#1b1f24;stroke:#fff;stroke-width:3px;paint-order:stroke}
@media screen and (prefers-color-scheme:dark){
.bg{fill:#0d1117}.ink{fill:#e6edf3}.dim{fill:#9da7b3}
.node{stroke:#e6edf3}.on{fill:#e6edf3}.off{fill:#0d1117}
.leads{stroke:#9da7b3}
.green{stroke:#3fb950}.amber{stroke:#d29922}.cyan{stroke:#39c5cf}.gray{stroke:#8b949e}
marker .green{fill:#3fb950}marker .amber{fill:#d29922}marker .cyan{fill:#39c5cf}marker .gray{fill:#8b949e}
.score{fill:#e6edf3;stroke:#0d1117}
}
</style>
`

// colours are the colours of edges, and what they mean.
var colours = [...][2]string{{"green", "aligned, 90% or more"}, {"amber", "productive, 70%"}, {"cyan", "divergent, 50%"}, {"gray", "drifted, below"}}

type point struct{ x, y float64 }

func (p point) String() string { return fmt.Sprintf("%.1f %.1f", p.x, p.y) }

func (p point) towards(other point, far float64) point {
	d := math.Hypot(other.x-p.x, other.y-p.y)
	if d == 0 {
		return p
	}
	return point{p.x + (other.x-p.x)*far/d, p.y + (other.y-p.y)*far/d}
}

// bezier is a point of the curve between two points, bent towards `middle`.
func bezier(from, middle, to point, t float64) point {
	a, b, c := (1-t)*(1-t), 2*t*(1-t), t*t
	return point{a*from.x + b*middle.x + c*to.x, a*from.y + b*middle.y + c*to.y}
}

// safe is a text of others in a form in which it can be in a drawing: visible, in one line, without
// markup.
func safe(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(term.Line(text))); err != nil {
		return "" // a strings.Builder accepts everything
	}
	return b.String()
}

// drawing is a mesh as an SVG. Its nodes are on a circle, those of a host side by side. The same
// mesh gives the same bytes.
func drawing(m control.Mesh) string {
	nodes := slices.Clone(m.Nodes)
	slices.SortFunc(nodes, func(a, b control.MeshNode) int {
		return cmp.Or(cmp.Compare(a.Data.Node, b.Data.Node), -cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
	})
	places, centre, size := layout(nodes)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-labelledby="title">`+"\n", size.x, size.y, size.x, size.y)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n%s<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n<defs>\n", safe(summary(m)), style)
	for _, c := range colours {
		fmt.Fprintf(&b, `<marker id="to-%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="%s" d="M0 0 8 4 0 8z"/></marker>`+"\n", c[0], c[0])
	}
	fmt.Fprintf(&b, "</defs>\n<text class=\"ink\" x=\"20\" y=\"28\">%s</text>\n<text class=\"dim small\" x=\"20\" y=\"46\">%s</text>\n",
		safe(summary(m)), safe("as of "+m.Time.UTC().Format("2006-01-02 15:04 UTC")))
	drawEdges(&b, m, places, centre)
	for _, n := range nodes {
		drawNode(&b, n, places[n.ID], centre)
	}
	drawLegend(&b, size)
	b.WriteString("</svg>\n")
	return b.String()
}

// layout says where nodes are. They are on a circle, with a free place between hosts, so that there
// is room for their names around it.
func layout(nodes []control.MeshNode) (places map[string]point, centre, size point) {
	slots, wide := 0, 0
	at := make([]int, len(nodes))
	for i, n := range nodes {
		if i > 0 && n.Data.Node != nodes[i-1].Data.Node {
			slots++
		}
		at[i] = slots
		slots++
		wide = max(wide, term.Width(label(n)), term.Width(about(n)))
	}
	if len(nodes) > 0 && nodes[0].Data.Node != nodes[len(nodes)-1].Data.Node {
		slots++
	}
	slot := max(leastSlot, 0.9*float64(wide)*letter) // above and below the circle, names are side by side
	radius := max(leastR, float64(slots)*slot/(2*math.Pi))
	margin := 40 + float64(wide)*letter
	size = point{max(640, 2*(radius+margin)), head + 2*(radius+50) + foot}
	centre = point{size.x / 2, head + radius + 50}
	places = map[string]point{}
	for i, n := range nodes {
		angle := -math.Pi/2 + 2*math.Pi*float64(at[i])/float64(slots)
		places[n.ID] = point{centre.x + radius*math.Cos(angle), centre.y + radius*math.Sin(angle)}
	}
	return places, centre, size
}

func label(n control.MeshNode) string { return term.Cut(term.Line(n.Label), maxLabel) }

// about is the text below the name.
func about(n control.MeshNode) string {
	if n.Data.Status == "" {
		return term.Line(n.Data.Node.String())
	}
	return term.Line(n.Data.Node.String() + " · " + n.Data.Status)
}

// drawNode draws a node. An agent is round, with a dot while it is there, and a border that shows
// how far it is trusted. A human is square.
func drawNode(b *strings.Builder, n control.MeshNode, at, centre point) {
	fill := "off"
	if n.Type != typeAgent || n.Data.Status == string(protocol.PresenceActive) || n.Data.Status == string(protocol.PresenceBusy) {
		fill = "on"
	}
	border := map[topic.Trust]string{topic.TrustHigh: ` stroke-width="3"`, topic.TrustInitial: ` stroke-dasharray="4 3"`, topic.TrustUncalibrated: ` stroke-dasharray="1 3"`}[n.Data.Trust]
	tip := n.Label + " on " + n.Data.Node.String()
	if n.Data.Trust != "" {
		tip += ", " + n.Data.Status + ", trust " + string(n.Data.Trust)
	}
	fmt.Fprintf(b, "<g><title>%s</title>", safe(tip))
	if n.Type == typeAgent {
		fmt.Fprintf(b, `<circle class="node off" cx="%.1f" cy="%.1f" r="%g"%s/>`, at.x, at.y, dot, border)
		fmt.Fprintf(b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%g"/>`, fill, at.x, at.y, inner)
	} else {
		fmt.Fprintf(b, `<rect class="node %s" x="%.1f" y="%.1f" width="%g" height="%g"/>`, fill, at.x-dot, at.y-dot, 2*dot, 2*dot)
	}
	text, anchor := at.towards(centre, -dot-12), "middle"
	switch side := (at.x - centre.x) / math.Hypot(at.x-centre.x, at.y-centre.y); {
	case side > 0.3:
		anchor = "start"
	case side < -0.3:
		anchor = "end"
	case at.y < centre.y:
		text.y -= 14 // both lines are above the node
	default:
		text.y += 6
	}
	fmt.Fprintf(b, `<text class="ink" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, anchor, text.x, text.y, safe(label(n)))
	fmt.Fprintf(b, `<text class="dim small" text-anchor="%s" x="%.1f" y="%.1f">%s</text></g>`+"\n", anchor, text.x, text.y+14, safe(about(n)))
}

// drawEdges draws what is between nodes: who leads through whom, and each score, from the asker to
// the one who answered. Edges of one pair are bent differently, so that none hides another.
func drawEdges(b *strings.Builder, m control.Mesh, places map[string]point, centre point) {
	type pair struct{ from, to string }
	drawn := map[pair]int{}
	var scores strings.Builder
	for _, e := range m.Edges {
		leads := pair{e.Data.Leader, e.Source}
		from, known := places[leads.from]
		if to, also := places[leads.to]; known && also && e.Data.Direction == forwards && drawn[leads] == 0 {
			drawn[leads] = 1
			fmt.Fprintf(b, `<path class="leads" stroke-dasharray="2 4" d="M%s L%s"/>`+"\n", from.towards(to, dot), to.towards(from, dot))
		}
	}
	for _, e := range m.Edges {
		from, known := places[e.Source]
		to, also := places[e.Target]
		if !known || !also || e.Source == e.Target {
			continue
		}
		bend := 12 + 22*float64(drawn[pair{e.Source, e.Target}])
		drawn[pair{e.Source, e.Target}]++
		middle := point{(from.x + to.x) / 2, (from.y + to.y) / 2}
		middle = point{middle.x + (centre.x-middle.x)*0.4, middle.y + (centre.y-middle.y)*0.4}
		if d := math.Hypot(to.x-from.x, to.y-from.y); d > 0 {
			middle.x, middle.y = middle.x-(to.y-from.y)/d*bend, middle.y+(to.x-from.x)/d*bend
		}
		dashes := ""
		if e.Data.Dashed {
			dashes = ` stroke-dasharray="7 5"`
		}
		colour := colourOf(e)
		fmt.Fprintf(b, `<path class="%s" stroke-width="2" opacity="%.3g"%s marker-end="url(#to-%s)" d="M%s Q%s %s"><title>%s</title></path>`+"\n",
			colour, e.Data.Opacity, dashes, colour, from.towards(middle, dot), middle, to.towards(middle, dot+2), safe(tip(e)))
		if len(m.Edges) <= maxWords {
			at := bezier(from, middle, to, 0.7) // near the one whose score it is: many lines begin at the other end
			fmt.Fprintf(&scores, `<text class="score small" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`+"\n", at.x, at.y+4, safe(decayed(e)))
		}
	}
	b.WriteString(scores.String())
}

// colourOf is the colour of an edge; gray if this version does not know it.
func colourOf(e control.MeshEdge) string {
	for _, c := range colours {
		if c[0] == string(e.Data.Colour) {
			return c[0]
		}
	}
	return "gray"
}

func tip(e control.MeshEdge) string {
	text := e.Source + " → " + e.Target + ", " + e.Data.Topic + ": "
	if !e.Data.Synced {
		return text + "never synced"
	}
	return text + fmt.Sprintf("%s, now %s, last sync %s, asked by %s", raw(e), decayed(e), e.Data.LastSync.UTC().Format(time.RFC3339), e.Data.Observer)
}

// raw and decayed are the scores of an edge; a dash if it was never synced.
func raw(e control.MeshEdge) string     { return percent(e, e.Data.Raw) }
func decayed(e control.MeshEdge) string { return percent(e, e.Data.Decayed) }

func percent(e control.MeshEdge, score float64) string {
	if !e.Data.Synced {
		return cli.Percent(protocol.Score{})
	}
	return cli.Percent(protocol.NewScore(score))
}

// drawLegend says below the drawing what its lines mean: on paper, nobody can point at a line.
func drawLegend(b *strings.Builder, size point) {
	x, y := 20.0, size.y-36
	line := func(look, words string) {
		fmt.Fprintf(b, `<path %s stroke-width="2" d="M%.1f %.1f h26"/><text class="dim small" x="%.1f" y="%.1f">%s</text>`+"\n", look, x, y, x+32, y+4, safe(words))
		x += 44 + float64(term.Width(words))*6.4
	}
	for _, c := range colours {
		line(`class="`+c[0]+`"`, c[1])
	}
	x, y = 20, y+20
	line(`class="gray" stroke-dasharray="7 5"`, "older than three half-lives")
	line(`class="leads" stroke-dasharray="2 4"`, "leads through")
	line(`class="gray" opacity="0.3"`, "paler: worth less by now")
}
