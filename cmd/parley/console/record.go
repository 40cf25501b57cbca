package console

import (
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// record is the page of the record, the bus and what is wrong with them.
type record struct {
	control.Status
	Broken []standing.Line // what does not work
	Parts  []part
	Flags  []flag
}

// part is a part of a node, as parley status has it.
type part struct {
	ID, Name string
	Lines    []standing.Line
	See      string
}

type flag struct {
	control.Flag
	Means string
}

func showRecord(a *asking) (any, string, error) {
	s, err := control.ShowStatus.Ask(a.Context(), a.c.node)
	if err != nil {
		return nil, "", err
	}
	v := a.c.view()
	r := record{Status: s, Parts: []part{
		{"git", "In git", standing.Record(v, s.Record), "parley fleet sync"},
		{"bus", "On the bus", standing.Links(s), "parley status --fleet"},
		{"node", "The node", standing.Node(v, s), "parley doctor"},
	}}
	for i, p := range r.Parts {
		broken := func(l standing.Line) bool { return l.Level == causes.Red }
		for _, l := range p.Lines {
			if broken(l) {
				r.Broken = append(r.Broken, l)
			}
		}
		r.Parts[i].Lines = slices.DeleteFunc(p.Lines, broken)
	}
	for _, f := range s.Flags {
		r.Flags = append(r.Flags, flag{f, standing.Flag(f)})
	}
	return r, "Record", nil
}
