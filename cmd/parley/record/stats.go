package record

import (
	"fmt"
	"strconv"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newStatsCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "stats",
		Short:   "Count what is in the record, and how much room it takes",
		Example: `  parley record stats --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE:    cli.Asks(p, control.CountRecord.Verb, nil, showStats),
	}, "print the numbers as JSON")
}

func showStats(v cli.View, s control.RecordStats) {
	field := func(name, value string) {
		v.Out.Printf("%s %s\n", v.Out.Dim(term.Pad(name+":", 11)), value)
	}
	field("record", s.ID)
	field("main", s.Tip)
	field("messages", fmt.Sprintf("%d, and %s; %d more of hosts about themselves", s.Messages, cli.Count(s.Receipts, "receipt"), s.HostWords))
	if s.Messages > 0 {
		field("from", v.At(s.First, cli.TimeForm))
		field("to", v.At(s.Last, cli.TimeForm))
	}
	field("unverified", strconv.Itoa(s.Unverified))
	field("channels", strconv.Itoa(s.Channels))
	field("memories", strconv.Itoa(s.Memories))
	field("disk", fmt.Sprintf("%s in %s, journal %s", bytesOf(s.Disk), cli.Count(s.Packs, "pack"), bytesOf(s.Journal)))
	v.Out.Printf("\n")
	messages, receipts := s.Messages, s.Receipts // those of participants who use plain git
	t := term.Table{Heading: []string{"HOST", "MESSAGES", "RECEIPTS", "LAST"}}
	for _, h := range s.Hosts {
		t.Rows = append(t.Rows, []string{h.Alias.String(), strconv.Itoa(h.Messages), strconv.Itoa(h.Receipts), v.AtOrEmpty(h.Last, cli.TimeForm)})
		messages, receipts = messages-h.Messages, receipts-h.Receipts
	}
	if messages > 0 || receipts > 0 {
		t.Rows = append(t.Rows, []string{"(no host)", strconv.Itoa(messages), strconv.Itoa(receipts)})
	}
	v.Out.Table(t)
}

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
