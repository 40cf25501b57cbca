package talk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewOpenCommand is parley agent open.
func NewOpenCommand(p *cli.Program) *cobra.Command {
	var r control.OpenRequest
	var show bool
	cmd := &cobra.Command{
		Use:   "open AGENT",
		Short: "Open an agent's own interactive program, with its context",
		Long: `Open the interactive program of an agent served here, in the agent's folder, as
that agent. It is given its context: profile, what the channel is for,
memories, the conversation so far, and how it uses parley. Where the program
takes no such text, the context lies in the file that PARLEY_CONTEXT names
while the program runs.

The exit code is that of the program.`,
		Example: `  parley agent open claude
  parley agent open claude --channel sprint
  parley agent open claude --print`,
		Args: cli.Exactly(1, "the agent's name"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Agent = args[0]
			return runOpen(cmd.Context(), r, show, client, v)
		}),
		ValidArgsFunction: p.CompleteAgents,
	}
	cmd.Flags().StringVar(&r.Channel, "channel", "", "the channel, by name or id (default: the direct one of you two)")
	cmd.Flags().BoolVar(&show, "print", false, "print the context and the command instead of running it")
	p.CompleteFlags(cmd, "channel")
	return p.JSONFlag(cmd, "with --print: print them as JSON")
}

func runOpen(ctx context.Context, r control.OpenRequest, show bool, client control.Service, v cli.View) error {
	o, err := control.Open.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if show {
		if v.JSON {
			return v.WriteJSON(o)
		}
		v.Out.Printf("%s", v.Out.Body(o.Context))
		v.Err.Printf("%s\n", v.Err.Dim("would run in "+term.Line(o.Dir)+": "+term.Line(commandOf(o))))
		return nil
	}
	file, remove, err := writeContext(o.Context)
	if err != nil {
		return err
	}
	defer remove()
	if !o.Passed {
		v.Err.Printf("%s\n", v.Err.Dim("what it should know is in "+file))
	}
	return runProgram(o, "PARLEY_CONTEXT="+file)
}

func commandOf(o control.Opening) string {
	words := each.Of(o.Argv, func(word string) string { return cli.ShellWord(strings.ReplaceAll(word, o.Context, "{context}")) })
	return strings.Join(words, " ")
}

func writeContext(text string) (file string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "parley-open-")
	if err != nil {
		return "", nil, fmt.Errorf("cannot write the context: %w", err)
	}
	remove = func() { os.RemoveAll(dir) }
	file = filepath.Join(dir, "context.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot write the context: %w", err)
	}
	return file, remove, nil
}

// runProgram runs the program in the terminal. Ctrl-C goes only to the program.
func runProgram(o control.Opening, env string) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Dir = o.Dir
	cmd.Env = append(append(environ.Clean(os.Environ()), o.Env...), env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return cli.ExitCode(ended.ExitCode())
	case errors.As(err, &ended):
		return fmt.Errorf("%s was ended: %w", o.Argv[0], err)
	}
	return control.Errorf(control.KindFailed, "install it, or write its whole path: agents/"+o.Agent+".yaml in the home",
		"cannot open %s: %v", o.Agent, err)
}
