// Package install puts parley into the agent programs of this machine, and says what is in its way
// there.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// flags are those of parley install.
type flags struct {
	yes, undo, project, begin, details bool
	join, alias, human                 string
}

// Begin makes a node as parley init does, or as parley join does with an invitation line or the URL of
// a record, and starts it if a person is at the terminal. It does nothing if there is one of that fleet.
type Begin func(ctx context.Context, p *cli.Program, remote, alias, human string) error

// NewCommand is parley install.
func NewCommand(p *cli.Program, begin Begin, end End, answers Answers) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "install [" + strings.Join(names(), "|") + "]",
		Short: "Put parley into an agent program: its sessions are agents then",
		Long: `Put parley into an agent program. Each of its sessions is an agent then, which
others can write to, and which hears its mail while it works. Without a word it
shows which programs are here, and into which of them parley is put already.

What is to be written is named, and you are asked; --details shows every line.
In a file that is yours, only parley's own lines are added; --undo takes them
out again, and leaves every other byte as it is. With --project it is written
into the current folder, for all who work in that project.

Where there is no node yet, you are asked for the fleet to join: the invitation
line that "parley fleet invite" prints on a host of it, or its repository. Enter
begins a fleet here. The node is started then. Where nobody can be asked, --new
begins a fleet, and --join joins one, with --alias and --human as parley join
has them; "parley up -d" starts the node. "parley install service" has the
system start it.`,
		Example: `  parley install
  parley install claude
  parley install codex --yes --join git@example.org:fleet/record.git
  parley install claude --undo`,
		Args:      cli.Between(0, 1, "one program"),
		ValidArgs: names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.begin && f.join != "" {
				return cli.UsageErrorf(cmd, "--new and --join exclude each other")
			}
			if len(args) == 0 && f != (flags{}) {
				return cli.UsageErrorf(cmd, "name the program: %s", strings.Join(names(), " or "))
			}
			at, err := places(p, f.project)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return runList(cmd.Context(), p, at)
			}
			program, err := find(cmd, args[0])
			if err != nil {
				return err
			}
			if err := p.ForOperator("change what an agent program does"); err != nil {
				return err
			}
			if p.JSON && !f.yes {
				return cli.UsageErrorf(cmd, "--json needs --yes: nobody is asked")
			}
			if !f.undo {
				if err := ensureNode(cmd.Context(), p, f, begin); err != nil {
					return err
				}
			}
			return runInstall(cmd.Context(), p, program, at, f)
		},
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.details, "details", false, "show every line that is written")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "take parley out of the program")
	cmd.Flags().BoolVar(&f.project, "project", false, "for the project in the current folder, in files that others get too")
	cmd.Flags().BoolVar(&f.begin, "new", false, "where there is no node: begin a fleet here")
	cmd.Flags().StringVar(&f.join, "join", "", "where there is no node: join the fleet whose record is at `URL`, or that an invitation line names")
	cmd.Flags().StringVar(&f.alias, "alias", "", "where there is no node: name of this host in the fleet (default: from the machine's name)")
	cmd.Flags().StringVar(&f.human, "human", "", "where there is no node: name of the human who decides here (default: your user name)")
	cmd.AddCommand(newServiceCommand(p, end, answers))
	return p.JSONFlag(cmd, "print the programs, or the files of one, as a JSON array")
}

func names() []string {
	return each.Of(install.Programs(), func(p install.Program) string { return p.Name })
}

func find(cmd *cobra.Command, name string) (install.Program, error) {
	program, ok := install.Find(name)
	if !ok {
		return program, cli.UsageErrorf(cmd, "parley cannot be put into %q: it knows %s", name, strings.Join(names(), " and "))
	}
	return program, nil
}

