package mesh

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The measures of a drawing, in units of SVG unless it says something else.
const (
	text, small = 13.0, 11.0 // sizes of letters
	edgeOfAll   = 20.0       // free around all
	leastWide   = 440.0      // of a drawing
	headline    = 64.0       // height of the title
	laneHead    = 26.0       // height of a host's name
	gap         = 10.0       // between cards, and between a card and the border of its lane
	glyph       = 7.0        // half the size of the mark of a node
	slot, thin  = 18.0, 7.0  // height of an end of a line, with and without words
	scoreWide   = 42.0       // width of a score
	maxLabel    = 40         // longest name of a node, in columns
	maxParty    = 28         // longest name of a party, in columns
)

// Style is the look of a drawing: dark on white on paper and in a light window, light on black in a
// dark window. Divergence is cyan, and never red (R22). Whoever sees some colours badly tells the
// four by how light they are.
const Style = `text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.small{font-size:11px}.name,.score{font-weight:600}
.bg{fill:#fff}.ink,.score{fill:#1b1f24}.dim{fill:#57606a}
.lane{fill:#f3f5f8;stroke:#dde2e8}.card{fill:#fff;stroke:#c5ccd4}
.node{stroke:#1b1f24}.on{fill:#1b1f24}.off{fill:#fff}
.green{stroke:#116b36}.amber{stroke:#cc7a00}.cyan{stroke:#009fe0}.gray{stroke:#7a828c}.leads{stroke:#57606a}
.green,.amber,.cyan,.gray,.leads{fill:none}
marker .green{fill:#116b36}marker .amber{fill:#cc7a00}marker .cyan{fill:#009fe0}marker .gray{fill:#7a828c}
@media screen and (prefers-color-scheme:dark){
.bg{fill:#0d1117}.ink,.score{fill:#e6edf3}.dim{fill:#9da7b3}
.lane{fill:#151b23;stroke:#262e38}.card{fill:#0d1117;stroke:#3d4651}
.node{stroke:#e6edf3}.on{fill:#e6edf3}.off{fill:#0d1117}
.green{stroke:#2ea043}.amber{stroke:#f2b04a}.cyan{stroke:#7fd9ff}.gray{stroke:#7d8590}.leads{stroke:#9da7b3}
marker .green{fill:#2ea043}marker .amber{fill:#f2b04a}marker .cyan{fill:#7fd9ff}marker .gray{fill:#7d8590}
}
`

// Links are the pages to which the parts of a drawing lead.
type Links struct {
	Who   func(control.MeshNode) string // a participant
	Party func(control.MeshEdge) string // the party of a line
}

// moment is the form of times: a drawing is seen in other zones too.
const moment = "2006-01-02 15:04 UTC"

// colours are the colours of edges, and what they mean.
var colours = [...][2]string{{"green", "aligned, 90% or more"}, {"amber", "productive, 70%"}, {"cyan", "divergent, 50%"}, {"gray", "drifted, below"}}

// safe is a text of others in a form in which it can be in a drawing: visible, in one line, without
// markup.
func safe(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(term.Line(text))); err != nil {
		return "" // a strings.Builder accepts everything
	}
	return b.String()
}

// breadth is how wide a text is, about, and rather too much than too little.
func breadth(text string, size float64) float64 {
	wide := 0.0
	for _, r := range text {
		switch columns := term.Width(string(r)); {
		case columns != 1:
			wide += 0.6 * float64(columns)
		case strings.ContainsRune("fijlrtI.,:;'|!()[] ·-", r):
			wide += 0.42
		case strings.ContainsRune("mwMW%@…—", r):
			wide += 1
		case unicode.IsUpper(r), r > unicode.MaxLatin1:
			wide += 0.8
		default:
			wide += 0.64
		}
	}
	return wide * size
}

