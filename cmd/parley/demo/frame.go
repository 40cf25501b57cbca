package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// newFrameCommand is parley demo frame.
func newFrameCommand(p *cli.Program) *cobra.Command {
	var keep string
	var quick bool
	cmd := &cobra.Command{
		Use:   "frame",
		Short: "Watch a question looked at from several perspectives",
		Long: `Start two nodes on this machine that play two hosts, and ask a question. A brief
is drafted and confirmed, perspectives are chosen, members on both hosts look at
the question, each by itself; two of them disagree and talk; what they found is
joined, with a basis for each claim. The human decides at every gate.

The agents are scripts, and the human's key is open, so that the demo can sign.
No network is used and nothing is left behind, unless --keep names a folder.`,
		Example: "  parley demo frame\n  parley demo frame --quick",
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &frameDemo{demonstration: demonstration{out: p.Out, people: map[string]string{demoHub: "nat", demoOther: "zoe"}, rest: demoRest}}
			if quick {
				d.rest = 0
			}
			return d.play(cmd.Context(), keep, d.steps(), "Ask one of yours: parley policy set frame-member=claude, then parley frame QUESTION.")
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "do not pause between the steps")
	keepFlag(cmd, &keep)
	return cmd
}

// frameDemo is the demo of inquiries.
type frameDemo struct {
	demonstration
	material string // what is investigated
}

func (d *frameDemo) steps() []step {
	return []step{
		{"Two hosts, one record. nat asks at " + demoHub + "; agents of both hosts can investigate.", d.hosts},
		{"chair makes the calls of inquiries. lens investigates: a script here, Claude or Codex at your desk.", d.agents},
		{"A question, and where to look. Nothing happens before nat has confirmed how it is understood.", d.ask},
		{"The first gate: the brief, and how much of an inquiry it is worth.", d.brief},
		{"The second gate: perspectives are placed before nat. None is prescribed.", d.choose},
		{"Each member worked alone. Only the hash of a result was told before all had ended; now all are.", d.isolated},
		{"Two perspectives disagree: they talk, three messages at most, and report. Then all is joined, each claim with its basis.", d.synthesis},
		{"What nat knows is evidence of its own kind.", d.input},
		{"The end: what each perspective gave, what none of them saw, what is worth keeping.", d.end},
		{"What proves it: every step is a message in git, and each of nat's decisions is signed.", d.proof},
	}
}

func (d *frameDemo) agents(ctx context.Context) error {
	lens := cli.ShellWord(d.binary) + " demo-agent lens"
	for _, add := range [][2]string{{demoHub, "chair"}, {demoHub, "lens"}, {demoOther, "lens"}} {
		if _, err := d.run(ctx, add[0], "agent", "add", add[1], "--exec", lens); err != nil {
			return err
		}
	}
	if _, err := d.run(ctx, demoHub, "human", "add", "--open"); err != nil {
		return err
	}
	d.material = filepath.Join(d.dir, "stores")
	for name, text := range map[string]string{
		"first.md":  "# The first store\n\nNo restart in a year. 900 a month.\n",
		"second.md": "# The second store\n\nFour restarts last month, 40 minutes each. 600 a month.\n",
	} {
		err := os.MkdirAll(d.material, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(d.material, name), []byte(text), 0o600)
		}
		if err != nil {
			return fmt.Errorf("cannot write what is investigated: %w", err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "."}, {"-c", "user.name=nat", "-c", "user.email=nat@example.org", "commit", "--quiet", "-m", "Two stores"},
	} {
		if err := d.gitQuiet(ctx, d.material, args...); err != nil {
			return err
		}
	}
	return d.until(ctx, demoHub+" knows lens of "+demoOther, func() (bool, error) {
		all, err := control.List.Ask(ctx, d.nodes[demoHub].client, control.HostsRequest{})
		for _, p := range all {
			if p.Name == "lens" && p.Host == demoOther {
				return true, err
			}
		}
		return false, err
	})
}

func (d *frameDemo) ask(ctx context.Context) error {
	if _, err := d.run(ctx, demoHub, "frame", "Which of the two stores should we keep?", "--in", d.material+"@main", "--agent", "lens", "--coordinator", "chair"); err != nil {
		return err
	}
	return d.reaches(ctx, "GATE_BRIEF")
}