// places says where to install for whoever calls.
func places(p *cli.Program, project bool) (at install.Places, err error) {
	at = install.Places{Getenv: p.Getenv, Skills: skill.Files, Managed: managed(), Required: "/etc/codex/requirements.toml"}
	if at.Home = p.Getenv("HOME"); at.Home == "" {
		if at.Home, err = os.UserHomeDir(); err != nil {
			return at, fmt.Errorf("cannot tell where your home is: %w", err)
		}
	}
	usual, err := configs.UsualHome(p.Getenv)
	if err != nil {
		return at, err
	}
	if at.Folder, err = os.Getwd(); err != nil {
		return at, fmt.Errorf("cannot tell which folder this is: %w", err)
	}
	at.Data = install.Data(usual)
	if project {
		at.Argv, at.Project = []string{"parley"}, at.Folder // the others have it elsewhere
		return at, nil
	}
	own, err := ownPath(p.Getenv("PATH"))
	if err != nil {
		return at, err
	}
	at.Argv = []string{own}
	home, err := p.HomeDir()
	if err == nil && home.Dir != usual {
		at.Argv = append(at.Argv, "--home", home.Dir)
	}
	for _, word := range at.Argv {
		if term.Line(word) != word {
			return at, control.Errorf(control.KindRefused, "move it to a path of plain characters", "cannot be called by other programs: %q", word)
		}
	}
	return at, err
}

// ownPath is the path by which a program is to call this one. The name in PATH stays when another
// version is installed.
func ownPath(folders string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where parley is: %w", err)
	}
	named := install.LookPath("parley", folders)
	if a, err := os.Stat(named); err == nil {
		if b, err := os.Stat(own); err == nil && os.SameFile(a, b) {
			return named, nil
		}
	}
	if !strings.HasPrefix(filepath.Base(own), "parley") {
		return "", fmt.Errorf("cannot be found by other programs: %s is not called parley", own)
	}
	return own, nil
}

// ensureNode makes a node where there is none of the fleet that was named.
func ensureNode(ctx context.Context, p *cli.Program, f flags, begin Begin) error {
	home, err := p.HomeDir()
	if err != nil {
		return err
	}
	cli.WarnOfLine(p, f.join)
	if !cli.Configured(home) && f.join == "" && !f.begin {
		if why := cli.NotConfigured(home, ""); why.Hint != cli.BeginHint {
			return why
		}
		if f.yes || !atTerminal(p) {
			return control.Errorf(control.KindUsage, "--new begins a fleet here, --join URL joins one", "cannot install: there is no node at %s yet, and nobody is there to ask", home.Dir)
		}
		if f.join, err = p.Ask(ctx, "Fleet to join (invitation line or repository), Enter begins one here: "); err != nil {
			return err
		}
	}
	for {
		err := begin(ctx, p, f.join, f.alias, f.human)
		taken := new(control.Error)
		if !errors.As(err, &taken) || !strings.HasSuffix(taken.Hint, "--alias NAME") || f.yes || !atTerminal(p) {
			return err
		}
		p.View().Note(taken.Message)
		if f.alias, _ = p.Ask(ctx, "Another name for this host: "); f.alias == "" { // somebody who closes the input names none
			return err
		}
	}
}

func atTerminal(p *cli.Program) bool { return p.Err.Terminal && term.IsTerminal(p.Stdin) }

// ChangedFile is what became of a file, as --json prints it.
type ChangedFile struct {
	Program string `json:"program"` // claude or codex
	Path    string `json:"path"`    // the file
	State   string `json:"state"`   // written, changed or removed
}

func runInstall(ctx context.Context, p *cli.Program, program install.Program, at install.Places, f flags) error {
	here := program.Look(ctx, p.Getenv)
	for _, need := range program.Needs {
		if need.Must && here.Version.Before(need.Since) && !f.undo {
			return control.Errorf(control.KindRefused, program.Name+" update", "cannot install: %s %s is too old: it %s from %s on", program.Title, here.Version, need.What, need.Since)
		}
	}
	plan, err := agreed(ctx, p, program, at, here, f, "", " in "+program.Title+"; the node of this machine stays")
	if err != nil {
		return err
	}
	if err := plan.Apply(); err != nil {
		return explain(p, err)
	}
	files := changed(program.Name, plan)
	return p.View().Show(files, nil, func() { done(ctx, p, program, f, len(files) > 0) })
}

