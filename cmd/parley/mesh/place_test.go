package mesh

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// star adds a party to a mesh: from `by` to the others, which are there or new, as NAME@HOST. Its
// scores are of all colours; every third has asked too.
func star(m *control.Mesh, name, human, by string, others ...string) {
	node := func(at, kind string) string {
		id, host, _ := strings.Cut(at, "@")
		n := agent(id, protocol.Name(host), "active", []topic.Trust{"high", "initial", "medium", "uncalibrated"}[len(m.Nodes)%4])
		if kind != typeAgent {
			n = control.MeshNode{ID: at, Label: id, Type: kind, Data: control.MeshNodeData{Node: protocol.Name(host)}}
		} else if len(m.Nodes)%4 == 3 {
			n.Data.Status = "away"
		}
		if !slices.ContainsFunc(m.Nodes, func(o control.MeshNode) bool { return o.ID == n.ID }) {
			m.Nodes = append(m.Nodes, n)
		}
		return n.ID
	}
	add := func(from, to, direction string, score float64) {
		e := edge(from, to, direction, score, max(score, 0), topic.ColourOf(protocol.NewScore(max(score, 0))))
		e.ID, e.Data.Topic, e.Data.Leader = name+"/"+to+"/"+direction+from, name, human
		e.Data.Channel = protocol.ChannelID(name)
		if score == 0.1 {
			e.Data.Dashed, e.Data.LastSync = true, ago(220*time.Hour)
		}
		m.Edges = append(m.Edges, e)
	}
	m.Time = seen
	node(human, "human")
	via := node(by, typeAgent)
	add(via, via, forwards, -1)
	for i, other := range others {
		id := node(other, typeAgent)
		add(via, id, forwards, []float64{0.96, 0.81, 0.62, 0.3, -1, 0.74, 1, 0.1, 0.55}[(i+len(m.Edges))%9])
		if i%3 == 1 {
			add(id, via, "back", 0.58)
		}
	}
}

// fleets are meshes of many sizes.
func fleets() map[string]control.Mesh {
	all := map[string]control.Mesh{"none": {Time: seen}, "some": some()}
	of := func(name string, parties ...[]string) {
		var m control.Mesh
		for _, p := range parties {
			star(&m, p[0], p[1], p[2], p[3:]...)
		}
		all[name] = m
	}
	of("two", []string{"tmux design", "nat@oracle-world", "skills@oracle-world", "mawjs@white"})
	of("two-on-one-host", []string{"tmux design", "nat@a", "skills@a", "mawjs@a"})
	of("five", []string{"tmux design", "nat@oracle-world", "skills@oracle-world", "mawjs@white", "volt@white", "homekeeper@oracle-world"})
	of("five-in-three", []string{"tmux design", "nat@oracle-world", "skills@oracle-world", "mawjs@white", "volt@white", "homekeeper@oracle-world"},
		[]string{"release 26.5", "nat@oracle-world", "skills@oracle-world", "mawjs@white"}, []string{"kit ancestry", "zoe@white", "volt@white", "homekeeper@oracle-world", "skills@oracle-world"})
	nine := []string{"mawjs@white", "volt@white", "neo@clinic", "homekeeper@oracle-world", "hermes@clinic", "pulse@white", "calliope@clinic", "boonkeeper@oracle-world"}
	of("nine", append([]string{"federation design", "nat@oracle-world", "skills@oracle-world"}, nine...))
	of("nine-in-four", append([]string{"federation design", "nat@oracle-world", "skills@oracle-world"}, nine...), []string{"release 26.5", "nat@oracle-world", "skills@oracle-world", "mawjs@white", "neo@clinic"},
		[]string{"kit ancestry", "zoe@white", "volt@white", "homekeeper@oracle-world", "neo@clinic", "pulse@white"}, []string{"wire format of the bus", "kim@clinic", "neo@clinic", "calliope@clinic", "volt@white", "skills@oracle-world"})
	var fifteen, spread, alone, long []string
	for i, name := range strings.Fields("mawjs volt neo homekeeper hermes pulse calliope boonkeeper odin arthur mother floodboy exchange fireman") {
		fifteen = append(fifteen, name+"@"+[]string{"white", "oracle-world", "clinic"}[i%3])
		spread = append(spread, name+"@host-of-"+name)
		alone = append(alone, name+"@a")
		long = append(long, name+strings.Repeat("-and-its-long-name", 1+i%3)+"@"+[]string{"white", "a-host-with-quite-a-long-name-in-the-cellar", "b"}[i%3])
	}
	led := []string{"federation design", "nat@oracle-world", "skills@oracle-world"}
	of("fifteen", append(led, fifteen...))
	of("fifteen-in-four", append(led, fifteen...), []string{"release 26.5", "nat@oracle-world", "mawjs@white", "neo@clinic", "odin@clinic", "pulse@clinic", "volt@oracle-world"},
		[]string{"kit ancestry", "zoe@white", "mawjs@white", "homekeeper@white", "neo@clinic", "volt@oracle-world"}, []string{"wire format of the bus", "kim@clinic", "neo@clinic", "calliope@white", "volt@oracle-world", "skills@oracle-world"})
	of("fifteen-hosts", append(led, spread...))
	of("one-host", append([]string{"federation design", "nat@a", "skills@a"}, alone...))
	of("long", append([]string{strings.Repeat("a party of a long name ", 4), "somebody-with-a-name-of-more-than-forty-letters@a-host-with-quite-a-long-name-in-the-cellar", "WWWWWWWWWWWWWWWWWWWWWW@white"}, long...),
		[]string{"ตัวละคร ナマエ 👩‍👩‍👧 Straße", "zoe@b", "漢字漢字漢字漢字@b", "WWWWWWWWWWWWWWWWWWWWWW@white", long[0], long[2], long[4]})
	for _, hosts := range []int{1, 2, 3, 5, 8} {
		for _, parties := range []int{1, 2, 7} {
			var m control.Mesh
			for p := range parties {
				by := p % hosts
				var others []string
				for i := range 12 {
					others = append(others, fmt.Sprintf("agent-%d@host-%d", (i*5+p)%23, (i*5+p)%23%hosts))
				}
				star(&m, fmt.Sprintf("party %d", p), fmt.Sprintf("human%d@host-%d", p%3, by), fmt.Sprintf("lead-%d@host-%d", p/2, p/2%hosts), others...)
			}
			all[fmt.Sprintf("%d-hosts-%d-parties", hosts, parties)] = m
		}
	}
	gone := some()
	gone.Nodes = slices.DeleteFunc(gone.Nodes, func(n control.MeshNode) bool { return n.ID == "skills" })
	all["gone"] = gone
	return all
}

