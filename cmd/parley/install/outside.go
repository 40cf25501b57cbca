package install

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/service"
	"github.com/parleyfleet/parley/internal/term"
)

// Outside is something that parley has written outside its home.
type Outside struct {
	What  string
	Paths []string
	// Undo takes it away as it came; nil: only Hand does.
	Undo func(context.Context) error
	Hand string // the command that takes it away
	Node bool   // it starts the node
}

// Outsides is all that parley has written outside the home, for this person.
func Outsides(ctx context.Context, p *cli.Program, home configs.Home) (all []Outside, err error) {
	at, err := places(p, false)
	if err != nil {
		return nil, err
	}
	written, err := install.All(at.Data)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, w := range written {
		program, _ := install.Find(w.Name) // All names no others
		here, hand := at, "parley install "+w.Name+" --undo"
		here.Project = w.Project
		one := Outside{What: program.Title, Paths: w.Paths, Hand: hand, Undo: func(context.Context) error {
			plan, err := program.Undo(here, install.Here{})
			if err == nil {
				err = plan.Apply()
			}
			return explain(p, err)
		}}
		switch {
		case !w.Known:
			one.What, one.Undo, one.Hand = program.Title+" in a project", nil, "in that project: "+hand+" --project"
		case w.Project != "":
			one.What += " in the project " + w.Project
		}
		all, known = append(all, one), append(known, w.Paths...)
	}
	skills := map[string][]skill.SkillFile{}
	for _, one := range skill.Written(at.Home) {
		if !slices.Contains(known, one.Path) {
			skills[one.Program] = append(skills[one.Program], one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(skills)) {
		all = append(all, Outside{What: "skills for " + name, Hand: "parley agent skill remove " + name,
			Paths: each.Of(skills[name], func(one skill.SkillFile) string { return one.Path }),
			Undo:  func(context.Context) error { return skill.TakeAway(skills[name]) }})
	}
	return append(all, servicesOf(ctx, p, home)...), nil
}

// servicesOf are the services of the node that parley has written.
func servicesOf(ctx context.Context, p *cli.Program, home configs.Home) (all []Outside) {
	s, at, err := serviceOf(ctx, p, home, false)
	if err != nil {
		return nil // there are none on this system
	}
	program := install.Service(s.Name, s.File(runtime.GOOS), []byte(s.Text(runtime.GOOS)))
	if plan, err := program.Undo(at, install.Here{}); err == nil && len(plan.Changes) > 0 {
		all = append(all, Outside{What: "the service " + s.Name, Paths: []string{s.File(runtime.GOOS)}, Node: true, Hand: "parley install service --undo",
			Undo: func(ctx context.Context) error {
				failed := manage(ctx, s.End(runtime.GOOS))
				if err := plan.Apply(); err != nil {
					return explain(p, err)
				}
				if failed != nil { // the file is gone all the same
					p.View().Note(failed.Error())
				}
				return nil
			}})
	}
	owner, err := service.OwnerOf(home.Dir)
	if err != nil {
		return all
	}
	machine := service.OfMachine(runtime.GOOS, home.Dir, owner)
	if text, err := os.ReadFile(machine.File(runtime.GOOS)); err == nil && strings.Contains(string(text), "Written by parley install service") {
		all = append(all, Outside{What: "the service " + machine.Name + " of the whole machine", Paths: []string{machine.File(runtime.GOOS)}, Node: true,
			Hand: "sudo " + term.Shell(filepath.Clean(at.Argv[0])) + " --home " + term.Shell(home.Dir) + " install service --system --undo"})
	}
	return all
}
