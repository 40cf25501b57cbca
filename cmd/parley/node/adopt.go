package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// adoptFlags are the flags for taking over a record of another program.
type adoptFlags struct{ on, yes bool }

// register makes o.Adopt show what will happen, and ask.
func (f adoptFlags) register(ctx context.Context, p *cli.Program, o *homes.Options) {
	if !f.on {
		return
	}
	o.Adopt = func(a homes.Adoption) error {
		v := p.View()
		showAdoption(v, a)
		switch {
		case f.yes:
			return nil
		case !p.Err.Terminal || !term.IsTerminal(p.Stdin):
			return control.Errorf(control.KindUsage, "to do it unasked, add --yes", "nothing was changed: nobody is there to ask")
		case !p.Confirm(ctx, "Take the record over? [y/N] "):
			v.Err.Printf("nothing was changed\n")
			return cli.ErrSaid
		}
		return nil
	}
}

// mostUnread is how many files that cannot be read are shown at most.
const mostUnread = 50

// showAdoption shows what it means to take over a record.
func showAdoption(v cli.View, a homes.Adoption) {
	version := ""
	if a.Version != "" {
		version = "; its version is " + term.Line(a.Version)
	}
	v.Say(fmt.Sprintf("The record holds %s in %s, %s and %s that parley reads%s. Nothing of it is changed or removed.",
		cli.Count(a.Messages, "message"), cli.Count(a.Channels, "channel"), cli.Count(a.Memories, "memory"), cli.Count(len(a.Hosts), "host file"), version))
	if len(a.Add) > 0 {
		v.Out.Printf("\nAdded in one commit:\n")
		showAdoptedFiles(v, a.Add, len(a.Add))
	} else {
		v.Out.Printf("\nIt lacks nothing.\n")
	}
	if len(a.Unread) > 0 {
		v.Out.Printf("\nNot read, and left where it is:\n")
		showAdoptedFiles(v, a.Unread, mostUnread)
	}
	v.Out.Printf("\n")
	v.Say(fmt.Sprintf("Then this host joins the fleet %s there, with its host file and a signed message. "+
		"What the record holds by now is old mail: no agent is run for it.", a.Fleet))
	v.Out.Printf("\n")
}

func showAdoptedFiles(v cli.View, files []homes.AdoptedFile, most int) {
	var rows [][]string
	for i, f := range files {
		if i == most {
			rows = append(rows, []string{fmt.Sprintf("  … and %d more", len(files)-most), ""})
			break
		}
		rows = append(rows, []string{"  " + term.Line(f.Path), term.Line(f.Why)})
	}
	showPathsAndWhy(v, rows)
}

// showPathsAndWhy shows paths and sentences. Paths are not cut, since a cut path would be useless.
// A path is beside its sentence or, if there are few columns, above it.
func showPathsAndWhy(v cli.View, rows [][]string) {
	if !v.Narrow() {
		screen := v.Out
		screen.Width = 0
		screen.Table(term.Table{Flexible: 1, Rows: rows})
		return
	}
	for _, row := range rows {
		v.Out.Printf("%s\n", row[0])
		if row[1] != "" {
			v.Out.Printf("    %s\n", strings.Join(cli.WrapWords(row[1], v.Out.Width-4), "\n    "))
		}
	}
}
