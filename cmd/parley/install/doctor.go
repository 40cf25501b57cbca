package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewDoctorCommand is parley doctor.
func NewDoctorCommand(p *cli.Program) *cobra.Command {
	project := false
	cmd := &cobra.Command{
		Use:   "doctor [" + strings.Join(names(), "|") + "]",
		Short: "Say why sessions of an agent program hear nothing, and what to do",
		Long: `Say what keeps sessions of an agent program from hearing their mail, each with
the command that helps. Without a word it looks at the programs into which
parley is put; if it is in none, at all that are here. The exit code is 1 if
something was found.`,
		Example: `  parley doctor
  parley doctor claude`,
		Args:      cli.Between(0, 1, "one program"),
		ValidArgs: names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := places(p, project)
			if err != nil {
				return err
			}
			programs := install.Programs()
			if len(args) > 0 {
				program, err := find(cmd, args[0])
				if err != nil {
					return err
				}
				programs = []install.Program{program}
			}
			return runDoctor(cmd.Context(), p, programs, at, len(args) > 0)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "what is installed in the project in the current folder")
	return p.JSONFlag(cmd, "print an array of findings as JSON")
}

// Obstacle is something that is in the way, as parley doctor --json prints it.
type Obstacle struct {
	Program string `json:"program"` // claude or codex; "" if it concerns all of them
	Problem string `json:"problem"` // what is wrong
	Do      string `json:"do"`      // a command, or what a person can do
}

func runDoctor(ctx context.Context, p *cli.Program, programs []install.Program, at install.Places, named bool) error {
	v := p.View()
	found, status := nodeFindings(ctx, p)
	var sessions []control.Session
	if client, err := p.Client(); err == nil {
		sessions, _ = control.Sessions.Ask(ctx, client) // what is wrong with the node is said already
	}
	var well []string
	var looked []look
	for _, program := range programs {
		here := program.Look(ctx, p.Getenv)
		state, err := program.State(at, here)
		looked = append(looked, look{program, here, err != nil || state != install.Missing})
	}
	elsewhere := slices.ContainsFunc(looked, func(one look) bool { return one.put })
	for _, one := range looked {
		program, here := one.program, one.here
		if !named && !one.put && (elsewhere || here.Path == "") {
			continue // the person wants parley in another, or it is not here
		}
		path, _ := process.Environment(status.PID, "PATH") // "" if nobody can tell
		own := append(program.Examine(ctx, at, here, path), unmonitored(program, at, sessions)...)
		for _, one := range own {
			found = append(found, Obstacle{Program: program.Name, Problem: one.Problem, Do: one.Do})
		}
		if len(own) == 0 {
			well = append(well, program.Title)
		}
	}
	err := v.Show(found, nil, func() {
		for _, s := range sessions {
			if len(s.Ways) > 0 && slices.ContainsFunc(programs, func(p install.Program) bool { return p.Name == s.Program }) {
				v.Out.Printf("%s is woken by %s\n", s.Agent, strings.Join(each.Of(s.Ways, func(w control.SessionWay) string { return string(w) }), ", else by "))
			}
		}
		for _, one := range found {
			v.Note(strings.TrimPrefix(one.Program+": ", ": ") + one.Problem)
			v.Out.Printf("  %s %s\n", v.Out.Dim("do:"), term.Line(v.Command(one.Do)))
		}
		switch {
		case len(found) == 0 && len(well) > 0:
			v.Say("All is well: " + strings.Join(well, ", ") + ".")
		case len(found) == 0:
			v.Say("No agent program is here that parley knows: " + strings.Join(names(), ", ") + ".")
		}
	})
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return cli.ErrSaid
	}
	return nil
}

// look is what a program is like here.
type look struct {
	program install.Program
	here    install.Here
	put     bool // parley is in it, or nobody can tell
}

// unmonitored are the sessions of a program in which no monitor of parley's runs, although it is
// installed.
func unmonitored(program install.Program, at install.Places, sessions []control.Session) (found []install.Finding) {
	for _, s := range sessions {
		if s.Program != program.Name || s.State == control.AgentAway || !program.Monitors(at) || slices.Contains(s.Ways, control.ByMonitor) {
			continue
		}
		then := "its socket alone wakes it"
		if len(s.Ways) == 0 {
			then = "it hears at its next turn"
		}
		found = append(found, install.Finding{Problem: fmt.Sprintf("the session %s (process %d) runs no monitor of parley's, so %s", s.Agent, s.Process, then), Do: "type /reload-plugins there"})
	}
	return found
}

// nodeFindings says what is wrong with the node that the sessions are to talk to.
func nodeFindings(ctx context.Context, p *cli.Program) (found []Obstacle, status control.Status) {
	found = []Obstacle{}
	home, err := p.HomeDir()
	if err != nil {
		return append(found, Obstacle{Problem: err.Error(), Do: "parley status"}), status
	}
	if !cli.Configured(home) {
		why := cli.NotConfigured(home, "")
		if why.Hint == cli.BeginHint {
			why.Hint = "parley install claude, or codex: it makes one too; on a further machine of a fleet, first: parley join URL"
		}
		return append(found, Obstacle{Problem: why.Message, Do: why.Hint}), status
	}
	client, err := p.Client()
	if err == nil {
		status, err = control.ShowStatus.Ask(ctx, client)
	}
	switch {
	case err != nil && cli.NoNodeRuns(err):
		found = append(found, Obstacle{Problem: control.AsError(err).Message + ", and without one sessions hear nothing", Do: "parley up -d"})
	case err != nil:
		e := control.AsError(err)
		found = append(found, Obstacle{Problem: e.Message, Do: e.Hint})
	case status.Version != cli.Version:
		found = append(found, Obstacle{Problem: "the node is of version " + status.Version + ", and this parley of " + cli.Version, Do: "parley stop && parley up -d"})
	}
	return found, status
}

// managed are the files in which the administrator of a machine settles what Claude Code may do.
func managed() []string {
	folder := "/etc/claude-code"
	switch runtime.GOOS {
	case "darwin":
		folder = "/Library/Application Support/ClaudeCode"
	case "windows":
		folder = filepath.Join(os.Getenv("ProgramFiles"), "ClaudeCode")
	}
	more, _ := filepath.Glob(filepath.Join(folder, "managed-settings.d", "*.json"))
	return append([]string{filepath.Join(folder, "managed-settings.json")}, more...)
}
