package console

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// mostDecided is how many gates are shown of those that are decided.
const mostDecided = 50

// gates is the page of what waits for the human of this host.
type gates struct {
	Human    protocol.Name
	HasKey   bool
	Terminal bool // decisions come to a terminal
	Waiting  []gate
	Decided  []gate // the newest first
	Stuck    []control.Frame
}

// gate is a gate as the terminal shows it.
type gate struct {
	control.Gate
	Anchor        string // its id on the page
	Seen          string // see sum
	Facts, Doubts []string
	Decider       string
}

func showGates(a *asking) (any, string) {
	list := need(a, control.Gates, control.GatesRequest{})
	all := need(a, control.Gates, control.GatesRequest{All: true})
	p := gates{Human: list.Human, HasKey: list.HasKey, Terminal: a.c.desk.terminal, Waiting: each.Of(list.Gates, shown)}
	for _, g := range slices.Backward(all.Gates) {
		if g.DecidedBy != "" && len(p.Decided) < mostDecided && !slices.ContainsFunc(list.Gates, func(w control.Gate) bool { return w.Path == g.Path }) {
			p.Decided = append(p.Decided, shown(g))
		}
	}
	frames, _ := ask(a, control.Frames, control.FramesRequest{}) // who may not see them sees the gates
	p.Stuck = each.Only(frames.Frames, func(f control.Frame) bool { return f.Trouble != "" })
	return p, "Gates"
}

func shown(g control.Gate) gate {
	facts, doubts := g.Asker.Lines()
	at := hashed(g.Path)
	return gate{Gate: g, Anchor: "gate-" + hex.EncodeToString(at[:6]), Seen: sum(g), Facts: facts, Doubts: doubts, Decider: cli.Decider(g)}
}

// sum is a hash of what a page has shown. What is decided must be what was shown.
func sum(shown any) string {
	data, _ := json.Marshal(shown) // answers of the node can be written
	is := hashed(string(data))
	return hex.EncodeToString(is[:])
}

// answerGate brings the answer to a gate to the terminal.
func answerGate(a *asking) (done, error) {
	list, err := ask(a, control.Gates, control.GatesRequest{ID: cmp.Or(a.FormValue("gate"), "none")})
	if err != nil {
		return done{}, err
	}
	g := list.Gates[0]
	if a.FormValue("seen") != sum(g) {
		return done{}, errChanged()
	}
	if short, err := ask(a, control.Gates, control.GatesRequest{ID: g.ID}); err != nil || len(short.Gates) != 1 {
		g.ID = g.Path // a name that two gates have names neither of them
	}
	words := []string{"gates", a.FormValue("act"), g.ID}
	reason := strings.TrimSpace(a.FormValue("reason"))
	switch words[1] {
	case "accept":
		reason = ""
	case "reject":
	case "defer":
		until := cmp.Or(strings.TrimSpace(a.FormValue("until")), "1d")
		if _, wrong := span.Parse(until); wrong != nil {
			if _, err := cli.ParseUntil(until, a.c.p.Zone); err != nil {
				return done{}, control.Errorf(control.KindUsage, "such as 2h, 3d, or 2026-05-23", "cannot put it off: %v", err)
			}
		}
		words = append(words, "--until", until)
	default:
		return done{}, control.Errorf(control.KindUsage, "", "a gate is accepted, rejected or deferred, not %q", words[1])
	}
	if reason != "" {
		words = append(words, "--reason", reason)
	}
	return a.decide(words...)
}

func errChanged() error {
	return control.Errorf(control.KindConflict, "look at it again: the page shows it as it is now", "nothing was decided: the gate has changed since this page was shown")
}
