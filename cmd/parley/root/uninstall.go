package root

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/release"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newUninstallCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Take parley off this machine, step by step",
		Long: `Take parley off this machine. It shows all that parley has written outside its
home, and what waits here. Then it asks up to three times: whether to take that
out of the programs; whether this host leaves the fleet, for ever; and what
becomes of the home, which is kept as an archive unless you say otherwise. At
the end it names the command that removes the program.

A person decides it, at a terminal. An agent is refused.`,
		Example: `  parley uninstall`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("take parley off this machine"); err != nil {
				return err
			}
			program, err := thisProgram()
			if err != nil {
				return err
			}
			desk, err := p.OpenDesk()
			if err != nil {
				return control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it)", "cannot take parley off this machine: nobody is there to ask: this command has no terminal")
			}
			defer desk.Close()
			return (&leaving{p: p, home: home, desk: desk, v: v, program: program}).run(cmd.Context())
		}),
	}
}

// leaving is one run of parley uninstall.
type leaving struct {
	p       *cli.Program
	home    configs.Home
	desk    *cli.Desk
	v       cli.View
	program string

	questions, asked int // how many there are, and were asked
}

func (l *leaving) run(ctx context.Context) error {
	outside, err := install.Outsides(ctx, l.p, l.home)
	if err != nil {
		return err
	}
	l.v.Out.Printf("%s\n", l.v.Out.Bold("Outside its home, parley has written:"))
	for _, one := range outside {
		l.v.Out.Printf("  %s\n", term.Line(one.What))
		for _, path := range one.Paths {
			l.v.Out.Printf("    %s\n", term.Line(path))
		}
	}
	if len(outside) == 0 {
		l.v.Out.Printf("  nothing\n")
	}
	status, running := l.waits(ctx)
	for _, asked := range []bool{len(outside) > 0, running, cli.Configured(l.home)} {
		if asked {
			l.questions++
		}
	}
	yes, err := l.agrees(ctx, len(outside) > 0, "take all of this out again? Every other byte of these files stays. [y/N] ")
	if err != nil {
		return err
	}
	take := func(node bool) error {
		for _, one := range outside {
			if !yes || one.Node != node {
				continue
			}
			err := error(nil)
			if one.Undo != nil {
				err = one.Undo(ctx)
			}
			switch {
			case one.Undo == nil:
				l.v.Say("By hand, for " + one.What + ": " + l.v.Command(one.Hand))
			case err != nil:
				l.v.Note(fmt.Sprintf("%s stays: %v; try: %s", one.What, err, one.Hand))
			default:
				l.v.Out.Printf("out: %s\n", term.Line(one.What))
			}
		}
		return ctx.Err()
	}
	if err := take(false); err != nil {
		return err
	}
	leaves, err := l.agrees(ctx, running, "take this host out of its fleet, for ever? Without that, others go on taking it for a host that is away. [y/N] ")
	if err != nil {
		return err
	}
	if leaves {
		if err := host.Remove(ctx, l.p, l.p.Connect(l.home.Socket()), status.Host); err != nil {
			return err
		}
	}
	if err := take(true); err != nil { // what starts the node goes once the host has left
		return err
	}
	if cli.Configured(l.home) {
		if err := l.dropHome(ctx, running && !leaves); err != nil {
			return err
		}
	}
	remove := "rm " + term.Shell(l.program)
	if owner := release.OwnerOf(ctx, l.program, runtime.GOARCH); owner != nil {
		remove = owner.Remove
	} else if _, err := os.Stat(release.Kept(l.program)); err == nil {
		remove += " " + term.Shell(release.Kept(l.program))
	}
	l.v.Out.Printf("\nThe program itself is left. This removes it:\n\n  %s\n", remove)
	return nil
}

