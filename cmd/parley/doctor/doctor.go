// Package doctor says what is wrong with a host, each with the one command that helps, and mends what
// can be mended without harm.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// flags are those of parley doctor.
type flags struct {
	project, fix, fleet bool
	bundle              string
}

// NewCommand is parley doctor.
func NewCommand(p *cli.Program) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "doctor [" + strings.Join(install.ProgramNames(), "|") + "]",
		Short: "Say what is wrong with this host, and what to do",
		Long: `Say what is wrong with this host, area by area: red where something does not
work, yellow where somebody should look, green where all is well; each with the
one command that helps. The exit code is 1 if something is red. Without a node
that runs, it says what can be seen on the disk.

With the name of an agent program it looks at that one alone, and says what
keeps its sessions from hearing their mail; then the exit code is 1 if anything
was found.

--fix mends what can be undone and needs no decision: rights of files, locks and
sockets that a program which ended at once has left, and missing files of parley
in a program in which it is. It says each thing, and looks again.

--fleet asks all live hosts how they fare, for 2 seconds, and shows each in a
column. --bundle writes a file for whoever helps you: this page, the status, the
log and the settings, with passwords, tokens and keys taken out. Look into it
before you give it away: it has names, addresses and paths.`,
		Example: `  parley doctor
  parley doctor claude
  parley doctor --fix
  parley doctor --fleet --bundle parley.tar.gz`,
		Args:      cli.Between(0, 1, "one program"),
		ValidArgs: install.ProgramNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (f.fix || f.fleet || f.bundle != "") {
				return cli.UsageErrorf(cmd, "--fix, --fleet and --bundle are for the whole host: leave out %q", args[0])
			}
			home, err := p.HomeDir()
			if err != nil {
				return err
			}
			d := &doctor{Program: p, cmd: cmd, home: home, flags: f, words: args}
			if len(args) > 0 {
				return d.program()
			}
			return d.host()
		},
	}
	cmd.Flags().BoolVar(&f.project, "project", false, "what is installed in the project in the current folder")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "mend what can be mended without harm, and say each thing")
	cmd.Flags().BoolVar(&f.fleet, "fleet", false, "also ask all live hosts how they fare")
	cmd.Flags().StringVar(&f.bundle, "bundle", "", "write reports, log and settings without secrets into `FILE` (tar.gz)")
	return p.JSONFlag(cmd, "print an array of what was found as JSON")
}

// doctor looks at a host.
type doctor struct {
	*cli.Program
	flags
	cmd   *cobra.Command
	home  configs.Home
	words []string

	status *control.Status // nil: no node answers
	fleet  *control.FleetStatus
	copies string // what else has the record
	exam   install.Examination
	found  []causes.Found
}

func (d *doctor) add(id causes.ID, f causes.Facts) { d.found = append(d.found, causes.Of(id, f)) }

// ask asks the node how it fares.
func (d *doctor) ask(ctx context.Context) (sessions []control.Session) {
	d.found, d.status, d.fleet = []causes.Found{}, nil, nil
	if !cli.Configured(d.home) {
		why := cli.NotConfigured(d.home, "")
		do := why.Hint
		if do == cli.BeginHint {
			do = "parley install claude, or codex; on a further machine also: parley join"
		}
		f := causes.Of(causes.NoHome, causes.Facts{Do: do})
		f.Verdict = why.Message
		d.found = append(d.found, f)
		return nil
	}
	client, err := d.Client()
	var s control.Status
	if err == nil {
		s, err = control.ShowStatus.Ask(ctx, client)
	}
	switch {
	case err != nil && cli.NoNodeRuns(err):
		d.add(causes.NoNode, causes.Facts{})
		d.backups(control.Status{})
		return nil
	case err != nil:
		e := control.AsError(err)
		d.add(causes.NodeSilent, causes.Facts{Text: e.Message, Do: e.Hint})
		return nil
	}
	d.status = &s
	sessions, _ = control.Sessions.Ask(ctx, client) // what is wrong with the node is said already
	if len(d.words) > 0 {
		return sessions
	}
	d.found = append(append(d.found, standing.Of(s)...), unpushed(s, d.Now())...)
	d.backups(s)
	if folders := unlooked(ctx, s.PID, d.Getenv); len(folders) > 0 {
		d.add(causes.NodePath, causes.Facts{Text: strings.Join(folders, ", ")})
	}
	if !d.flags.fleet {
		return sessions
	}
	if f, err := control.AskFleet.Ask(ctx, client, control.HostsRequest{}); err == nil {
		d.fleet = &f
		d.found = append(d.found, Fleet(f)...)
	}
	return sessions
}