// box is where something is.
type box struct {
	what           string
	x1, y1, x2, y2 float64
}

func (b box) over(o box) bool { return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2 }

// boxes are the words, the nodes and the lines of a drawing: a line as points close to each other,
// without its ends.
func boxes(t *testing.T, svg string) (words, nodes []box, lines [][]box, size box) {
	t.Helper()
	root := parsed(t, svg)
	number := func(e element, name string) float64 {
		x, err := strconv.ParseFloat(e.attr(name), 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return x
	}
	for _, e := range root.all() {
		switch class := e.attr("class"); {
		case e.XMLName.Local == "text":
			high := text
			if strings.Contains(class, "small") {
				high = small
			}
			wide := breadth(e.Text, high)
			x := number(e, "x")
			switch e.attr("text-anchor") {
			case "end":
				x -= wide
			case "middle":
				x -= wide / 2
			}
			words = append(words, box{e.Text, x, number(e, "y") - 0.8*high, x + wide, number(e, "y") + 0.2*high})
		case class == "card":
			x, y := number(e, "x"), number(e, "y")
			nodes = append(nodes, box{"a node", x, y, x + number(e, "width"), y + number(e, "height")})
		case e.XMLName.Local == "path" && e.attr("marker-end") != "":
			lines = append(lines, points(t, e.attr("d")))
		}
	}
	return words, nodes, lines, box{"", 0, 0, number(root, "width"), number(root, "height")}
}

var number = regexp.MustCompile(`-?[0-9.]+`)

func points(t *testing.T, d string) (list []box) {
	var at []float64
	for _, s := range number.FindAllString(d, -1) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, x)
	}
	if len(at) != 10 || regexp.MustCompile(`[^MHC]`).MatchString(number.ReplaceAllString(strings.ReplaceAll(d, " ", ""), "")) {
		t.Fatalf("a line of another form: %s", d)
	}
	dot := func(x, y float64) { list = append(list, box{"a line", x - 0.5, y - 0.5, x + 0.5, y + 0.5}) }
	level := func(a, b, y float64) {
		for far := 1.0; far < math.Abs(b-a)-1; far += 4 {
			dot(a+math.Copysign(far, b-a), y)
		}
	}
	level(at[0], at[2], at[1])
	for i := range 80 {
		u := float64(i) / 80
		mix := func(a, b, c, d float64) float64 {
			return math.Pow(1-u, 3)*a + 3*math.Pow(1-u, 2)*u*b + 3*(1-u)*u*u*c + u*u*u*d
		}
		dot(mix(at[2], at[3], at[5], at[7]), mix(at[1], at[4], at[6], at[8]))
	}
	level(at[7], at[9], at[8])
	return list
}

