package console

import (
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/each"
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

func showRecord(a *asking) (any, string) {
	s := need(a, control.ShowStatus.Verb, control.None{})
	v := a.c.view()
	r := record{Status: s, Parts: []part{
		{"git", "In git", standing.Record(v, s.Record), "parley fleet sync"},
		{"bus", "On the bus", standing.Links(s), "parley status --fleet"},
		{"node", "The node", standing.Node(v, s), "parley doctor"},
	}}
	broken := func(l standing.Line) bool { return l.Level == causes.Red }
	for i, p := range r.Parts {
		r.Broken = append(r.Broken, each.Only(p.Lines, broken)...)
		r.Parts[i].Lines = each.Except(p.Lines, broken)
	}
	r.Flags = each.Of(s.Flags, func(f control.Flag) flag { return flag{f, standing.Flag(f)} })
	return r, "Record"
}
