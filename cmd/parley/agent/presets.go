package agent

import (
	"os/exec"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// PresetInfo is a preset as "agent presets --json" prints it.
type PresetInfo struct {
	Name      string          `json:"name"`      // for "agent add --preset"
	Title     string          `json:"title"`     // the name that its makers give the program
	Program   string          `json:"program"`   // its name in a shell
	Installed bool            `json:"installed"` // the program is in this command's PATH
	Exec      string          `json:"exec"`      // the command that is run for each message
	Input     string          `json:"input"`     // what the command gets as input: text or prompt
	Open      string          `json:"open"`      // the command of "parley agent open"
	Resume    string          `json:"resume"`    // the command that continues the last session of a member of an inquiry; "" if there is none
	Env       []string        `json:"env"`       // the variables of the node's environment that it gets, NAME or PREFIX*
	Login     []string        `json:"login"`     // files below the user's home of which such a member gets copies
	Timeout   control.Seconds `json:"timeout"`   // how long a run may take
	Install   string          `json:"install"`   // how to get the program
	Note      string          `json:"note"`      // what one should know before using it
	Source    string          `json:"source"`    // where these facts are from
}

func newPresetsCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "presets [PRESET]",
		Short: "List the agent programs that parley knows how to run",
		Long: `List the agent programs that parley knows how to run, or tell all about one of
them. A preset is only a beginning: "parley agent add NAME --preset PRESET"
writes it into the agent's own file in the home, where it can be changed.`,
		Example: `  parley agent presets
  parley agent presets claude`,
		Args: cli.Between(0, 1, "one preset"),
		RunE: func(_ *cobra.Command, args []string) error {
			presets, err := configs.Presets()
			if len(args) > 0 {
				var one configs.Preset
				one, err = configs.FindPreset(args[0])
				presets = []configs.Preset{one}
			}
			if err != nil {
				return err
			}
			return runPresets(presets, len(args) > 0, p.View())
		},
	}
	p.JSONFlag(cmd, "print an array of presets as JSON")
	cmd.ValidArgsFunction = completePresets
	return cmd
}

func runPresets(presets []configs.Preset, whole bool, v cli.View) error {
	infos := make([]PresetInfo, len(presets))
	for i, preset := range presets {
		_, err := exec.LookPath(preset.Program)
		infos[i] = PresetInfo{
			Name: preset.Name, Title: preset.Title, Program: preset.Program, Installed: err == nil, Exec: preset.Exec, Input: preset.Input,
			Open: preset.Open, Resume: preset.Resume, Env: preset.Env, Login: append([]string{}, preset.Login...), Timeout: control.Seconds(preset.Timeout), Install: preset.Install, Note: preset.Note, Source: preset.Source,
		}
	}
	switch {
	case v.JSON:
		return v.WriteJSON(infos)
	case whole:
		showPreset(v, infos[0])
		return nil
	}
	t := term.Table{Heading: []string{"PRESET", "PROGRAM", "", "INPUT", "COMMAND"}, Flexible: 4}
	for _, info := range infos {
		t.Rows = append(t.Rows, []string{info.Name, info.Title, installed(info.Installed), info.Input, info.Exec})
	}
	v.Table(t, cli.Squeeze{Column: 4, Least: 24}, cli.Squeeze{Column: 1, Least: 20})
	v.Next("parley agent presets claude", "all about one of them")
	return nil
}

func installed(yes bool) string {
	if yes {
		return "installed"
	}
	return ""
}

func showPreset(v cli.View, info PresetInfo) {
	field := func(name, value string) { v.Labelled(8, name, value) }
	command := func(name, value string) { // not cut, so that it can be copied
		if value != "" {
			v.Out.Printf("%s %s\n", v.Out.Dim(term.Pad(name+":", 8)), value)
		}
	}
	field("preset", info.Name)
	state := "not in this PATH; " + info.Install
	if info.Installed {
		state = "installed"
	}
	field("program", info.Title+" ("+info.Program+"), "+state)
	command("runs", info.Exec)
	field("input", info.Input)
	command("opens", info.Open)
	command("resumes", info.Resume)
	field("env", strings.Join(info.Env, " "))
	if len(info.Login) > 0 {
		field("login", strings.Join(info.Login, ", "))
	}
	field("timeout", span.Exact(info.Timeout.Duration()))
	field("note", info.Note)
	field("source", info.Source)
	v.Next("parley agent add "+info.Name+" --preset "+info.Name, "serve it here")
}

func completePresets(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	if presets, err := configs.Presets(); err == nil && len(args) == 0 {
		for _, preset := range presets {
			words = append(words, preset.Name+"\t"+preset.Title)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