// It prevents: names that lie on each other or on nodes, lines through names and nodes, lines of
// which nobody can say of which party they are, and drawings that are mostly empty.
func TestNothingLiesOnAnythingElse(t *testing.T) {
	for name, m := range fleets() {
		words, nodes, lines, size := boxes(t, drawing(m))
		for i, w := range words {
			for _, o := range words[i+1:] {
				if w.over(o) {
					t.Errorf("%s: %q lies on %q", name, w.what, o.what)
				}
			}
			for _, n := range nodes {
				if w.over(n) && (w.x1 < n.x1 || w.x2 > n.x2 || w.y1 < n.y1 || w.y2 > n.y2) {
					t.Errorf("%s: %q lies on a node", name, w.what)
				}
			}
		}
		var shown []control.MeshEdge
		for _, e := range m.Edges {
			if e.Source != e.Target && slices.ContainsFunc(m.Nodes, func(n control.MeshNode) bool { return n.ID == e.Target }) {
				shown = append(shown, e)
			}
		}
		if len(lines) != len(shown) {
			t.Errorf("%s: %d lines for %d edges", name, len(lines), len(shown))
			continue
		}
		things := slices.Concat(words, nodes)
		all := slices.Clone(things)
		for i, points := range lines {
			for _, point := range points {
				for _, o := range things {
					if point.over(o) {
						t.Errorf("%s: a line goes through %q", name, o.what)
						break
					}
				}
			}
			all = append(all, points...)
			end := points[len(points)-1]
			says := func(what string) bool {
				return slices.ContainsFunc(words, func(w box) bool {
					return w.what == what && end.y1-w.y2 < 4 && end.y1 > w.y2 && min(math.Abs(w.x1-end.x1), math.Abs(w.x2-end.x1)) < 80
				})
			}
			if party := (&line{MeshEdge: shown[i]}).party(); !says(party) || !says(decayed(shown[i])) {
				t.Errorf("%s: a line of %q does not say so", name, party)
			}
		}
		around := size
		around.x1, around.x2, around.y1, around.y2 = size.x2, 0, size.y2, 0
		for _, b := range all {
			around.x1, around.y1, around.x2, around.y2 = min(around.x1, b.x1), min(around.y1, b.y1), max(around.x2, b.x2), max(around.y2, b.y2)
		}
		if around.x1 < 10 || around.y1 < 10 || around.x2 > size.x2-10 || around.y2 > size.y2-10 {
			t.Errorf("%s: something is outside: %+v of %+v", name, around, size)
		}
		if around.x2 < size.x2-50 && size.x2 > leastWide || around.y2 < size.y2-30 {
			t.Errorf("%s: much is empty: %+v of %+v", name, around, size)
		}
	}
}

// It prevents: the drawing loses all when the agent of the leader has left.
func TestDrawingWhenTheLeadersAgentHasLeft(t *testing.T) {
	svg := drawing(fleets()["gone"])
	if n := strings.Count(svg, "marker-end"); n != 3 {
		t.Errorf("%d lines, not those to the three who are left:\n%s", n, svg)
	}
}

// It prevents: the cyan of those who differ is taken for the green of those who agree, by whoever
// sees all colours, or lacks one of three.
func TestCyanIsNotGreen(t *testing.T) {
	eyes := map[string][3][3]float64{ // Machado, Oliveira, Fernandes: A physiologically-based model, 2009
		"all":           {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":    {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
		"deuteranopia":  {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
		"tritanopia":    {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
		"achromatopsia": {{.2126, .7152, .0722}, {.2126, .7152, .0722}, {.2126, .7152, .0722}},
	}
	lab := func(eye [3][3]float64, hex string) (is [3]float64) {
		var rgb, seen [3]float64
		for i := range rgb {
			v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			rgb[i] = math.Pow(float64(v)/255, 2.2)
		}
		for i, row := range eye {
			seen[i] = min(1, max(0, row[0]*rgb[0]+row[1]*rgb[1]+row[2]*rgb[2]))
		}
		x := math.Cbrt((.4124*seen[0] + .3576*seen[1] + .1805*seen[2]) / .9505)
		y := math.Cbrt(.2126*seen[0] + .7152*seen[1] + .0722*seen[2])
		z := math.Cbrt((.0193*seen[0] + .1192*seen[1] + .9505*seen[2]) / 1.0888)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	for i, mode := range strings.SplitN(Style, "@media", 2) {
		colour := func(name string) string {
			return regexp.MustCompile(`\.` + name + `\{stroke:#([0-9a-f]{6})\}`).FindStringSubmatch(mode)[1]
		}
		for who, eye := range eyes {
			a, b := lab(eye, colour("cyan")), lab(eye, colour("green"))
			if apart := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); apart < 22 {
				t.Errorf("dark %v, %s: cyan and green are %.0f apart", i == 1, who, apart)
			}
		}
	}
}
