package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRecordCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "record",
		Short:   "Verify, count and export the record",
		Example: `  parley record verify`,
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs verify, stats or export", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRecordVerifyCommand(p), newRecordStatsCommand(p), newRecordExportCommand(p))
	return cmd
}

func newRecordVerifyCommand(p *program) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Look at every message of the record; 1 if anything is wrong",
		Long: `Look at every message of the record: whether it can be read, whether its path
states its timestamp, whether its signature holds, whether the chain of each
host has holes, and whether receipts and answers point to something. It says
what is wrong and where. --all lists what is only worth knowing, too: messages
without a signature, and files that lost their path to another.`,
		Example: `  parley record verify
  parley record verify --all --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runRecordVerify(cmd.Context(), all, client, p.view())
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "what is worth knowing, too")
	p.jsonFlag(cmd, "print what was found as JSON")
	return cmd
}

func runRecordVerify(ctx context.Context, all bool, client control.Service, v view) error {
	done := v.busy("looking at every message")
	found, err := client.Verify(ctx)
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
	if v.json {
		err = v.writeJSON(found)
	} else {
		v.verified(found, notes, all)
	}
	if err == nil && found.Wrong > 0 {
		return errSaid
	}
	return err
}

func (v view) verified(found control.Verification, notes int, all bool) {
	for _, f := range found.Findings {
		text := term.Line(f.Text)
		if f.Wrong {
			text = v.out.Warn(text)
		}
		v.out.Printf("%s: %s\n", term.Line(f.Path.String()), text)
	}
	verdict := "nothing is wrong"
	if found.Wrong > 0 {
		verdict = count(found.Wrong, "finding") + " of what is wrong"
	}
	v.out.Printf("%s looked at: %s\n", count(found.Messages, "message"), verdict)
	if notes > 0 && !all {
		v.out.Printf("%s worth knowing: parley record verify --all\n", count(notes, "thing"))
	}
}

func newRecordStatsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Count what is in the record, and how much room it takes",
		Example: `  parley record stats --json`,
		Args:    exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runRecordStats(cmd.Context(), client, p.view())
		},
	}
	p.jsonFlag(cmd, "print the numbers as JSON")
	return cmd
}

func runRecordStats(ctx context.Context, client control.Service, v view) error {
	s, err := client.RecordStats(ctx)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(s)
	}
	field := func(name, value string) {
		v.out.Printf("%s %s\n", v.out.Dim(term.Pad(name+":", 11)), value)
	}
	field("record", s.ID)
	field("main", s.Tip)
	field("messages", fmt.Sprintf("%d, and %s", s.Messages, count(s.Receipts, "receipt")))
	if s.Messages > 0 {
		field("from", v.at(s.First, timeForm))
		field("to", v.at(s.Last, timeForm))
	}
	field("unverified", strconv.Itoa(s.Unverified))
	field("channels", strconv.Itoa(s.Channels))
	field("memories", strconv.Itoa(s.Memories))
	field("disk", fmt.Sprintf("%s in %s, journal %s", bytesOf(s.Disk), count(s.Packs, "pack"), bytesOf(s.Journal)))
	v.out.Printf("\n")
	t := term.Table{Heading: []string{"HOST", "MESSAGES", "RECEIPTS", "LAST"}}
	for _, h := range s.Hosts {
		last := ""
		if !h.Last.IsZero() {
			last = v.at(h.Last, timeForm)
		}
		t.Rows = append(t.Rows, []string{h.Alias.String(), strconv.Itoa(h.Messages), strconv.Itoa(h.Receipts), last})
	}
	v.out.Table(t)
	return nil
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func newRecordExportCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write all files of the record into an empty folder",
		Long: `Write all files of the record, as they stand in main, into a folder that is
empty or not there yet. With git, "git clone" of record.git in the home does
the same and brings the history along.`,
		Example: `  parley record export ~/record-2026`,
		Args:    exactly(1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", args[0], err)
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runRecordExport(cmd.Context(), control.ExportRequest{Dir: dir}, client, p.view())
		},
	}
	p.jsonFlag(cmd, "print what was written as JSON")
	return cmd
}

func runRecordExport(ctx context.Context, r control.ExportRequest, client control.Service, v view) error {
	done := v.busy("writing the files")
	e, err := client.Export(ctx, r)
	done()
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(e)
	}
	v.out.Printf("%s of commit %s written to %s\n", count(e.Files, "file"), short(e.Tip), term.Line(e.Dir))
	return nil
}
