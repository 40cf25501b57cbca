package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newConfigCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and show the configuration of this home",
		Long: `Check and show the configuration of this home: config.yaml, which only people
change, and the agents in agents/. Neither needs a running node.`,
		Example: `  parley config check && parley stop && parley up -d`,
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs check or show", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newConfigCheckCommand(p), newConfigShowCommand(p))
	return cmd
}

// configProblem is one thing that is wrong with a file, as --json prints it.
type configProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0: in no line
	Key     string `json:"key"`
	Problem string `json:"problem"`
}

func newConfigCheckCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "Say all that is wrong with the configuration; 1 if anything is",
		Example: `  parley config check`,
		Args:    exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			return runConfigCheck(cmd.Context(), home, p.connect(home.Socket()), p.view())
		},
	}
	p.jsonFlag(cmd, "print an array of problems as JSON")
	return cmd
}

func runConfigCheck(ctx context.Context, home configs.Home, client control.Service, v view) error {
	if !configured(home) {
		return errNotConfigured(home)
	}
	problems := []configProblem{}
	c, err := configs.Load(home.Config())
	if err == nil {
		_, err = c.Bus.System(os.Getenv)
	}
	problems = append(problems, problemsOf(home.Config(), err)...)
	agents, err := configs.ReadAgents(home.Agents())
	problems = append(problems, problemsOf(home.Agents(), err)...)
	if v.json {
		if err := v.writeJSON(problems); err != nil {
			return err
		}
	} else {
		v.checked(home, agents, problems)
		v.changedSince(ctx, home, client)
	}
	if len(problems) > 0 {
		return errSaid
	}
	return nil
}

func errNotConfigured(home configs.Home) error {
	return control.Errorf(control.KindNotFound, "parley init", "there is no node at %s", home.Dir)
}

// problemsOf takes an error of the configuration apart.
func problemsOf(file string, err error) []configProblem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []configProblem
		for _, one := range joined.Unwrap() {
			all = append(all, problemsOf(file, one)...)
		}
		return all
	}
	wrong := new(configs.Error)
	if !errors.As(err, &wrong) {
		return []configProblem{{File: file, Problem: err.Error()}}
	}
	var all []configProblem
	for _, problem := range wrong.Problems {
		all = append(all, configProblem{File: wrong.File, Line: problem.Line, Key: problem.Key, Problem: problem.Text})
	}
	return all
}

// checked tells of each file that it is right, or what is wrong.
func (v view) checked(home configs.Home, agents []configs.Agent, problems []configProblem) {
	bad := map[string]bool{}
	for _, problem := range problems {
		bad[problem.File] = true
		where := problem.File
		if problem.Line > 0 {
			where += ":" + strconv.Itoa(problem.Line)
		}
		text := problem.Problem
		if problem.Key != "" {
			text = problem.Key + ": " + text
		}
		v.out.Printf("%s: %s\n", term.Line(where), v.out.Warn(term.Line(text)))
	}
	files := []string{home.Config()}
	for _, a := range agents {
		files = append(files, filepath.Join(home.Agents(), a.Name.String()+".yaml"))
	}
	for _, file := range files {
		if !bad[file] {
			v.out.Printf("%s: ok\n", term.Line(file))
		}
	}
}

// changedSince says whether a running node has yet to be started with what the
// files say now.
func (v view) changedSince(ctx context.Context, home configs.Home, client control.Service) {
	s, err := client.Status(ctx)
	info, statErr := os.Stat(home.Config())
	if err == nil && statErr == nil && info.ModTime().After(s.Since.Add(time.Second)) {
		v.out.Printf("%s\n", v.out.Warn("config.yaml has changed since the node was started: it counts from the next start"))
		v.next("parley stop && parley up -d", "start it anew")
	}
}

func newConfigShowCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the configuration with all defaults filled in",
		Example: `  parley config show --json`,
		Args:    exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			return runConfigShow(home, p.view())
		},
	}
	p.jsonFlag(cmd, "print the configuration as JSON")
	return cmd
}

// configInfo is the configuration as "config show --json" prints it.
type configInfo struct {
	File           string   `json:"file"`
	Fleet          string   `json:"fleet"`
	Alias          string   `json:"alias"`
	Human          string   `json:"human"`
	Remote         string   `json:"remote"`
	Listen         string   `json:"listen"`
	Links          string   `json:"links"`
	Advertise      []string `json:"advertise"`
	Hubs           []string `json:"hubs"`
	URL            string   `json:"url"`
	Creds          string   `json:"creds"`
	NKey           string   `json:"nkey"`
	CA             string   `json:"ca"`
	Context        string   `json:"context"`
	FetchInterval  string   `json:"fetch_interval"`
	PushInterval   string   `json:"push_interval"`
	CourierGrace   string   `json:"courier_grace"`
	MaxHops        int      `json:"max_hops"`
	MessageLimit   int      `json:"message_limit"` // bytes
	CommandTimeout string   `json:"command_timeout"`
	LogLevel       string   `json:"log_level"`
}

func runConfigShow(home configs.Home, v view) error {
	if !configured(home) {
		return errNotConfigured(home)
	}
	c, err := configs.Load(home.Config())
	if err != nil {
		return err
	}
	c.Remote, c.Bus.URL = withoutPassword(c.Remote), redact.URLs(c.Bus.URL)
	if v.json {
		return v.writeJSON(configInfo{
			File: home.Config(), Fleet: c.Fleet.String(), Alias: c.Alias.String(), Human: c.Human.String(), Remote: c.Remote,
			Listen: c.Bus.Listen, Links: c.Bus.LinksAddress(), Advertise: c.Bus.Advertise, Hubs: c.Bus.Hubs, URL: c.Bus.URL,
			Creds: c.Bus.Creds, NKey: c.Bus.NKey, CA: c.Bus.CA, Context: c.Bus.Context,
			FetchInterval: c.FetchInterval.String(), PushInterval: c.PushEvery().String(), CourierGrace: c.CourierGrace.String(),
			MaxHops: c.MaxHops, MessageLimit: c.MessageLimit, CommandTimeout: c.CommandTimeout.String(), LogLevel: c.LogLevel,
		})
	}
	v.out.Printf("# %s, with all defaults\n", home.Config())
	for line := range strings.Lines(string(configs.Render(c))) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			v.out.Printf("%s", line)
		}
	}
	return nil
}

// withoutPassword is the URL of a git remote as it may be shown.
func withoutPassword(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		return u.Redacted()
	}
	return remote
}
