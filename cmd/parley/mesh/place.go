package mesh

import (
	"cmp"
	"math"
	"slices"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The sides of a card.
const (
	left  = 0
	right = 1
)

// others is the group of those who lead nobody: it comes last.
const others = "\xff"

// figure says where everything of a drawing is.
//
// Each host is a lane with its nodes in it, and lanes stand in up to three columns. No line leads
// past the middle column. Lines are bent only in the free space between columns. At a node each has
// a height of its own, and there its words are. So no line or word lies on another word or a node.
type figure struct {
	nodes   []control.MeshNode
	columns [3][]*lane
	lines   []*line
	w, h    float64
}

// lane is a host.
type lane struct {
	host       string
	column     int
	cards      []*card
	x, y, w, h float64
}

// card is a node.
type card struct {
	control.MeshNode
	lane       *lane
	group      string    // humans, those through whom they lead, and others are together
	row        float64   // its place in its column; 0 is the middle
	all        []*end    // of its lines
	ends       [2][]*end // the same for each side, from above
	x, y, w, h float64
}

// line is an edge, or who leads through whom.
type line struct {
	control.MeshEdge
	number   int
	leads    bool
	from, to end
	bulge    float64 // how far it is bent, if both ends are in one column
}

// end is where a line comes to a node.
type end struct {
	of        *line
	at, other *card
	side      int
	wide      float64 // of its words; 0: it has none
	y         float64
	free      float64 // where the space is in which lines are bent
}

func (l *line) party() string { return term.Cut(term.Line(l.Data.Topic), maxParty) }

// inside reports whether a line is straight, from a human to an agent below.
func (l *line) inside() bool {
	return l.leads && l.to.at.group == l.from.at.ID+"\x00"
}

// out is the direction away from the card.
func (e *end) out() float64 { return float64(2*e.side - 1) }

func (e *end) x() float64 { return e.at.x + float64(e.side)*e.at.w }

// height is what an end needs of the side of its node.
func (e *end) height() float64 {
	if e.wide > 0 {
		return slot
	}
	return thin
}

// above orders the ends at one side of a node, so that few lines cross.
func above(a, b *end) int {
	rank := func(e *end) (class int, row float64) {
		if e.other.lane.column != e.at.lane.column {
			return 0, e.other.row
		}
		return cmp.Compare(e.other.row, e.at.row), -e.other.row // lines in one column are nested
	}
	classA, rowA := rank(a)
	classB, rowB := rank(b)
	number := cmp.Compare(a.of.number, b.of.number)
	if classA > 0 {
		number = -number
	}
	return cmp.Or(cmp.Compare(classA, classB), cmp.Compare(rowA, rowB), number)
}

// place makes the figure of a mesh.
func place(m control.Mesh) *figure {
	f := &figure{nodes: slices.Clone(m.Nodes)}
	cards, lanes := map[string]*card{}, map[protocol.Name]*lane{}
	slices.SortFunc(f.nodes, func(a, b control.MeshNode) int {
		return cmp.Or(cmp.Compare(a.Data.Node, b.Data.Node), cmp.Compare(a.ID, b.ID))
	})
	var hosts []*lane
	for _, n := range f.nodes {
		l := lanes[n.Data.Node]
		if l == nil {
			l = &lane{host: term.Cut(term.Line(n.Data.Node.String()), maxLabel)}
			lanes[n.Data.Node], hosts = l, append(hosts, l)
		}
		c := &card{MeshNode: n, lane: l, group: others}
		if n.Type != typeAgent {
			c.group = n.ID
		}
		cards[n.ID], l.cards = c, append(l.cards, c)
	}
	f.connect(m, cards)
	f.arrange(hosts)
	f.attach()
	f.measure()
	return f
}

// connect makes the lines. Where the agent through which a party is led is not there, its lines
// begin at the human.
func (f *figure) connect(m control.Mesh, cards map[string]*card) {
	add := func(e control.MeshEdge, from, to *card, leads bool) {
		if from == nil || to == nil || from == to {
			return
		}
		l := &line{MeshEdge: e, number: len(f.lines), leads: leads}
		l.from, l.to = end{of: l, at: from, other: to}, end{of: l, at: to, other: from}
		from.all, to.all = append(from.all, &l.from), append(to.all, &l.to)
		if !leads {
			l.to.wide = scoreWide + breadth(l.party(), small) + 8
		}
		f.lines = append(f.lines, l)
	}
	led := map[[2]string]bool{}
	for _, e := range m.Edges {
		leads := [2]string{e.Data.Leader, e.Source}
		human, via := cards[leads[0]], cards[leads[1]]
		if e.Data.Direction == forwards && human != nil && via != nil && human != via && !led[leads] {
			led[leads] = true
			if human.lane == via.lane && human.group == human.ID {
				via.group = min(via.group, human.ID+"\x00")
			}
			add(e, human, via, true)
		}
	}
	for _, e := range m.Edges {
		from := cards[e.Source]
		if from == nil {
			from = cards[e.Data.Leader]
		}
		add(e, from, cards[e.Target], false)
	}
}

// arrange puts hosts into columns: first those with most lines to others, into the middle. No host
// may come to the far side of one with which it has lines.
func (f *figure) arrange(hosts []*lane) {
	between := map[[2]*lane]int{}
	degree := map[*lane]int{}
	for _, l := range f.lines {
		a, b := l.from.at.lane, l.to.at.lane
		if a != b {
			between[[2]*lane{a, b}]++
			between[[2]*lane{b, a}]++
			degree[a]++
			degree[b]++
		}
	}
	slices.SortStableFunc(hosts, func(a, b *lane) int { return cmp.Compare(degree[b], degree[a]) })
	for _, h := range hosts {
		best, least := 0, math.Inf(1)
		for _, column := range []int{1, 2, 0} {
			cost := 0.0
			for _, l := range slices.Concat(f.columns[:]...) {
				lines := float64(between[[2]*lane{h, l}])
				switch column - l.column {
				case 0:
					cost += 2 + float64(len(l.cards)) + 20*lines
				case 2, -2:
					cost += 1e6 * lines
				}
			}
			if cost < least {
				best, least = column, cost
			}
		}
		h.column = best
		f.columns[best] = append(f.columns[best], h)
	}
	for _, column := range []int{1, 0, 2} {
		row := 0.0
		for _, l := range f.columns[column] {
			slices.SortStableFunc(l.cards, func(a, b *card) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(near(a), near(b))) })
			row -= float64(len(l.cards)) / 2
		}
		slices.SortStableFunc(f.columns[column], func(a, b *lane) int { return cmp.Compare(near(a.cards...), near(b.cards...)) })
		for _, l := range f.columns[column] {
			for _, c := range l.cards {
				c.row = row
				row++
			}
		}
	}
}