// reaches waits until the inquiry is in a state. If something keeps it from going on, it says so.
func (d *frameDemo) reaches(ctx context.Context, state string) error {
	return d.until(ctx, "the inquiry is in "+state, func() (bool, error) {
		f, err := control.ShowFrame.Ask(ctx, d.nodes[demoHub].client, control.ShowFrameRequest{})
		if err == nil && f.Trouble != "" {
			err = errors.New(f.Trouble)
		}
		return f.State == state && (f.Gate != nil || f.Over), err
	})
}

// answer decides at the gate. The gate is shown before.
func (d *frameDemo) answer(ctx context.Context, next string, args ...string) error {
	if _, err := d.run(ctx, demoHub, append([]string{"frame", "answer"}, args...)...); err != nil {
		return err
	}
	return d.reaches(ctx, next)
}

func (d *frameDemo) brief(ctx context.Context) error {
	if _, err := d.run(ctx, demoHub, "frame", "show"); err != nil {
		return err
	}
	return d.answer(ctx, "GATE_PERSPECTIVES", "--choose", "confirm", "--choose", "inquire")
}

func (d *frameDemo) choose(ctx context.Context) error {
	if err := d.part(ctx, "Perspectives", "It waits for"); err != nil {
		return err
	}
	return d.answer(ctx, "GATE_ROUTE", "--choose", "perspectives=Cost accounting,Reliability engineering")
}

// part shows a part of what parley frame show prints: from the line that begins with `from` to the
// line that begins with `to`.
func (d *frameDemo) part(ctx context.Context, from, to string) error {
	args := []string{"frame", "show"}
	out, _, err := d.parley(ctx, demoHub, nil, args...)
	if err != nil {
		return err
	}
	_, rest, found := strings.Cut(out, "\n"+from+"\n")
	if !found {
		return fmt.Errorf("parley frame show does not print %q:\n%s", from, out)
	}
	rest, _, _ = strings.Cut(rest, "\n"+to)
	d.show(demoHub, args)
	d.indent(from + "\n" + rest)
	return nil
}

func (d *frameDemo) isolated(ctx context.Context) error {
	f, err := control.ShowFrame.Ask(ctx, d.nodes[demoHub].client, control.ShowFrameRequest{})
	if err != nil {
		return err
	}
	for _, m := range f.Members {
		d.say(fmt.Sprintf("%s: %s, a folder and a home of its own (%s)", m.Perspective, m.Agent, m.Grade))
	}
	return d.part(ctx, "Perspective Reports", "Cross-Dialogue Outcomes")
}

func (d *frameDemo) synthesis(ctx context.Context) error {
	if err := d.part(ctx, "Cross-Dialogue Outcomes", "Framed Analysis"); err != nil {
		return err
	}
	return d.part(ctx, "Framed Analysis", "It waits for")
}

func (d *frameDemo) input(ctx context.Context) error {
	if _, err := d.run(ctx, demoHub, "frame", "answer", "--choose", "add-input", "--text", "The contract of the second store ends in May."); err != nil {
		return err
	}
	err := d.until(ctx, "the input is joined", func() (bool, error) {
		f, err := control.ShowFrame.Ask(ctx, d.nodes[demoHub].client, control.ShowFrameRequest{})
		return f.Syntheses == 2 && f.Gate != nil, err
	})
	if err != nil {
		return err
	}
	return d.part(ctx, "## Integrated Assessment", "## Synthesis Basis")
}

func (d *frameDemo) end(ctx context.Context) error {
	if err := d.answer(ctx, "GATE_PRESERVE", "--choose", "wrap-up"); err != nil {
		return err
	}
	if err := d.part(ctx, "What each perspective gave", "It waits for"); err != nil {
		return err
	}
	if err := d.answer(ctx, "WRAPPED_UP", "--choose", "assessment"); err != nil {
		return err
	}
	_, err := d.run(ctx, demoHub, "memory", "list")
	return err
}

func (d *frameDemo) proof(ctx context.Context) error {
	if err := d.settled(ctx); err != nil {
		return err
	}
	f, err := control.ShowFrame.Ask(ctx, d.nodes[demoHub].client, control.ShowFrameRequest{})
	if err != nil {
		return err
	}
	path, err := protocol.ParsePath(f.Path)
	if err != nil {
		return err
	}
	return d.gitShow(ctx, "log", "--oneline", "--no-decorate", "-n", "3", "main", "--", protocol.ChannelsDir+"/"+path.Channel().String())
}
