package mesh

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

var seen = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return seen.Add(-d) }

func agent(id string, node protocol.Name, status string, trust topic.Trust) control.MeshNode {
	return control.MeshNode{ID: id, Label: id, Type: "agent", Data: control.MeshNodeData{Node: node, Status: status, Trust: trust, LastSync: ago(time.Hour)}}
}

// edge returns an edge of the party c1. If raw is below 0, the edge was never synced.
func edge(source, target, direction string, raw, decayed float64, colour topic.Colour) control.MeshEdge {
	e := control.MeshEdge{ID: "c1/" + target + "/" + direction, Source: source, Target: target, Data: control.MeshEdgeData{
		Direction: direction, Party: "tmux-design", Channel: "c1", Leader: "nat@a", Topic: "tmux design", Team: "core", Role: "member", Trust: "high", Lambda: 0.01,
		Colour: colour, Opacity: 0.1 + 0.9*decayed, Sparkline: []float64{}, LastSync: ago(12 * time.Hour),
	}}
	if raw >= 0 {
		e.Data.Synced, e.Data.Raw, e.Data.Decayed, e.Data.Observer = true, raw, decayed, source
	}
	return e
}

// some returns a mesh of two hosts with one of everything.
func some() control.Mesh {
	old := edge("skills", "volt", "forward", 0.9, 0.1, "gray")
	old.Data.Dashed, old.Data.LastSync = true, ago(220*time.Hour)
	return control.Mesh{
		Nodes: []control.MeshNode{
			agent("mawjs", "b", "active", "high"), {ID: "nat@a", Label: "nat", Type: "human", Data: control.MeshNodeData{Node: "a"}},
			agent("new", "b", "busy", "uncalibrated"), agent("skills", "a", "active", "initial"), agent("volt", "b", "away", "medium"),
		},
		Edges: []control.MeshEdge{
			edge("skills", "mawjs", "forward", 0.95, 0.843, "amber"), edge("mawjs", "skills", "back", 0.6, 0.55, "cyan"), edge("skills", "new", "forward", -1, 0, "gray"),
			edge("skills", "skills", "forward", -1, 0, "gray"), old,
		},
		Time: seen,
	}
}

// run runs parley against a node that has a mesh and parties. If width is above 0, it runs at a
// terminal.
func run(t *testing.T, width int, m control.Mesh, parties []control.Party, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := cli.New(strings.NewReader(""), &stdout, &stderr, func(key string) string { return map[string]string{"PARLEY_HOME": t.TempDir()}[key] })
	p.Zone, p.Now = time.UTC, func() time.Time { return seen }
	p.Terminal = func() (io.ReadWriteCloser, error) { return nil, errors.New("there is none") }
	if width > 0 {
		p.Out.Terminal, p.Out.Width = true, width
	}
	p.Connect = func(string) control.Service {
		return control.Bind(
			control.ShowMesh.By(func(_ context.Context, r control.MeshRequest, yield func(control.Mesh) error) error {
				if err := yield(m); err != nil || !r.Follow {
					return err
				}
				return yield(control.Mesh{Nodes: []control.MeshNode{}, Edges: m.Edges[:1], Time: seen, Gone: &control.MeshGone{Nodes: []string{"volt"}, Edges: []string{}}})
			}),
			control.Parties.By(func(_ context.Context, r control.PartiesRequest) (control.PartyList, error) {
				if !r.Fleet || !r.Closed {
					t.Errorf("not of all hosts, or not those that are over: %+v", r)
				}
				var tagged []control.Party
				for _, p := range parties {
					if r.Team == "" || p.Team == r.Team {
						tagged = append(tagged, p)
					}
				}
				return control.PartyList{Parties: tagged}, nil
			}),
		)
	}
	root := cli.NewRoot(p)
	root.AddCommand(NewCommand(p), NewTeamCommand(p))
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	code = p.Run(t.Context(), root, args)
	return stdout.String(), stderr.String(), code
}