// waits shows what is not done yet on this host.
func (l *leaving) waits(ctx context.Context) (s control.Status, running bool) {
	if !cli.Configured(l.home) {
		l.v.Say("\nThere is no node at " + term.Line(l.home.Dir) + ".")
		return s, false
	}
	s, err := control.ShowStatus.Ask(ctx, l.p.Connect(l.home.Socket()))
	if err != nil {
		l.v.Out.Printf("\n")
		l.v.Note("The node does not run, so nobody knows what waits here, and this host cannot leave its fleet now. To look first: " + l.v.Command("parley up -d") + ", then this again.")
		return s, false
	}
	l.v.Out.Printf("\n%s\n", l.v.Out.Bold("What waits on "+s.Host.String()+", of the fleet "+s.Fleet.String()+":"))
	queued := 0
	for _, a := range s.Agents {
		queued += a.Queued
	}
	var all []string
	for _, one := range []struct {
		n          int
		what, does string
	}{
		{s.Record.Unrecorded, "message", "stored, and in no commit yet"},
		{s.Record.Unpushed, "message", "not pushed yet: wait for the remote, or only this machine has them"},
		{queued, "message", "waiting for agents here: nobody else answers them"},
		{s.Commands.Running, "command", "of agents running: 3 seconds are left to them"},
		{s.Gates, "gate", "waiting for " + s.Human.String() + " to decide: parley gates"},
	} {
		if one.n > 0 {
			all = append(all, cli.Count(one.n, one.what)+" "+one.does)
		}
	}
	switch s.Record.Remote {
	case "":
		all = append(all, "the record has no remote: what other hosts have not heard is here alone")
	case "parley://" + s.Host.String():
		all = append(all, "this host carries the record of the fleet, and without it nobody can push: first, "+l.v.Command("parley fleet remote set URL")+" on each host")
	}
	for _, line := range all {
		l.v.Out.Printf("  %s\n", line)
	}
	if len(all) == 0 {
		l.v.Out.Printf("  nothing\n")
	}
	return s, true
}

// agrees asks a question if there is something to ask.
func (l *leaving) agrees(ctx context.Context, there bool, question string) (bool, error) {
	if !there {
		return false, nil
	}
	answer, err := l.ask(ctx, question)
	return cli.Yes(answer), cmp.Or(err, ctx.Err())
}

// ask asks the next question, with its number.
func (l *leaving) ask(ctx context.Context, question string) (string, error) {
	l.asked++
	return l.desk.Ask(ctx, fmt.Sprintf("\n%d of %d: %s", l.asked, l.questions, question))
}

// dropHome asks what becomes of the home, and does it. If the home is kept, its node may run on.
func (l *leaving) dropHome(ctx context.Context, runs bool) error {
	person, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("cannot tell where your home is: %w", err)
	}
	dir, err := filepath.EvalSymlinks(l.home.Dir) // what a link leads to is packed and removed, not the link alone
	if err != nil {
		return fmt.Errorf("cannot find the home: %w", err)
	}
	if own, err := filepath.EvalSymlinks(person); err == nil {
		person = own
	}
	if in, err := filepath.Rel(dir, person); err == nil && filepath.IsLocal(in) {
		l.v.Note("The home of the node is your own folder, or holds it: nothing in " + dir + " is removed. What parley has there is removed by hand: rm -r " + strings.Join(each.Of(l.home.Parts(), term.Shell), " "))
		return nil
	}
	file := filepath.Join(person, "parley-home-"+l.p.Now().Format("20060102-150405")+".tar.gz")
	answer, err := l.ask(ctx, "the home "+l.home.Dir+" holds the keys, the record and what nobody else has. Enter packs it into "+file+
		" and removes it; \"delete\" removes it for good; \"keep\" leaves it as it is: ")
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if answer == "keep" {
		l.v.Out.Printf("kept: %s\n", term.Line(l.home.Dir))
		if runs {
			l.v.Note("Its node runs on; this ends it: " + l.v.Command("parley stop"))
		}
		return nil
	}
	if answer != "" && answer != "delete" {
		return control.Errorf(control.KindUsage, "parley uninstall", "cannot tell what becomes of the home: %q is none of Enter, delete and keep; it stays", answer)
	}
	if err := node.End(ctx, l.p, l.home); err != nil {
		return err
	}
	if answer == "" {
		done := l.v.Busy("packing " + l.home.Dir)
		err := pack(dir, file)
		done()
		if err != nil {
			return fmt.Errorf("cannot pack the home, which stays as it is: %w", err)
		}
		l.v.Out.Printf("packed: %s, as secret as a key\n", term.Line(file))
	}
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(l.home.Dir)); err != nil {
		return fmt.Errorf("cannot remove the home: %w", err)
	}
	l.v.Out.Printf("removed: %s\n", term.Line(l.home.Dir))
	return nil
}
