package talk

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const searchLimit = 20

// NewSearchCommand is parley search.
func NewSearchCommand(p *cli.Program) *cobra.Command {
	var r control.SearchRequest
	var since string
	cmd := &cobra.Command{
		Use:   "search [WORDS…]",
		Short: "Find messages and memories by their words",
		Long: `Find messages by their words, best first, then memories, the newest first, each
with where it is and the words around what was found. All words must occur,
whatever their case and accents; "two words" in quotes must stand together,
-word must not occur, and word* stands for every word that begins so. --from,
--channel and --since narrow it; they do without words too.`,
		Example: `  parley search deadline friday
  parley search '"release notes"' --from mawjs --since 7d
  parley search --channel sprint --since 2026-05-01`,
		Args: cli.Between(0, -1, "words"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Words = strings.Join(args, " ")
			if since != "" {
				at, err := ParseSince(since, time.Now(), p.Zone)
				if err != nil {
					return cli.UsageErrorf(cmd, "--since: %v", err)
				}
				r.Since = at
			}
			if r.Limit < 1 {
				return cli.UsageErrorf(cmd, "-n needs a number of messages above zero")
			}
			if strings.TrimSpace(r.Words) == "" && r.From == "" && r.Channel == "" && since == "" {
				return cli.UsageErrorf(cmd, "%s needs words, or one of --from, --channel and --since", cmd.CommandPath())
			}
			return runSearch(cmd.Context(), r, client, v)
		}),
	}
	cli.TakesText(cmd, 0)
	f := cmd.Flags()
	f.StringVar(&r.From, "from", "", "only what this participant wrote")
	f.StringVar(&r.Channel, "channel", "", "only this channel, by name or id")
	f.StringVar(&since, "since", "", "only what was said since: a day such as 2026-05-23, a time, or how long ago, such as 12h or 7d")
	f.IntVarP(&r.Limit, "last", "n", searchLimit, "at most `N` messages, and as many memories")
	p.CompleteFlags(cmd, "from", "channel")
	return p.JSONFlag(cmd, "print what was found as JSON")
}

// ParseSince reads a day, a time, or a span before now.
func ParseSince(text string, now time.Time, zone *time.Location) (time.Time, error) {
	if ago, err := span.Parse(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if at, err := cli.ParseTime(text, zone); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is neither a day such as 2026-05-23 nor how long ago, such as 12h or 7d", text)
}

func runSearch(ctx context.Context, r control.SearchRequest, client control.Service, v cli.View) error {
	done := v.Busy("searching")
	found, err := control.Search.Ask(ctx, client, r)
	done()
	return v.Show(found, err, func() {
		if found.Pending > 0 {
			v.Err.Printf("%s\n", v.Err.Warn(fmt.Sprintf("%s are still being indexed: ask again in a moment", cli.Count(found.Pending, "message"))))
		}
		if len(found.Hits)+len(found.Memories) == 0 {
			v.Err.Printf("nothing was found\n")
			return
		}
		hitTable(ctx, client, found, v)
		noteMoreHits(v, found.Total-len(found.Hits), "messages", found.Total)
		noteMoreHits(v, found.MemoriesTotal-len(found.Memories), "memories", found.MemoriesTotal)
		if len(found.Hits) > 0 {
			v.Next("parley thread "+v.ID(found.Hits[0].Path), "the conversation of the first")
		} else {
			v.Next("parley memory show "+MemoryID(found.Memories[0].File), "the first, whole")
		}
	})
}

// noteMoreHits says how many were found in addition to those that are listed.
func noteMoreHits(v cli.View, more int, what string, total int) {
	switch {
	case more <= 0:
	case total-more >= control.MaxHits:
		v.Err.Printf("%s\n", v.Err.Dim(fmt.Sprintf("and %d more of the %s: name more words, --from, --channel or --since", more, what)))
	default:
		v.Err.Printf("%s\n", v.Err.Dim(fmt.Sprintf("and %d more of the %s: -n %d", more, what, min(total, control.MaxHits))))
	}
}

// hitTable lists what was found: when it was written, by whom and where, and the words around it.
func hitTable(ctx context.Context, client control.Service, found control.SearchResult, v cli.View) {
	t := term.Table{Heading: []string{"TIME", "FROM", "WHERE", "ID", "TEXT"}, Flexible: 4}
	var texts []excerpt
	add := func(at time.Time, from, where, id string, text excerpt) {
		texts = append(texts, text)
		t.Rows = append(t.Rows, []string{v.Stamp(at), term.Line(from), where, id, text.plain()})
	}
	for _, hit := range found.Hits {
		add(hit.Timestamp, Sender(hit.Message), ChannelLabel(hit.Message), v.ID(hit.Path), excerptOf(v, hit))
	}
	for _, hit := range found.Memories {
		where := "memory"
		if scope := scopeName(ctx, client, hit.Scope, v); scope != "" {
			where += " of " + scope
		}
		text := shorten(v, hit.Excerpt)
		if len(text) == 0 {
			text = excerpt{{Text: FirstLine(hit.Subject + ": " + hit.Body)}}
		}
		add(hit.Timestamp, hit.From, where, MemoryID(hit.File), text)
	}
	t.Style = func(row int, cell string) string { return texts[row].styled(cell, v.Out.Bold) }
	v.Table(t, mailSqueezes()...)
}