// near is the mean place of those in the middle column to which nodes have lines.
func near(cards ...*card) float64 {
	sum, count := 0.0, 0.0
	for _, c := range cards {
		for _, e := range c.all {
			if e.other.lane.column == 1 {
				sum, count = sum+e.other.row, count+1
			}
		}
	}
	return sum / max(count, 1)
}

// attach gives each end of a line its side of its node.
func (f *figure) attach() {
	middle := 0 // how many lines more the middle column has to the right than to the left
	for _, l := range f.lines {
		middle += l.from.at.lane.column + l.to.at.lane.column - 2
	}
	for _, l := range f.lines {
		if l.inside() {
			continue
		}
		for _, e := range []*end{&l.from, &l.to} {
			is := e.at.lane.column
			if to := cmp.Compare(e.other.lane.column, is); to > 0 || to == 0 && (is == 2 || is == 1 && middle <= 0) {
				e.side = right
			}
			e.at.ends[e.side] = append(e.at.ends[e.side], e)
		}
	}
}

// measure gives everything its place.
func (f *figure) measure() {
	tallest := 0.0
	var heights [3]float64
	for i, column := range f.columns {
		for _, l := range column {
			l.h = laneHead
			for _, c := range l.cards {
				c.h = 38
				for side := range c.ends {
					slices.SortFunc(c.ends[side], above)
					c.h = max(c.h, 8+tall(c.ends[side]))
				}
				l.h += c.h + gap
			}
			heights[i] += l.h + gap
		}
		tallest = max(tallest, heights[i])
	}
	for i, column := range f.columns {
		y := headline
		for _, l := range column {
			more := (tallest - heights[i]) / float64(len(column)) // lanes side by side are of one height
			l.y = y
			l.h += more
			loose := 0.0 // how many gaps may become wider
			for i, c := range l.cards {
				if i > 0 && c.group == others {
					loose++
				}
			}
			between := min(24, more/(loose+1))
			y += laneHead + (more-between*loose)/2
			for i, c := range l.cards {
				if i > 0 && c.group == others {
					y += between
				}
				c.y = y
				y += c.h + gap
				for _, ends := range c.ends {
					at := c.y + (c.h-tall(ends))/2
					for _, e := range ends {
						at += e.height()
						e.y = at - thin/2
					}
				}
			}
			y = l.y + l.h + gap
		}
	}
	f.across(tallest)
	f.h = headline + tallest + 14
}

func tall(ends []*end) (sum float64) {
	for _, e := range ends {
		sum += e.height()
	}
	return sum
}

// across gives everything its place from left to right.
func (f *figure) across(height float64) {
	var words, bulge [3][2]float64 // what lines need at both sides of a column
	var bent [3]float64            // and from a column to the next
	for i := range 2 {
		if len(f.columns[i]) > 0 && len(f.columns[i+1]) > 0 {
			bent[i] = 28
		}
	}
	for _, l := range f.lines {
		a, b := &l.from, &l.to
		words[b.at.lane.column][b.side] = max(words[b.at.lane.column][b.side], b.wide)
		if l.inside() {
			continue
		}
		if a.at.lane.column == b.at.lane.column {
			l.bulge = 14 + 140*math.Abs(a.y-b.y)/max(height, 420)
			bulge[a.at.lane.column][a.side] = max(bulge[a.at.lane.column][a.side], l.bulge+4)
		} else {
			first := min(a.at.lane.column, b.at.lane.column)
			bent[first] = max(bent[first], min(36+0.2*math.Abs(a.y-b.y), 200))
		}
	}
	x := edgeOfAll
	for i, column := range f.columns {
		if len(column) == 0 {
			continue
		}
		wide := 0.0
		for _, l := range column {
			wide = max(wide, breadth(l.host, small))
			for _, c := range l.cards {
				wide = max(wide, 2*gap+2*glyph+9+max(breadth(label(c.MeshNode), text*1.1), breadth(about(c.MeshNode), small)))
			}
		}
		x += bulge[i][left] + words[i][left]
		for _, l := range column {
			l.x, l.w = x, wide+2*gap
			for _, c := range l.cards {
				c.x, c.w = x+gap, wide
				for side, ends := range c.ends {
					for _, e := range ends {
						far := words[i][side]
						if e.other.lane.column != i { // it is bent beyond those that stay in this column
							far += bulge[i][side]
						}
						e.free = e.x() + e.out()*(gap+far)
					}
				}
			}
		}
		x += wide + 2*gap + words[i][right] + bulge[i][right] + bent[i]
	}
	f.w = max(x+edgeOfAll, leastWide)
}
