package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// demoRest is how long a step of the demo of parties is shown before the next one.
const demoRest = 2 * time.Second

// newPartyCommand is parley demo party.
func newPartyCommand(p *cli.Program) *cobra.Command {
	var keep string
	var quick bool
	cmd := &cobra.Command{
		Use:   "party",
		Short: "Watch agents work together while humans decide: half a minute",
		Long: `Start two nodes on this machine that play two hosts, each with a human, and
three agents. Two of these agree on something and check whether both still hold
it. A party is organized; the human of the other host decides who of their
agents joins. The party is told something, shares work, and is left again.

The humans' keys are made for the demo and open: they have no passphrase, so
that the demo can sign. No network is used and nothing is left behind, unless
--keep names a folder.`,
		Example: `  parley demo party
  parley demo party --quick`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &partyDemo{demonstration{out: p.Out, people: map[string]string{demoHub: "nat", demoOther: "zoe"}, rest: demoRest}}
			if quick {
				d.rest = 0
			}
			return d.play(cmd.Context(), keep, d.steps(), "Begin one of yours: parley human add, then parley organize TOPIC --with AGENT.")
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "do not pause between the steps")
	keepFlag(cmd, &keep)
	return cmd
}

// partyDemo is the demo of topics and parties.
type partyDemo struct{ demonstration }

func (d *partyDemo) steps() []step {
	return []step{
		{"Two hosts, one record, and a human at each: nat at " + demoHub + ", zoe at " + demoOther + ".", d.hosts},
		{"Each human has a key, with which they decide. Yours has a passphrase. These are open, so that the demo can sign.", d.keys},
		{"Three agents: skills at oracle-world, mawjs and mawui at white. In this demo a script speaks for them.", d.agents},
		{"A topic: two agents keep what they agree on. Each accepts for itself.", d.topic},
		{"A sync-check: does mawjs still hold it? It scores each claim and says where it has it from.", d.sync},
		{"A party: several agents, led by a human. Who is invited is not in it yet.", d.organize},
		{"A gate: zoe decides about the agents of her host. Who calls as an agent is refused. Silence decides nothing.", d.gate},
		{"What proves it: zoe's signature (hsig), in git. Every host checks it.", d.proof},
		{"tell: say something to all. mawjs is busy, and gets it when it is free.", d.tell},
		{"A task is taken by one alone.", d.task},
		{"who: where each one is, how far in sync, what is being done.", d.who},
		{"mesh: the same of all parties, on all hosts. --svg FILE draws it.", d.mesh},
		{"leave: the others go on. Nothing is deleted.", d.leave},
	}
}

// untilShown waits until a command prints `text`. The command is not shown.
func (d *partyDemo) untilShown(ctx context.Context, alias, text string, args ...string) error {
	return d.until(ctx, fmt.Sprintf("%q shows %q", "parley "+strings.Join(args, " "), text), func() (bool, error) {
		out, _, _ := d.parley(ctx, alias, nil, args...) // fails as long as there is nothing of that name
		return strings.Contains(out, text), ctx.Err()
	})
}

// all runs commands at a host, each with its words, and shows them.
func (d *partyDemo) all(ctx context.Context, alias string, commands ...[]string) error {
	for _, args := range commands {
		if _, err := d.run(ctx, alias, args...); err != nil {
			return err
		}
	}
	return nil
}

func (d *partyDemo) keys(ctx context.Context) error {
	return errors.Join(d.all(ctx, demoHub, []string{"human", "add", "--open"}), d.all(ctx, demoOther, []string{"human", "add", "--open"}))
}

func (d *partyDemo) agents(ctx context.Context) error {
	folders := map[string]string{} // each agent writes files about its work into its own folder
	for _, name := range []string{"skills", "mawjs", "mawui"} {
		folders[name] = filepath.Join(d.dir, name)
		if err := os.Mkdir(folders[name], 0o700); err != nil {
			return fmt.Errorf("cannot make the folder of %s: %w", name, err)
		}
	}
	if err := d.all(ctx, demoHub, []string{"agent", "add", "skills", "--inbox", "--dir", folders["skills"]}); err != nil {
		return err
	}
	err := d.all(ctx, demoOther,
		[]string{"agent", "add", "mawjs", "--exec", cli.ShellWord(d.binary) + " demo-agent partner", "--dir", folders["mawjs"]},
		[]string{"agent", "add", "mawui", "--inbox", "--dir", folders["mawui"]})
	if err != nil {
		return err
	}
	return d.untilShown(ctx, demoHub, "mawui", "ls")
}

func (d *partyDemo) topic(ctx context.Context) error {
	err := d.all(ctx, demoHub, []string{"work-with", "mawjs", "panes"}, []string{"work-with", "mawjs", "panes", "--agree", "Panes are named after agents"})
	if err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoOther, "A1", "work-with", "skills", "panes", "--via", "mawjs"); err != nil {
		return err
	}
	if err := d.all(ctx, demoOther, []string{"work-with", "skills", "panes", "--accept", "A1", "--via", "mawjs"}); err != nil {
		return err
	}
	return d.untilShown(ctx, demoHub, "mawjs   ✓ accept", "work-with", "mawjs", "panes", "--state")
}