func TestMeshForPeople(t *testing.T) {
	out, _, code := run(t, 120, some(), nil, "mesh")
	want := `🕸 1 party: 4 agents and 1 human of 2 hosts

From    To      Party        Raw  Decay  λ     Last Sync  Trust  Team  Colour
skills  mawjs   tmux design  95%  84%    0.01  12h ago    high   core  amber
mawjs   skills  tmux design  60%  55%    0.01  12h ago    high   core  cyan
skills  new     tmux design  —    —      0.01  —          high   core  —
skills  volt    tmux design  90%  10%    0.01  9d ago     high   core  gray, old
`
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Error(code, diff)
	}
	if out, _, _ := run(t, 0, control.Mesh{}, nil, "mesh"); out != "No party is on.\n" {
		t.Errorf("%q", out)
	}
}

// Work-with W144: --json prints one snapshot of nodes, edges and ts. With --watch, each change
// follows in a line of its own.
func TestMeshForPrograms(t *testing.T) {
	out, _, code := run(t, 0, some(), nil, "mesh", "--json")
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &whole); err != nil || code != 0 || len(whole) != 3 || whole["nodes"] == nil || whole["edges"] == nil || string(whole["ts"]) != `"2026-04-17T12:00:00Z"` {
		t.Errorf("%v %s", err, out)
	}
	out, _, code = run(t, 0, some(), nil, "mesh", "--watch")
	lines := strings.Split(out, "\n")
	if code != 0 || len(lines) != 3 || lines[2] != "" || !strings.HasSuffix(lines[1], `"gone":{"nodes":["volt"],"edges":[]}}`) || strings.Contains(lines[0], "gone") {
		t.Errorf("%d %s", code, out)
	}
	for _, wrong := range [][]string{{"mesh", "x.svg"}, {"mesh", "--svg", "--json"}, {"mesh", "--svg", "--watch"}} {
		if _, _, code := run(t, 0, some(), nil, wrong...); code != 2 {
			t.Errorf("%v exits with %d", wrong, code)
		}
	}
}

// element is one element of a drawing.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Inside  []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all returns an element and all elements in it.
func (e element) all() []element {
	list := []element{e}
	for _, in := range e.Inside {
		list = append(list, in.all()...)
	}
	return list
}

func parsed(t *testing.T, svg string) element {
	t.Helper()
	var e element
	d := xml.NewDecoder(strings.NewReader(svg))
	d.Strict = true
	if err := d.Decode(&e); err != nil {
		t.Fatalf("%v in\n%s", err, svg)
	}
	return e
}

// Work-with W137, W138, W139, W145: lines are as pale as their scores are old, in the four colours
// and never red, and dashed if the scores are too old. Both directions are drawn. Humans and agents
// look different. Everybody's name and every score can be read on paper.
func TestDrawing(t *testing.T) {
	svg := drawing(some())
	if svg != drawing(some()) {
		t.Error("two drawings of one mesh differ")
	}
	var lines, words []string
	rounds, squares := 0, 0
	for _, e := range parsed(t, svg).all() {
		switch e.XMLName.Local {
		case "path":
			if e.attr("marker-end") != "" {
				lines = append(lines, fmt.Sprintf("%s %s %s", e.attr("class"), e.attr("opacity"), e.attr("stroke-dasharray")))
			}
		case "circle":
			if strings.HasPrefix(e.attr("class"), "node") {
				rounds++
			}
		case "rect":
			if strings.HasPrefix(e.attr("class"), "node") {
				squares++
			}
		case "text":
			words = append(words, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"amber 0.859 ", "cyan 0.595 ", "gray 0.1 ", "gray 0.19 7 5"}, lines); diff != "" {
		t.Error(diff)
	}
	if rounds != 4+3 || squares != 1 { // three rounds are below, to say what their borders mean
		t.Errorf("%d agents and %d humans", rounds, squares)
	}
	for _, word := range []string{"mawjs", "nat", "b", "active", "84%", "tmux design", "55%", "—", "as of 2026-04-17 12:00 UTC", "divergent, 50%"} {
		if !strings.Contains(strings.Join(words, "\n")+"\n", word+"\n") {
			t.Errorf("%q cannot be read in %q", word, words)
		}
	}
	if strings.Contains(svg, "red") && !strings.Contains(svg, "prefers") || strings.Contains(svg, "#f00") || !strings.Contains(svg, "@media screen and (prefers-color-scheme:dark)") {
		t.Error("it has red, or no dark form; and what is printed must not be dark")
	}
}

// Names that others give are only text in a drawing. Nothing that they say is done. It prevents: a
// party called <script> runs where its drawing is opened.
func TestDrawingsOfHostileNames(t *testing.T) {
	hostile := `"><script>alert(1)</script>&amp;]]>` + "\x1b[2J\x00\u202e\n'"
	m := some()
	m.Nodes[0].Label, m.Nodes[0].ID = hostile, hostile
	m.Edges[0].Target, m.Edges[0].Data.Topic, m.Edges[0].Data.Colour = hostile, hostile, `red" onload="x`
	for _, e := range parsed(t, drawing(m)).all() {
		if e.XMLName.Local == "script" || e.attr("onload") != "" || strings.ContainsAny(e.Text, "\x1b\u202e") {
			t.Errorf("%+v", e)
		}
	}
}

// Any number of nodes can be drawn, without any edges and with edges to nobody.
func TestDrawingsOfAnySize(t *testing.T) {
	for _, count := range []int{0, 1, 2, 1000} {
		m := control.Mesh{Time: seen, Edges: []control.MeshEdge{edge("nobody", "no one", "forward", 1, 1, "green")}}
		for i := range count {
			m.Nodes = append(m.Nodes, agent(fmt.Sprintf("agent-%04d", i), protocol.Name(fmt.Sprintf("host-%d", i%7)), "active", "high"))
		}
		for i := range max(0, count-1) {
			m.Edges = append(m.Edges, edge(m.Nodes[0].ID, m.Nodes[i+1].ID, "forward", 1, 1, "green"))
		}
		if svg := drawing(m); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%d nodes are drawn at no place", count)
		} else {
			parsed(t, svg)
		}
	}
}