// backups says what else has the record. While no node runs, only backups are known.
func (d *doctor) backups(s control.Status) {
	backup, err := configs.ReadBackup(d.home.Backed())
	text := "within the last 7 days no other host was there, no remote had it, and no backup was made"
	if err != nil {
		text = err.Error()
	}
	switch d.copies = copies(d.View(), s, backup, d.Now()); {
	case d.copies == "" && s.Host == "" && err == nil:
		d.copies = "none of the last 7 days; what the remote and other hosts have is known once the node runs"
	case d.copies == "":
		d.add(causes.NoBackup, causes.Facts{Text: text})
	}
}

// look looks at everything.
func (d *doctor) look(ctx context.Context) (err error) {
	sessions, node := d.ask(ctx), 0
	if d.status != nil {
		node = d.status.PID
	}
	if cli.Configured(d.home) && len(d.words) == 0 {
		d.found = append(d.found, onDisk(d.home, d.Getenv("PATH"), d.status != nil, d.Now())...)
	}
	d.exam, err = install.Examine(d.cmd, d.Program, d.words, d.project, node, sessions)
	if err != nil && len(d.words) == 0 { // the rest can be said all the same
		d.add(causes.Program, causes.Facts{Agent: "programs", Text: err.Error(), Do: "parley install"})
		err = nil
	}
	d.found = append(d.found, d.exam.Found...)
	seen := map[string]bool{}
	d.found = slices.DeleteFunc(d.found, func(f causes.Found) bool { // node and disk may say the same
		key := fmt.Sprint(f.Cause, f.Agent, f.Host)
		if slices.Contains([]causes.ID{causes.HomeOpen, causes.KeyMissing, causes.ConfigWrong, causes.ClockOff}, f.Cause) {
			defer func() { seen[key] = true }()
		}
		return seen[key]
	})
	return err
}

// program says what keeps sessions of one program from hearing their mail.
func (d *doctor) program() error {
	if err := d.look(d.cmd.Context()); err != nil {
		return err
	}
	v := d.View()
	err := v.Show(d.found, nil, func() {
		for _, line := range d.exam.Woken {
			v.Out.Printf("%s\n", term.Line(line))
		}
		for _, f := range d.found {
			runs.ShowCause(v, f, "", false)
		}
		if len(d.found) == 0 {
			v.Say("All is well: " + strings.Join(d.exam.Well, ", ") + ".")
		}
	})
	if err == nil && len(d.found) > 0 {
		return cli.ErrSaid
	}
	return err
}

// host says what is wrong with the host.
func (d *doctor) host() error {
	ctx, v := d.cmd.Context(), d.View()
	if d.fix || d.bundle != "" {
		if err := d.ForOperator("mend this host, or gather what it knows"); err != nil {
			return err
		}
	}
	done := v.Busy("looking")
	err := d.look(ctx)
	done()
	if err != nil {
		return err
	}
	if d.fix && cli.Configured(d.home) {
		if err := mend(v, d.home, d.status != nil, d.Now(), func() ([]string, error) { return install.Mend(ctx, d.Program) }); err != nil {
			return err
		}
		if err := d.look(ctx); err != nil {
			return err
		}
	}
	lines := d.lines()
	if d.bundle != "" {
		if err := d.write(lines); err != nil {
			return err
		}
	}
	err = v.Show(lines, nil, func() {
		for _, f := range lines {
			runs.ShowCause(v, f, fmt.Sprintf("%-10s%-7s ", f.Area, f.Level), false)
		}
		if d.fleet != nil {
			v.Out.Printf("\n")
			v.Table(columns(*d.fleet))
		}
		if d.bundle != "" {
			v.Say(d.bundle + " is written. Look into it before you give it away: it has names, addresses and paths.")
		}
	})
	if err == nil && causes.Worst(lines) == causes.Red {
		return cli.ErrSaid
	}
	return err
}

