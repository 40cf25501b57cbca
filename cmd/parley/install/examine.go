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
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// Examination is how sessions of agent programs fare on this machine.
type Examination struct {
	Found []causes.Found // what keeps them from hearing their mail
	Well  []string       // the programs with which nothing is wrong
	Woken []string       // of each session, by what it is woken
}

// ProgramNames are the programs into which parley can be put.
func ProgramNames() []string { return names() }

// Examine looks at the program that is named or, without a word, at those into which parley is put; if
// it is in none, at all that are here. `node` is the process of the node, 0 if none runs.
func Examine(cmd *cobra.Command, p *cli.Program, words []string, project bool, node int, sessions []control.Session) (e Examination, err error) {
	at, err := places(p, project)
	if err != nil {
		return e, err
	}
	programs := install.Programs()
	if len(words) > 0 {
		program, err := find(cmd, words[0])
		if err != nil {
			return e, err
		}
		programs = []install.Program{program}
	}
	for _, s := range sessions {
		if len(s.Ways) > 0 && slices.ContainsFunc(programs, func(p install.Program) bool { return p.Name == s.Program }) {
			e.Woken = append(e.Woken, s.Agent.String()+" is woken by "+strings.Join(each.Of(s.Ways, func(w control.SessionWay) string { return string(w) }), ", else by "))
		}
	}
	path, _ := process.Environment(node, "PATH") // "" if nobody can tell
	for _, one := range lookAt(cmd.Context(), p, at, programs, len(words) > 0) {
		own := one.program.Examine(cmd.Context(), at, one.here, path)
		unheard := unmonitored(one.program, at, sessions)
		add := func(id causes.ID, all []install.Finding) {
			for _, f := range all {
				e.Found = append(e.Found, causes.Of(id, causes.Facts{Agent: one.program.Name, Text: f.Problem, Do: f.Do}))
			}
		}
		id := causes.Program
		if one.state == install.Outdated {
			id = causes.HookMissing
		}
		add(id, own)
		if add(causes.NoMonitor, unheard); len(own)+len(unheard) == 0 {
			e.Well = append(e.Well, one.program.Title)
		}
	}
	return e, nil
}

// Mend writes anew what is missing, or is of another version, of what parley has written into agent
// programs. It returns the files. Into a program in which parley is not, it writes nothing.
func Mend(ctx context.Context, p *cli.Program) (files []string, err error) {
	at, err := places(p, false)
	if err != nil {
		return nil, err
	}
	for _, one := range lookAt(ctx, p, at, install.Programs(), false) {
		if one.state != install.Outdated {
			continue
		}
		plan, err := one.program.Install(at, one.here)
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			return files, explain(p, err)
		}
		files = append(files, each.Of(plan.Changes, func(c install.Change) string { return c.Path })...)
	}
	return files, nil
}

// lookAt looks at programs. Of those that the person has not named, it leaves out those that are not
// here, and those in which parley is not if it is in another.
func lookAt(ctx context.Context, p *cli.Program, at install.Places, programs []install.Program, named bool) (all []look) {
	for _, program := range programs {
		here := program.Look(ctx, p.Getenv)
		state, err := program.State(at, here)
		all = append(all, look{program, here, state, err != nil || state != install.Missing})
	}
	elsewhere := slices.ContainsFunc(all, func(one look) bool { return one.put })
	return slices.DeleteFunc(all, func(one look) bool { return !named && !one.put && (elsewhere || one.here.Path == "") })
}

// look is what a program is like here.
type look struct {
	program install.Program
	here    install.Here
	state   install.State
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