// drawing is a mesh as an SVG. The same mesh gives the same bytes.
func drawing(m control.Mesh) string {
	f := place(m)
	legend := f.legend()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-labelledby="title">`+"\n", f.w, f.h, f.w, f.h)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<style>\n%s</style>\n<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n", safe(Summary(m)), Style)
	fmt.Fprintf(&b, "<text class=\"ink name\" x=\"%g\" y=\"30\">%s</text>\n<text class=\"dim small\" x=\"%g\" y=\"48\">%s</text>\n",
		edgeOfAll, safe(Summary(m)), edgeOfAll, "as of "+m.Time.UTC().Format(moment))
	f.draw(&b, Links{})
	b.WriteString(legend + "</svg>\n")
	return b.String()
}

// Drawing is the same as a part of a page that has Style for its class mesh, and says itself what it
// is about. Nodes and lines lead to other pages, and whoever comes to a line sees its scores.
func Drawing(m control.Mesh, to Links) string {
	f := place(m)
	legend := f.legend()
	var b strings.Builder
	const top = headline - 2*gap
	fmt.Fprintf(&b, `<svg class="mesh" viewBox="0 %g %.0f %.0f" width="%.0f" height="%.0f" role="group" aria-label="%s">`+"\n", top, f.w, f.h-top, f.w, f.h-top, safe(Summary(m)))
	f.draw(&b, to)
	b.WriteString(legend)
	for _, l := range f.lines { // above all else, so that nothing lies on what is shown of a line
		if !l.leads {
			fmt.Fprintf(&b, `<a class="edge" href="%s" aria-label="%s"><path class="hit" d="%s"/>`, safe(to.Party(l.MeshEdge)), safe(tip(l.MeshEdge)), l.path())
			f.tell(&b, l)
			b.WriteString("</a>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws hosts with their nodes, and lines.
func (f *figure) draw(b *strings.Builder, to Links) {
	b.WriteString("<defs>\n")
	for _, c := range colours {
		fmt.Fprintf(b, `<marker id="to-%s" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto"><path class="%s" stroke="none" d="M0 0 8 4 0 8z"/></marker>`+"\n", c[0], c[0])
	}
	b.WriteString("</defs>\n")
	for _, column := range f.columns {
		for _, l := range column {
			fmt.Fprintf(b, `<rect class="lane" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/><text class="dim small" x="%.1f" y="%.1f">%s</text>`+"\n",
				l.x, l.y, l.w, l.h, l.x+gap, l.y+17, safe(l.host))
		}
	}
	for _, column := range f.columns {
		for _, l := range column {
			for _, c := range l.cards {
				if to.Who == nil {
					c.draw(b)
					continue
				}
				fmt.Fprintf(b, `<a href="%s">`, safe(to.Who(c.MeshNode)))
				c.draw(b)
				b.WriteString("</a>\n")
			}
		}
	}
	for _, l := range f.lines {
		l.draw(b)
	}
}

// told is the most columns of a name, and barWide and barHigh the size of bars, where a line is told
// of.
const told, barWide, barHigh = 24, 6.0, 20.0

// tell draws what is told of a line beside its middle.
func (f *figure) tell(b *strings.Builder, l *line) {
	e := l.MeshEdge
	words := []string{term.Cut(term.Line(e.Source), told) + " → " + term.Cut(term.Line(e.Target), told), l.party() + ": never synced"}
	if e.Data.Synced {
		words = append(words[:1], l.party()+": "+decayed(e)+" now, "+raw(e)+" then",
			e.Data.LastSync.UTC().Format(moment)+", asked by "+term.Cut(term.Line(e.Data.Observer), told))
	}
	w, h := 0.0, 14+17*float64(len(words))
	for _, word := range words {
		w = max(w, breadth(word, small)+2*gap)
	}
	if len(e.Data.Sparkline) > 0 {
		h += barHigh + 6
	}
	x := min(max((l.from.free+l.to.free)/2-w/2, 2), max(f.w-w-2, 2))
	y := (l.from.y+l.to.y)/2 + gap
	if y+h > f.h {
		y -= h + 2*gap
	}
	fmt.Fprintf(b, `<g class="tip" transform="translate(%.1f %.1f)"><rect class="card" width="%.1f" height="%.1f" rx="6"/>`, x, y, w, h)
	for i, word := range words {
		fmt.Fprintf(b, `<text class="ink small" x="%g" y="%d">%s</text>`, gap, 19+17*i, safe(word))
	}
	fmt.Fprintf(b, `<path class="bars" transform="translate(%g %.1f)" d="%s"/></g>`, gap, h-barHigh-8, Bars(e.Data.Sparkline))
}

// Bars is the path of scores from 0 to 1 as bars, which are 20 high at most, one each 8.
func Bars(scores []float64) string {
	var b strings.Builder
	for i, score := range scores {
		high := max(1, barHigh*min(1, max(0, score)))
		fmt.Fprintf(&b, "M%g %gv-%.1fh%gv%.1fz", float64(i)*(barWide+2), barHigh, high, barWide, high)
	}
	return b.String()
}

func label(n control.MeshNode) string { return term.Cut(term.Line(n.Label), maxLabel) }

// about is the text below the name.
func about(n control.MeshNode) string {
	return term.Line(cmp.Or(n.Data.Status, n.Type))
}

// draw draws a node. An agent is round, filled while it is there, with a border that shows how far
// it is trusted. A human is square.
func (c *card) draw(b *strings.Builder) {
	fill := "off"
	if c.Type != typeAgent || c.Data.Status == string(protocol.PresenceActive) || c.Data.Status == string(protocol.PresenceBusy) {
		fill = "on"
	}
	tip := c.Label + " on " + c.Data.Node.String()
	if c.Data.Trust != "" {
		tip += ", " + c.Data.Status + ", trust " + string(c.Data.Trust)
	}
	x, y := c.x+gap+glyph, c.y+c.h/2
	fmt.Fprintf(b, `<g><title>%s</title><rect class="card" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`, safe(tip), c.x, c.y, c.w, c.h)
	if c.Type == typeAgent {
		fmt.Fprintf(b, `<circle class="node off" cx="%.1f" cy="%.1f" r="%g"%s/><circle class="%s" cx="%.1f" cy="%.1f" r="3.5"/>`, x, y, glyph, border[c.Data.Trust], fill, x, y)
	} else {
		fmt.Fprintf(b, `<rect class="node %s" x="%.1f" y="%.1f" width="%g" height="%g"/>`, fill, x-glyph, y-glyph, 2*glyph, 2*glyph)
	}
	x += glyph + 9
	fmt.Fprintf(b, `<text class="ink name" x="%.1f" y="%.1f">%s</text><text class="dim small" x="%.1f" y="%.1f">%s</text></g>`+"\n", x, y-2, safe(label(c.MeshNode)), x, y+12, safe(about(c.MeshNode)))
}

