package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewConfigCommand is parley config.
func NewConfigCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "config",
		Short: "Check and show the configuration of this home",
		Long: `Check and show the configuration of this home: config.yaml, which only people
change, and the agents in agents/. Neither needs a running node.`,
		Example: `  parley config check && parley restart`,
	}, newConfigCheckCommand(p), newConfigShowCommand(p))
}

// ConfigProblem is one thing in a file that is wrong or unwise, as --json prints it.
type ConfigProblem struct {
	File    string `json:"file"`    // the file
	Line    int    `json:"line"`    // 0: it belongs to no line
	Key     string `json:"key"`     // the setting; "": the whole file
	Problem string `json:"problem"` // what is wrong or unwise
	Warning bool   `json:"warning"` // the file can be used as it is
}

func newConfigCheckCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "check",
		Short: "Say all that is wrong with the configuration; 1 if anything is",
		Long: `Say all that is wrong with the configuration, with lines; the exit code is 1 if
anything is. A password that stands in config.yaml, and a file that others on
this machine can read, are warned of: they keep no node from starting.`,
		Example: `  parley config check`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			return runConfigCheck(cmd.Context(), home, p.Connect(home.Socket()), v)
		}),
	}, "print an array of problems as JSON")
}

func runConfigCheck(ctx context.Context, home configs.Home, client control.Service, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "")
	}
	problems := []ConfigProblem{}
	c, err := configs.Load(home.Config())
	if err == nil {
		_, err = c.Bus.System(os.Getenv)
	}
	problems = append(problems, problemsOf(home.Config(), err)...)
	agents, err := configs.ReadAgents(home.Agents())
	problems = append(problems, problemsOf(home.Agents(), err)...)
	warnings := warningsOf(home.Config())
	if v.JSON {
		if err := v.WriteJSON(append(problems, warnings...)); err != nil {
			return err
		}
	} else {
		showChecked(v, home, agents, problems)
		for _, w := range warnings {
			v.Out.Printf("%s: warning: %s\n", term.Line(w.where()), term.Line(w.text()))
		}
		if len(problems) == 0 { // else the node would be stopped, and would not start again
			noteChanged(ctx, client, v)
		}
	}
	if len(problems) > 0 {
		return cli.ErrSaid
	}
	return nil
}

func warningsOf(file string) []ConfigProblem {
	var all []ConfigProblem
	for _, w := range configs.Warnings(file) {
		all = append(all, ConfigProblem{File: file, Line: w.Line, Key: w.Key, Problem: w.Text, Warning: true})
	}
	return all
}

// problemsOf takes an error of the configuration apart.
func problemsOf(file string, err error) []ConfigProblem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []ConfigProblem
		for _, one := range joined.Unwrap() {
			all = append(all, problemsOf(file, one)...)
		}
		return all
	}
	wrong := new(configs.Error)
	if !errors.As(err, &wrong) {
		return []ConfigProblem{{File: file, Problem: err.Error()}}
	}
	var all []ConfigProblem
	for _, problem := range wrong.Problems {
		all = append(all, ConfigProblem{File: wrong.File, Line: problem.Line, Key: problem.Key, Problem: problem.Text})
	}
	return all
}

func (p ConfigProblem) where() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

func (p ConfigProblem) text() string {
	if p.Key == "" {
		return p.Problem
	}
	return p.Key + ": " + p.Problem
}

// showChecked says of each file that it is right, or what is wrong in it.
func showChecked(v cli.View, home configs.Home, agents []configs.Agent, problems []ConfigProblem) {
	bad := map[string]bool{}
	for _, problem := range problems {
		bad[problem.File] = true
		v.Out.Printf("%s: %s\n", term.Line(problem.where()), v.Out.Warn(term.Line(problem.text())))
	}
	files := []string{home.Config()}
	for _, a := range agents {
		files = append(files, filepath.Join(home.Agents(), a.Name.String()+".yaml"))
	}
	for _, file := range files {
		if !bad[file] {
			v.Out.Printf("%s: ok\n", term.Line(file))
		}
	}
}

// noteChanged says whether a running node has to be started anew to use what the files say
// now.
func noteChanged(ctx context.Context, client control.Service, v cli.View) {
	s, err := control.ShowStatus.Ask(ctx, client)
	if err == nil && slices.ContainsFunc(s.Causes, func(f causes.Found) bool { return f.Cause == causes.ConfigChanged }) {
		v.Note("config.yaml says something else than what the node runs with; its next start takes that in")
		v.Next("parley restart", "start it anew")
	}
}

func newConfigShowCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "show",
		Short:   "Show the configuration with all defaults filled in",
		Example: `  parley config show --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(_ *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			return runConfigShow(home, v)
		}),
	}, "print the configuration as JSON")
}

// ConfigInfo is the configuration as "config show --json" prints it.
type ConfigInfo map[string]any

// NewConfigInfo is the configuration in a file. It says no passwords if `c` has none.
func NewConfigInfo(file string, c configs.Config) ConfigInfo {
	info := ConfigInfo{"file": file}
	for _, s := range configs.Settings(&c) {
		info[s.Name] = s.Value()
		if d, ok := info[s.Name].(time.Duration); ok {
			info[s.Name] = control.Seconds(d)
		}
	}
	return info
}

func runConfigShow(home configs.Home, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "")
	}
	c, err := foundConfig(home)
	if err != nil {
		return err
	}
	c.Remote, c.Bus.URL = redact.Remote(c.Remote), redact.URLs(c.Bus.URL)
	c.Notify = shownNotify(c.Notify)
	if v.JSON {
		return v.WriteJSON(NewConfigInfo(home.Config(), c))
	}
	v.Out.Printf("# %s, with all defaults\n", home.Config())
	for line := range strings.Lines(string(configs.Render(c))) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			v.Out.Printf("%s", line)
		}
	}
	return nil
}
