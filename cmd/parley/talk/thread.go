package talk

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewThreadCommand is parley thread.
func NewThreadCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "thread PATH",
		Short: "Show the whole conversation that a message is in, as a tree",
		Long: `Show the whole conversation that a message is in: the first message, and below
each message its answers. After each stands whether it was read and answered.`,
		Example: `  parley thread b2c3d4e5
  parley thread b2c3d4e5 --json`,
		Args: cli.Exactly(1, "the path of a message"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runThread(cmd.Context(), control.ThreadRequest{Path: args[0]}, client, v)
		}),
	}, "print an array of messages with their depth as JSON")
}

func runThread(ctx context.Context, r control.ThreadRequest, client control.Service, v cli.View) error {
	tree, err := control.Thread.Ask(ctx, client, r)
	return v.Show(tree, err, func() {
		lines := branches(tree)
		who := make([]string, len(tree))
		width, clock := 0, 0
		for i, m := range tree {
			who[i] = lines[i] + term.Line(Sender(m.Message))
			if m.Depth > 0 && m.Re == "" { // it is no answer: its author asked somebody because of the message above
				who[i] += " → " + term.Line(strings.Join(m.To, ", "))
			}
			width = min(max(width, term.Width(who[i])), maxWho(v, 25))
			clock = max(clock, len(v.Stamp(m.Timestamp)))
		}
		for i, m := range tree {
			showThreadLine(v, who[i], width, clock, m.Message)
		}
		if len(tree) > 0 {
			v.Next("parley reply "+v.ID(tree[len(tree)-1].Path)+" TEXT", "answer the last one")
		}
	})
}

// showThreadLine shows one message of a tree: the author, the time, its id, its text, and how far
// it has come with whom. If the line would not fit, the text is shortened.
func showThreadLine(v cli.View, who string, width, clock int, m control.Message) {
	text := inTree(m)
	reached := reach(m)
	if v.Narrow() {
		who = term.Cut(who, width)
		reached = shortReach(m) // the tree shows who answered
	}
	head, id := term.Pad(who, width)+"  "+term.Pad(v.Stamp(m.Timestamp), clock)+"  ", v.ID(m.Path)
	if reached != "" {
		reached = "  " + reached
	}
	if v.Out.Width > 0 {
		room := v.Out.Width - term.Width(head+id) - 2
		if room-term.Width(reached) < 8 {
			reached = ""
		}
		text = term.Cut(text, max(8, room-term.Width(reached)))
	}
	v.Out.Printf("%s%s  %s%s\n", head, v.Out.Dim(id), text, v.Out.Dim(reached))
}

// branches returns the lines that lead to each message of a tree.
func branches(tree []control.ThreadMessage) []string {
	drawn := make([]string, len(tree))
	open := map[int]bool{} // by depth: another answer to the same message follows below
	for i := len(tree) - 1; i >= 0; i-- {
		depth := tree[i].Depth
		if depth > 0 {
			drawn[i] = stem(open, depth)
		}
		for deeper := range open {
			if deeper > depth {
				delete(open, deeper)
			}
		}
		open[depth] = true
	}
	return drawn
}

// maxStem is the depth from which on the tree is not drawn wider.
const maxStem = 12

func stem(open map[int]bool, depth int) string {
	var b strings.Builder
	for d := max(1, depth-maxStem); d < depth; d++ {
		if open[d] {
			b.WriteString("│ ")
		} else {
			b.WriteString("  ")
		}
	}
	if open[depth] {
		return b.String() + "├ "
	}
	return b.String() + "└ "
}