// On a page the drawing has no style of its own, which a page may not have. Its nodes and lines are
// links, and what is told of a line lies above all lines, within the drawing.
func TestDrawingOnAPage(t *testing.T) {
	svg := parsed(t, Drawing(some(), pageLinks))
	links, tips, lines, w := []string{}, 0, 0, 0.0
	if _, err := fmt.Sscanf(svg.attr("viewBox"), "0 44 %f", &w); err != nil || svg.attr("class") != "mesh" {
		t.Fatalf("%v: %q", err, svg.attr("viewBox"))
	}
	for _, e := range svg.all() {
		switch {
		case e.XMLName.Local == "style" || e.attr("style") != "":
			t.Error("it has a style")
		case e.XMLName.Local == "a":
			links = append(links, e.attr("href"))
		case e.attr("marker-end") != "":
			lines++
			if tips > 0 {
				t.Error("a line lies on what is told of another one")
			}
		case e.attr("class") == "tip":
			tips++
			var x, y float64
			if _, err := fmt.Sscanf(e.attr("transform"), "translate(%f %f)", &x, &y); err != nil || x < 0 || x > w {
				t.Errorf("%s: outside of the drawing", e.attr("transform"))
			}
		}
	}
	if diff := cmp.Diff([]string{"/nat", "/skills", "/mawjs", "/new", "/volt", "/c1", "/c1", "/c1", "/c1"}, links); diff != "" {
		t.Error(diff)
	}
	if tips != 4 || lines != 4 {
		t.Errorf("%d lines, of %d is told", lines, tips)
	}
}

var pageLinks = Links{Who: func(n control.MeshNode) string { return "/" + n.Label }, Party: func(e control.MeshEdge) string { return "/" + e.Data.Channel.String() }}

func TestDrawingInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mesh.svg")
	if _, errs, code := run(t, 0, some(), nil, "mesh", "--svg", file); code != 0 || !strings.Contains(errs, "Drawn: 1 party") {
		t.Errorf("%d %s", code, errs)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != drawing(some()) {
		t.Errorf("%v: not what is drawn", err)
	}
	if out, _, _ := run(t, 0, some(), nil, "mesh", "--svg"); out != drawing(some()) {
		t.Error("standard output has another one")
	}
	if _, errs, code := run(t, 0, some(), nil, "mesh", "--svg", t.TempDir()); code != 1 || !strings.Contains(errs, "cannot write the drawing") {
		t.Errorf("%d %s", code, errs)
	}
}