// agreed is what is to be written or undone, after a person has seen it and `more`, and has said yes.
// To a no, it says that nothing was changed `where`.
func agreed(ctx context.Context, p *cli.Program, program install.Program, at install.Places, here install.Here, f flags, more, where string) (install.Plan, error) {
	v := p.View()
	plan, err := program.Install(at, here)
	if f.undo {
		plan, err = program.Undo(at, here)
	}
	if err != nil {
		return plan, explain(p, err)
	}
	if !p.JSON {
		show(v, at.Home, program, here, plan)
		if more != "" {
			v.Say(more)
		}
		if f.details {
			showDetails(v, plan)
		}
	}
	switch {
	case len(plan.Changes) == 0 || f.yes:
	case !atTerminal(p):
		return plan, control.Errorf(control.KindRefused, "--yes writes it", "cannot ask whether to write this: this is no terminal")
	case !agrees(ctx, p, plan, f):
		p.Err.Printf("nothing was changed%s\n", where)
		return plan, cli.ErrSaid
	}
	return plan, nil
}

// explain shows what a person can write by hand where parley does not.
func explain(p *cli.Program, err error) error {
	blocked := new(install.Blocked)
	if !errors.As(err, &blocked) {
		return err
	}
	hint := "put the file right or aside, and do it again"
	if blocked.Paste != "" && !p.JSON {
		p.Err.Printf("%s\n", blocked.Paste)
		hint += "; or write into it yourself what stands above"
	}
	return control.Errorf(control.KindRefused, hint, "%v", err)
}

// changed says what became of the files of a plan.
func changed(name string, plan install.Plan) []ChangedFile {
	return each.Of(plan.Changes, func(c install.Change) ChangedFile {
		return ChangedFile{Program: name, Path: c.Path, State: stateOf(c)}
	})
}

func stateOf(c install.Change) string {
	switch {
	case c.After == nil:
		return "removed"
	case c.Before == nil:
		return "written"
	}
	return "changed"
}

// agrees asks whether to do it, and shows the details to whoever wants to see them first.
func agrees(ctx context.Context, p *cli.Program, plan install.Plan, f flags) bool {
	if f.undo {
		return p.Confirm(ctx, "Remove this? [y/N] ")
	}
	if !f.details {
		answer, _ := p.Ask(ctx, "Write this? [y/N, d: every line] ") // somebody who closes the input says no
		if answer != "d" {
			return cli.Yes(answer)
		}
		showDetails(p.View(), plan)
	}
	return p.Confirm(ctx, "Write this? [y/N] ")
}

// show says what is to be done, each in a line.
func show(v cli.View, home string, program install.Program, here install.Here, plan install.Plan) {
	name := program.Title
	if here.Path != "" {
		name = strings.TrimSpace(name+" "+here.Version.String()) + " at " + here.Path
	} else {
		name += ", which is not in your PATH"
	}
	v.Out.Printf("%s\n", v.Out.Bold(term.Line(name)))
	skills := map[string]bool{}
	for _, c := range plan.Changes {
		verb, path := map[string]string{"removed": "remove", "written": "write", "changed": "change"}[stateOf(c)], c.Path
		if c.Skill != "" {
			if skills[c.Skill] {
				continue
			}
			skills[c.Skill], path = true, c.Skill
			verb += " the skill"
		}
		if rest, below := strings.CutPrefix(path, home+string(filepath.Separator)); below {
			path = filepath.Join("~", rest)
		}
		v.Out.Printf("%s %s\n", verb, term.Line(path))
	}
	for _, note := range plan.Notes {
		v.Note("note: " + note)
	}
}