// border shows how far an agent is trusted.
var border = map[topic.Trust]string{
	topic.TrustHigh: ` stroke-width="2.5"`, topic.TrustInitial: ` stroke-dasharray="4 3"`, topic.TrustUncalibrated: ` stroke-dasharray="1.5 2.5"`,
}

// path is the way of a line. Near the node that it comes to, it is level.
func (l *line) path() string {
	from, to := &l.from, &l.to
	if l.inside() {
		above := to.at.lane.cards[slices.Index(to.at.lane.cards, to.at)-1] // the human, or another agent of theirs
		return fmt.Sprintf("M%.1f %.1fV%.1f", above.x+gap+glyph, above.y+above.h/2+glyph, to.at.y+to.at.h/2-glyph)
	}
	x1, y1, x2, y2 := from.x(), from.y, to.x(), to.y
	a, z := from.free, to.free // between these two it is bent
	m1 := (a + z) / 2
	if from.at.lane.column == to.at.lane.column {
		m1 = a + l.bulge*4/3*from.out()
	}
	return fmt.Sprintf("M%.1f %.1fH%.1fC%.1f %.1f %.1f %.1f %.1f %.1fH%.1f", x1, y1, a, m1, y1, m1, y2, z, y2, x2)
}

// draw draws a line, with what it says above its end.
func (l *line) draw(b *strings.Builder) {
	if l.leads {
		fmt.Fprintf(b, `<path class="leads" stroke-dasharray="2 4" d="%s"/>`+"\n", l.path())
		return
	}
	dashes := ""
	if l.Data.Dashed {
		dashes = ` stroke-dasharray="7 5"`
	}
	colour := colourOf(l.MeshEdge)
	fmt.Fprintf(b, `<path class="%s" stroke-width="2" opacity="%.3g"%s marker-end="url(#to-%s)" d="%s"><title>%s</title></path>`+"\n",
		colour, l.Data.Opacity, dashes, colour, l.path(), safe(tip(l.MeshEdge)+" "+cli.Sparkline(l.Data.Sparkline)))
	to := &l.to
	anchor, x := "end", to.x()-gap-4
	if to.side == right {
		anchor, x = "start", to.x()+gap+4
	}
	fmt.Fprintf(b, `<text class="score small" text-anchor="%s" x="%.1f" y="%.1f">%s</text><text class="dim small" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`+"\n",
		anchor, x, to.y-4, safe(decayed(l.MeshEdge)), anchor, x+scoreWide*to.out(), to.y-4, safe(l.party()))
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
	return text + fmt.Sprintf("%s, now %s, last sync %s, asked by %s", raw(e), decayed(e), e.Data.LastSync.UTC().Format(moment), e.Data.Observer)
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

// legend says below the drawing what its lines mean: on paper, nobody can point at a line. It makes
// the drawing as high as it needs.
func (f *figure) legend() string {
	var b strings.Builder
	x := edgeOfAll
	add := func(sign string, wide float64, words string) {
		all := wide + 6 + breadth(words, small)
		if x > edgeOfAll && x+all > f.w-edgeOfAll {
			x, f.h = edgeOfAll, f.h+20
		}
		fmt.Fprintf(&b, `<g transform="translate(%.1f %.1f)">%s</g><text class="dim small" x="%.1f" y="%.1f">%s</text>`+"\n", x, f.h, sign, x+wide+6, f.h+4, safe(words))
		x += all + 10
	}
	sample := func(look, words string) { add(`<path `+look+` stroke-width="2" d="M0 0h24"/>`, 24, words) }
	for _, c := range colours {
		sample(`class="`+c[0]+`"`, c[1])
	}
	sample(`class="gray" opacity="0.3"`, "paler: worth less by now")
	if slices.ContainsFunc(f.lines, func(l *line) bool { return l.Data.Dashed }) {
		sample(`class="gray" stroke-dasharray="7 5"`, "older than three half-lives")
	}
	if slices.ContainsFunc(f.lines, func(l *line) bool { return l.leads }) {
		sample(`class="leads" stroke-dasharray="2 4"`, "leads through")
	}
	for _, trust := range []topic.Trust{topic.TrustUncalibrated, topic.TrustInitial, topic.TrustHigh} {
		if slices.ContainsFunc(f.nodes, func(n control.MeshNode) bool { return n.Data.Trust == trust }) {
			add(fmt.Sprintf(`<circle class="node off" cx="%g" r="%g"%s/>`, glyph, glyph, border[trust]), 2*glyph, string(trust)+" trust")
		}
	}
	f.h += edgeOfAll
	return b.String()
}