func (d *partyDemo) sync(ctx context.Context) error {
	return d.all(ctx, demoHub, []string{"work-with", "mawjs", "panes", "--sync"})
}

func (d *partyDemo) organize(ctx context.Context) error {
	if err := d.all(ctx, demoHub, []string{"organize", "panes", "--with", "mawjs", "mawui"}); err != nil {
		return err
	}
	return d.until(ctx, "zoe is asked", func() (bool, error) {
		list, err := control.Gates.Ask(ctx, d.nodes[demoOther].client, control.GatesRequest{})
		return len(list.Gates) == 2, err
	})
}

// gate has an agent try in vain what only a human may decide. Then the human decides it.
func (d *partyDemo) gate(ctx context.Context) error {
	list, err := control.Gates.Ask(ctx, d.nodes[demoOther].client, control.GatesRequest{})
	if err != nil {
		return err
	}
	args := []string{"gates", list.Gates[0].ID}
	d.show(demoOther, args)
	out, _, err := d.parley(ctx, demoOther, nil, args...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "PAYLOAD:") {
			line = "    PAYLOAD: … (the same for programs; only the demo cuts it short)\n" // half a screen
		}
		d.indent(line)
	}
	key := filepath.Join(d.nodes[demoOther].home.Humans(), "zoe.key")
	args = []string{"accept", list.Gates[0].ID, "--yes", "--key", key}
	d.showAs(demoOther, "PARLEY_AGENT=mawjs parley", args)
	_, refused, err := d.parley(ctx, demoOther, []string{"PARLEY_AGENT=mawjs"}, args...)
	if err == nil {
		return errors.New("an agent decided what is for a human")
	}
	d.indent(refused)
	for _, g := range list.Gates {
		if err := d.all(ctx, demoOther, []string{"accept", g.ID, "--yes", "--key", key}); err != nil {
			return err
		}
	}
	return d.untilShown(ctx, demoHub, "mawui", "party", "list", "--json")
}

// proof shows a decision as it is stored in git.
func (d *partyDemo) proof(ctx context.Context) error {
	if err := d.settled(ctx); err != nil {
		return err
	}
	list, err := control.Gates.Ask(ctx, d.nodes[demoOther].client, control.GatesRequest{All: true})
	if err != nil {
		return err
	}
	path, err := protocol.ParsePath(list.Gates[0].Answer)
	if err != nil {
		return err
	}
	return d.gitShow(ctx, "show", "main:"+path.RepoPath())
}

func (d *partyDemo) tell(ctx context.Context) error {
	if err := d.all(ctx, demoOther, []string{"presence", "busy", "--as", "mawjs", "--note", "a long build"}); err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoHub, "busy", "who"); err != nil {
		return err
	}
	if err := d.all(ctx, demoHub, []string{"tell", "The restart test is next"}); err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoOther, "party-busy", "queue", "mawjs"); err != nil {
		return err
	}
	if err := d.all(ctx, demoOther, []string{"presence", "active", "--as", "mawjs"}); err != nil {
		return err
	}
	return d.until(ctx, "mawjs answers", func() (bool, error) {
		all, err := d.everything(ctx, demoHub)
		for _, m := range all {
			if strings.HasPrefix(m.From, "mawjs") && strings.Contains(m.Body, "The build is through") {
				d.out.Printf("    %s answers: %s\n", m.From, term.Line(m.Body))
				return true, err
			}
		}
		return false, err
	})
}

func (d *partyDemo) task(ctx context.Context) error {
	if err := d.all(ctx, demoHub, []string{"task", "add", "Write the restart test"}); err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoOther, "T1", "who", "--via", "mawui"); err != nil {
		return err
	}
	if err := d.all(ctx, demoOther, []string{"task", "take", "T1", "--via", "mawjs"}); err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoHub, "▶ T1", "who"); err != nil {
		return err
	}
	args := []string{"task", "take", "T1"}
	d.show(demoHub, args)
	_, refused, err := d.parley(ctx, demoHub, nil, args...)
	if err == nil {
		return errors.New("two have one task")
	}
	d.indent(refused)
	return nil
}

func (d *partyDemo) who(ctx context.Context) error { return d.all(ctx, demoHub, []string{"who"}) }

func (d *partyDemo) mesh(ctx context.Context) error { return d.all(ctx, demoHub, []string{"mesh"}) }

func (d *partyDemo) leave(ctx context.Context) error {
	if err := d.all(ctx, demoOther, []string{"leave", "--via", "mawui", "--reason", "on another team now"}); err != nil {
		return err
	}
	if err := d.untilShown(ctx, demoHub, "mawui@white left", "recap"); err != nil {
		return err
	}
	return d.all(ctx, demoHub, []string{"recap"})
}