// showDetails shows what is written into files, without the texts of skills.
func showDetails(v cli.View, plan install.Plan) {
	for _, c := range plan.Changes {
		text := string(c.After)
		switch {
		case len(c.Added) > 0:
			text = strings.Join(c.Added, "\n…\n")
		case c.Skill != "", c.After == nil, c.Before != nil: // what is parley's is taken out or brought up to date
			continue
		}
		v.Out.Printf("\n%s\n", v.Out.Bold(term.Line(c.Path)))
		for line := range strings.Lines(strings.Trim(text, "\r\n")) {
			v.Out.Printf("  %s\n", v.Out.Dim(term.Line(strings.TrimRight(line, "\r\n"))))
		}
	}
}

// done says what is to be done next.
func done(ctx context.Context, p *cli.Program, program install.Program, f flags, news bool) {
	v := p.View()
	v.Out.Printf("\n")
	switch {
	case f.undo && news:
		v.Say("parley is out of " + program.Title + ". Sessions that run keep it until they end. The node of this machine stays.")
		return
	case f.undo:
		v.Say("parley was not in " + program.Title + ".")
		return
	case news:
		v.Say("parley is in " + program.Title + ": each session that you start from now on is an agent.")
		if program.Name == "claude" {
			v.Say("A session that runs already takes it up when you type /reload-plugins there.")
		}
	default:
		v.Say("parley is in " + program.Title + " already.")
	}
	if program.Name == "codex" && news {
		v.Say("When it starts, Codex asks once whether you trust these hooks. Until you have said so, it does not run them. A session is there for others from your first prompt on.")
	}
	home, err := p.HomeDir()
	if err != nil {
		return
	}
	if _, err := control.ShowStatus.Ask(ctx, p.Connect(home.Socket())); err != nil && cli.NoNodeRuns(err) {
		v.Note("No node runs here yet. Without one, sessions hear nothing.")
		v.Next("parley up -d", "start the node")
		return
	}
	v.Next(program.Name, "start a session; parley who shows it")
}

// ProgramInfo is an agent program as parley install --json prints it.
type ProgramInfo struct {
	Name      string   `json:"name"`      // for parley install
	Title     string   `json:"title"`     // as its makers call it
	Path      string   `json:"path"`      // "" if it is not in this command's PATH
	Version   string   `json:"version"`   // "" if it is not known
	Lacks     []string `json:"lacks"`     // what this version cannot do
	Installed string   `json:"installed"` // yes, no, or older: another install would change it
	Problem   string   `json:"problem"`   // why that cannot be told; "" if it can
}

func runList(ctx context.Context, p *cli.Program, at install.Places) error {
	v := p.View()
	infos := []ProgramInfo{}
	t := term.Table{Heading: []string{"PROGRAM", "VERSION", "PARLEY", "CAN"}, Flexible: 3}
	for _, program := range install.Programs() {
		here := program.Look(ctx, p.Getenv)
		info := ProgramInfo{Name: program.Name, Title: program.Title, Path: here.Path, Version: here.Version.String(), Lacks: []string{}}
		can := []string{}
		for _, need := range program.Needs {
			if here.Version.Before(need.Since) {
				info.Lacks = append(info.Lacks, need.What)
				can = append(can, need.What+" only from "+need.Since.String()+" on")
			} else {
				can = append(can, need.What)
			}
		}
		state, err := program.State(at, here)
		if info.Installed = string(state); err != nil {
			info.Problem = err.Error()
		}
		version, what := info.Version, strings.Join(can, ", ")
		switch {
		case here.Path == "":
			version, what = "not here", ""
		case version == "":
			version = "unknown"
		}
		infos = append(infos, info)
		t.Rows = append(t.Rows, []string{program.Name, version, info.Installed, strings.Join(append([]string{what}, nonEmpty(info.Problem)...), "; ")})
	}
	return v.Show(infos, nil, func() {
		v.Table(t)
		for _, one := range infos {
			if one.Path != "" && one.Problem == "" && one.Installed != string(install.Installed) {
				v.Next("parley install "+one.Name, "put parley into it")
				return
			}
		}
		v.Next("parley doctor", "says what is in the way of sessions")
	})
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
