package install_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// At a terminal a person is asked once which fleet to join, for another name where the fleet has one,
// and whether to write what is named. Every line is shown to whoever asks for it.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		name, fleet, answer, remote string
		code                        int
	}{
		{"joins", "git@example.org:fleet/record.git", "n", "git@example.org:fleet/record.git as black", cli.ExitFailed},
		{"begins", "", "y", " as ", cli.ExitDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := clitest.OpenTerminal(t)
			asked := []string{}
			r := clitest.New(t, func(program *cli.Program) *cobra.Command {
				begin := func(_ context.Context, _ *cli.Program, remote, alias, _ string) error {
					if remote != "" && alias == "" {
						return control.Errorf(control.KindConflict, "choose another name for this one: --alias NAME", "cannot make a node: the fleet has a host called white already")
					}
					asked = append(asked, remote+" as "+alias)
					return nil
				}
				return cli.NewRoot(program, install.NewCommand(program, begin, nil, nil))
			})
			home := t.TempDir()
			r.Env["HOME"], r.Env["PATH"] = home, home
			parley := filepath.Join(home, "parley")
			if own, err := os.Executable(); err != nil {
				t.Fatal(err)
			} else if err := os.Symlink(own, parley); err != nil {
				t.Fatal(err)
			}
			r.Program.Stdin, r.Program.Err = p.Side, term.NewScreen(p.Side, func(string) string { return "" })
			r.Program.Out = r.Program.Err
			ended := make(chan int)
			go func() { ended <- r.Do("install", "claude") }() // ends when both questions are answered
			p.Shows("invitation line or repository")
			p.Type(c.fleet + "\n")
			if c.fleet != "" {
				p.Shows("has a host called white")
				p.Shows("Another name for this host")
				p.Type("black\n")
			}
			p.Shows("write ~/.claude/skills/parley/hooks/hooks.json")
			p.Shows("Write this?")
			p.Type("d\n")
			p.Shows(`"UserPromptSubmit": [{"hooks":`)
			p.Shows("Write this?")
			p.Type(c.answer + "\n")
			if code := <-ended; code != c.code {
				t.Errorf("exit %d", code)
			}
			if len(asked) != 1 || asked[0] != c.remote {
				t.Errorf("a node was made of %q", asked)
			}
			_, err := os.Stat(filepath.Join(home, ".claude", "skills", "parley", "hooks", "hooks.json"))
			if written := err == nil; written != (c.code == cli.ExitDone) {
				t.Errorf("it is written: %t", written)
			}
		})
	}
}