// lines are what was found, area by area, and a green line for each area that was looked at and where
// nothing is wrong.
func (d *doctor) lines() []causes.Found {
	lines := []causes.Found{}
	well := d.well()
	for _, area := range causes.Areas() {
		some := false
		for _, level := range []causes.Level{causes.Red, causes.Yellow} {
			for _, f := range d.found {
				if f.Area == area && f.Level == level {
					lines, some = append(lines, f), true
				}
			}
		}
		if text := well[area]; !some && text != "" {
			lines = append(lines, causes.Well(area, text))
		}
	}
	return lines
}

// well is what there is to say of areas where nothing is wrong.
func (d *doctor) well() map[causes.Area]string {
	well := map[causes.Area]string{causes.Sessions: strings.Join(append(d.exam.Well, d.exam.Woken...), ", ")}
	if !cli.Configured(d.home) {
		return well
	}
	well[causes.Home], well[causes.Keys] = d.home.Dir, "this host's key is there, and nobody else can read it"
	if room, err := free(d.home.Dir); err == nil {
		well[causes.Disk] = fmt.Sprintf("%d MB left", room>>20)
	}
	well[causes.Backups] = d.copies
	s := d.status
	if s == nil {
		return well
	}
	well[causes.Node] = "runs since " + d.View().At(s.Since, cli.TimeForm)
	well[causes.Versions] = s.Version + " everywhere"
	well[causes.Record] = cli.Count(s.Record.Messages, "message")
	well[causes.Remote] = "none"
	if s.Record.Remote != "" {
		well[causes.Remote] = s.Record.Remote
	}
	well[causes.Links] = "none is needed"
	if n := len(s.Bus.Peers); n > 0 {
		well[causes.Links] = cli.Count(n, "link")
	}
	well[causes.Hosts] = cli.Count(len(s.Hosts), "host")
	well[causes.Clock] = "as those of the other hosts"
	well[causes.Agents] = cli.Count(len(s.Agents), "agent")
	well[causes.Notices] = "nothing waits for you to decide"
	return well
}

// columns shows each host of a fleet in a column.
func columns(f control.FleetStatus) term.Table {
	t := term.Table{Heading: []string{""}, Rows: [][]string{{"state"}, {"version"}, {"messages"}, {"behind"}, {"unpushed"}, {"remote"}, {"links"}, {"agents"}, {"clock"}}}
	for _, h := range f.Hosts {
		t.Heading = append(t.Heading, h.Alias.String())
		cells := []string{string(h.State), term.Line(h.Version), "", "", "", "", "", "", ""}
		if h.Answered && h.Problem == "" {
			up := 0
			for _, l := range h.Links {
				if l.Up {
					up++
				}
			}
			remote, clock := "ok", "ok"
			if h.Remote != "" {
				remote = term.Line(h.Remote)
			}
			if off := h.Clock.Duration(); off.Abs() > time.Second {
				clock = causes.OffBy(off)
			}
			cells = []string{cells[0], cells[1], fmt.Sprint(h.Messages), fmt.Sprint(h.Behind), fmt.Sprint(h.Unpushed), remote, fmt.Sprintf("%d of %d", up, len(h.Links)), fmt.Sprint(h.AgentCount), clock}
		}
		for i, cell := range cells {
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	return t
}
