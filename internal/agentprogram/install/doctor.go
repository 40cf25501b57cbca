package install

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Finding is something that is in the way, and what to do about it.
type Finding struct {
	Problem, Do string
}

// askAdministrator is what helps against settings that are not the person's.
const askAdministrator = "ask who administers this machine"

// State is how far parley is in a program.
type State string

// The states.
const (
	Missing   State = "no"
	Installed State = "yes"
	Outdated  State = "older" // another install would change it
)

// State says how far parley is in the program.
func (p Program) State(at Places, here Here) (State, error) {
	plan, err := p.Install(at, here)
	if err != nil {
		return Missing, err
	}
	if len(plan.Changes) == 0 {
		return Installed, nil
	}
	undo, err := p.Undo(at, here)
	if err != nil || len(undo.Changes) == 0 {
		return Missing, err
	}
	return Outdated, nil
}

// Examine says what is in the way of parley in a program, the most important first. `path` is the
// PATH of the node; "" if none runs, or if nobody can tell.
func (p Program) Examine(ctx context.Context, at Places, here Here, path string) (found []Finding) {
	if here.Path == "" {
		return []Finding{{p.Name + " is not in your PATH", "install " + p.Title + ", or put its folder into PATH"}}
	}
	for _, need := range p.Needs {
		if here.Version.Before(need.Since) {
			found = append(found, Finding{fmt.Sprintf("%s %s is too old: it %s from %s on", p.Name, here.Version, need.What, need.Since), p.Name + " update"})
		}
	}
	switch state, err := p.State(at, here); {
	case err != nil:
		return append(found, Finding{err.Error(), "parley install " + p.Name})
	case state == Missing:
		return append(found, Finding{"parley is not installed in " + p.Title, "parley install " + p.Name})
	case state == Outdated:
		found = append(found, p.differs(ctx, at)...)
	}
	return slices.Concat(found, p.callable(at, path), p.state(at))
}

// callable says why the node cannot call the program. It calls the one that was there when parley
// was put into it.
func (p Program) callable(at Places, path string) []Finding {
	program, _, err := p.Known(at.Data)
	if !p.called || err != nil || at.Project != "" {
		return nil
	}
	if LookPath(filepath.Base(program), filepath.Dir(program)) == "" {
		return []Finding{{fmt.Sprintf("the node cannot wake sessions: it calls %q, and no program is there", program), "parley install " + p.Name}}
	}
	line := firstLine(program)
	if words := strings.Fields(line); len(words) > 1 && words[0] == "#!/usr/bin/env" && path != "" && LookPath(words[1], path) == "" {
		return []Finding{{fmt.Sprintf("the node cannot wake sessions: %s needs %s, which is not in the PATH of the node", p.Name, words[1]), "parley stop, then parley up -d in a shell that finds it"}}
	}
	return nil
}

// firstLine is the beginning of a file, up to its first line end; "" if nobody can read it.
func firstLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 200)).ReadString('\n') // it may have no line end
	return line
}

// differs says how what is installed differs from what would be. Another parley of the same version
// does as well.
func (p Program) differs(ctx context.Context, at Places) []Finding {
	do := "parley install " + p.Name
	argv := p.calls(at)
	switch {
	case len(argv) == 0:
		return []Finding{{"what is installed is not all of it, or is of another version", do}}
	case !isThere(argv[0]) && filepath.IsAbs(argv[0]):
		return []Finding{{fmt.Sprintf("the hooks call %s, and it is not there", argv[0]), do}}
	case !slices.Equal(argv[1:], at.Argv[1:]):
		return []Finding{{"the hooks ask the node of another home: " + cmp.Or(strings.Join(argv[1:], " "), "the usual one"), do}}
	case argv[0] == at.Argv[0]:
		return []Finding{{"what is installed is of another version of parley", do}}
	}
	theirs, ours := askVersion(ctx, argv[0], "version"), askVersion(ctx, at.Argv[0], "version")
	if slices.Equal(theirs, ours) {
		return nil
	}
	return []Finding{{fmt.Sprintf("the hooks call another parley: %s (%s), and this one is %s (%s)", argv[0], theirs, at.Argv[0], ours), do}}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// calls is the parley that the installed hooks call, with its flags; nil if there are none.
func (p Program) calls(at Places) []string {
	r, err := p.readRecord(at)
	if err != nil {
		return nil
	}
	for _, k := range r.Files {
		if k.Kind != kindHooks && filepath.Base(k.Path) != "hooks.json" {
			continue
		}
		data, _ := os.ReadFile(k.Path) // what is not there calls nothing
		all, _ := hooksOf(data)        // the same
		if i := slices.IndexFunc(all, func(one placed) bool { return hooks{program: p.Name}.ours(one.handler) }); i >= 0 {
			return words(all[i].Command)
		}
	}
	return nil
}

// words are the words of a command as [Places.Command] writes it, without those from "hook" on.
func words(command string) (all []string) {
	for rest := strings.TrimSpace(command); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var word strings.Builder
		for rest != "" && rest[0] != ' ' {
			var part string
			switch {
			case rest[0] == '\'':
				part, rest, _ = strings.Cut(rest[1:], "'")
			case rest[0] == '\\' && len(rest) > 1:
				part, rest = rest[1:2], rest[2:]
			default:
				end := strings.IndexAny(rest, ` '\`)
				if end < 0 {
					end = len(rest)
				}
				part, rest = rest[:max(end, 1)], rest[max(end, 1):]
			}
			word.WriteString(part)
		}
		if word.String() == "hook" {
			break
		}
		all = append(all, word.String())
	}
	return all
}