// FuzzDrawing checks that a drawing is XML, whatever names there are.
func FuzzDrawing(f *testing.F) {
	f.Add("mawjs", "tmux design")
	f.Add(`<a b="c">&`, "\x00\xff\u2028]]>")
	f.Fuzz(func(t *testing.T, name, topic string) {
		m := some()
		m.Nodes[0].ID, m.Nodes[0].Label, m.Nodes[0].Data.Status, m.Nodes[0].Data.Node = name, name, topic, protocol.Name(name)
		m.Edges[0].Target, m.Edges[0].Data.Topic, m.Edges[0].Data.Observer = name, topic, name
		parsed(t, drawing(m))
		parsed(t, Drawing(m, pageLinks))
	})
}

// of returns a party with a tag. Its members have these decayed scores, below 0 for none.
func of(name, team, state string, gates []control.Gate, decayed map[string]float64) control.Party {
	p := control.Party{Name: name, Short: name, Team: team, State: state, Gates: gates}
	sum := 0.0
	for _, id := range []string{"mawjs", "mawui", "skills-cli"} {
		score, in := decayed[id]
		if !in {
			continue
		}
		m := control.PartyMember{Member: party.Member{Name: id}}
		if score >= 0 {
			m.Decayed = protocol.NewScore(score)
			p.Synced++
			sum += score
		}
		p.Members = append(p.Members, m)
	}
	if p.Synced > 0 {
		p.Mean = protocol.NewScore(sum / float64(p.Synced))
	}
	return p
}

func core() []control.Party {
	invite := func(outcome party.Outcome) control.Gate { return control.Gate{For: "invite", Outcome: outcome} }
	return []control.Party{
		of("kit-ancestry", "fleet-core", "closed", nil, nil),
		of("party-system-design", "fleet-core", "active", nil, map[string]float64{"mawjs": 0.9, "mawui": 0.8, "skills-cli": -1}),
		of("tmux-triage", "fleet-core", "active", []control.Gate{invite("pending"), invite("declined"), {For: "join", Outcome: "pending"}}, map[string]float64{"mawjs": 0.4, "skills-cli": -1}),
		of("not yet", "fleet-core", "proposed", nil, map[string]float64{"stranger": 1}),
		of("other", "elsewhere", "active", nil, map[string]float64{"mawjs": 0}),
	}
}

// Work-with W156, W157, W158, W159, W160, W161: a team lists its parties, each with its members out
// of members and invited, the mean of their decayed scores, and its status. It lists the members of
// all parties, sorted. The team's mean is over each party and member. Members that were never
// synced are counted, and are not in the mean. A party that is over is shown, and is not in the
// mean either.
func TestTeam(t *testing.T) {
	want := `🏷 Team: fleet-core

Party                Members  Sync  Status
party-system-design  3/3      85%   active
tmux-triage          2/3      40%   active
kit-ancestry         0/0      —     closed

Team members: mawjs, mawui, skills-cli (union across parties)
Team aggregate sync: 70% (decayed — computed from raw × e^(-λh) per member; 3 of 5 synced)
`
	for _, width := range []int{0, 120} { // plain when it is piped
		if out, _, code := run(t, width, some(), core(), "team", "fleet-core"); out != want || code != 0 {
			t.Error(code, cmp.Diff(want, out))
		}
	}
	out, _, _ := run(t, 0, some(), core(), "team", "fleet-core", "--json")
	var team Team
	if err := json.Unmarshal([]byte(out), &team); err != nil || len(team.Parties) != 3 || team.Synced != 3 || team.Pairs != 5 || team.Parties[1].Invited != 1 || team.Sync < 0.69 || team.Sync > 0.71 {
		t.Errorf("%v %s", err, out)
	}
	if _, errs, code := run(t, 0, some(), core(), "team", "fleet"); code != 1 || !strings.Contains(errs, `no party has the tag "fleet"`) || !strings.Contains(errs, "the teams are: elsewhere, fleet-core") {
		t.Errorf("%d %s", code, errs)
	}
	out, _, _ = run(t, 0, some(), core()[:1], "team", "fleet-core")
	if !strings.Contains(out, "Team members: none\nTeam aggregate sync: 0% (decayed — computed from raw × e^(-λh) per member; 0 of 0 synced)\n") {
		t.Error(out)
	}
	out, _, _ = run(t, 0, some(), core()[:1], "team", "fleet-core", "--json")
	if !strings.Contains(out, `"members":[]`) || !strings.Contains(out, `"sync":0`) {
		t.Errorf("%s", out)
	}
}
