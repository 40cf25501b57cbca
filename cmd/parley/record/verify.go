package record

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newVerifyCommand(p *cli.Program) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Look at every message of the record, and say what is wrong with it",
		Long: `Look at every message of the record: whether it can be read, whether its path
states its timestamp, whether its signature holds, whether the chain of each
host has holes, and whether receipts and answers point to something; and whether
the files that are no messages can be read: hosts, channels, memories, profiles.
Before that it reads all of record.git: what this disk does not hold whole is
brought back from the journal or the remote.

It says what is wrong, where, and what that means. --all lists what is only
worth knowing, too: messages without a signature, files that lost their path to
another, files that nobody reads, and what was brought back. No message is
changed.

Exit code 1 if anything is wrong, 0 if there is only what is worth knowing.
With --json each finding has the path of a message, or the file otherwise; a
kind, which is one of damaged, refused, unreadable, time, dangling and chain, or
of unsigned, future, conflict, stray and mended, which are not wrong; and a
text.`,
		Example: `  parley record verify
  parley record verify --all --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runVerify(cmd.Context(), all, client, v)
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "what is worth knowing, too")
	return p.JSONFlag(cmd, "print what was found as JSON")
}

func runVerify(ctx context.Context, all bool, client control.Service, v cli.View) error {
	done := v.Watch("looking at the record", control.VerifyProgress, client)
	found, err := control.Verify.Ask(ctx, client)
	done()
	if err != nil {
		return err
	}
	notes := 0
	shown := []control.Finding{}
	for _, f := range found.Findings {
		if !f.Wrong {
			notes++
		}
		if f.Wrong || all {
			shown = append(shown, f)
		}
	}
	found.Findings = shown
	err = v.Show(found, nil, func() { showVerified(v, found, notes, all) })
	if err == nil && found.Wrong > 0 {
		return cli.ErrSaid
	}
	return err
}

func showVerified(v cli.View, found control.Verification, notes int, all bool) {
	var kinds []control.FindingKind
	for _, f := range found.Findings {
		text, where := term.Line(f.Text), f.Path.String()
		if f.Wrong {
			text = v.Out.Warn(text)
		}
		if f.File != "" {
			where = f.File
		}
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
		v.Out.Printf("%s: %s\n", term.Line(where), text)
	}
	verdict := v.Out.Good("nothing is wrong")
	if found.Wrong > 0 {
		verdict = v.Out.Bad(cli.Count(found.Wrong, "thing") + " wrong")
	}
	v.Out.Printf("%s looked at: %s\n", cli.Count(found.Messages, "message"), verdict)
	if notes > 0 && !all {
		v.Out.Printf("%s worth knowing: %s\n", cli.Count(notes, "thing"), v.Command("parley record verify --all"))
	}
	if len(kinds) == 0 {
		return
	}
	v.Out.Printf("\n")
	for _, kind := range kinds {
		v.Labelled(11, string(kind), whatToDo(kind))
	}
	v.Labelled(11, "who did it", "git log main -- data/channels/PATH, in record.git of the home")
}

func whatToDo(kind control.FindingKind) string {
	return map[control.FindingKind]string{
		control.FindingUnreadable: "every node passes it over; its author can write it again, as a new message or file",
		control.FindingRefused:    "nobody's word: it is shown to nobody and run nowhere; ask who pushed it",
		control.FindingTime:       "it stands where its timestamp says; its author should name files after their timestamps",
		control.FindingDangling:   "what it refers to may come with the next push of another host; else it was named wrongly or removed",
		control.FindingChain:      "a message was removed, or is still on its host alone (parley fleet sync there), the host went on from an older backup of its home, or one key is used in two places",
		control.FindingDamaged:    "the disk lost it, and neither the journal nor the remote gave it back: put what a backup has of objects/pack into that of record.git and start the node again; or give it up: parley stop, then parley record rebuild --accept-loss",
		control.FindingUnsigned:   "mail like any other, from whoever may push; it decides nothing",
		control.FindingFuture:     "it stands at the end of the record; signed: look at the clock of its host, whose next messages are dated after it",
		control.FindingConflict:   "two files claimed one path; both are kept, one counts",
		control.FindingStray:      "it harms nothing; whoever put it there can remove it",
		control.FindingMended:     "the disk had lost it; a good copy is in its place: have an eye on this disk",
	}[kind]
}
