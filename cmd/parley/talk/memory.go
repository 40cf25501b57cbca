package talk

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewMemoryCommand is parley memory.
func NewMemoryCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "memory",
		Short: "Keep and look up what the fleet should remember",
		Long: `Keep and look up what the fleet should remember: short notes that every
participant can read and write, for all channels or for one. Agents whose input
is a prompt are given those that apply. A memory is never changed or removed; a
newer one supersedes it.`,
		Example: `  parley memory add --subject 'language for tools' 'Go, nothing else'`,
	}, newMemoryAddCommand(p), newMemoryListCommand(p), newMemoryShowCommand(p), newMemorySupersedeCommand(p))
}

func addMemory(p *cli.Program, cmd *cobra.Command, r *control.AddMemoryRequest) {
	f := cmd.Flags()
	cli.AsFlag(cmd, &r.As, "who remembers")
	f.StringVar(&r.Subject, "subject", "", "what it is about, in one line")
	f.StringVar(&r.Scope, "scope", "", "global, or the channel that it is for, by name or id")
	f.StringArrayVar(&r.Tags, "tag", nil, "a word to find it by (repeatable)")
	f.StringVar(&r.Session, "session", "", "the id of the session that writes it")
	p.JSONFlag(cmd, "print the memory as JSON")
	p.CompleteFlags(cmd, "scope")
}

func writeMemory(p *cli.Program, cmd *cobra.Command, r control.AddMemoryRequest, words []string) error {
	text, err := p.Text(cmd, words)
	if err != nil {
		return err
	}
	client, err := p.Client()
	if err != nil {
		return err
	}
	r.Body = text
	v := p.View()
	v.Acting(cmd.Context(), r.As, client)
	m, err := control.AddMemory.Ask(cmd.Context(), client, r)
	return v.Show(m, err, func() {
		v.Out.Printf("%s  recorded\n", m.File)
	})
}

func newMemoryAddCommand(p *cli.Program) *cobra.Command {
	var r control.AddMemoryRequest
	cmd := &cobra.Command{
		Use:   "add --subject LINE TEXT|-",
		Short: "Write a memory",
		Example: `  parley memory add --subject 'language for tools' --tag go 'Go, nothing else'
  parley memory add --subject deadline --scope sprint - < note.md`,
		Args: cli.AtLeast(1, "a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(r.Subject) == "" {
				return cli.UsageErrorf(cmd, "%s needs --subject: what is it about?", cmd.CommandPath())
			}
			return writeMemory(p, cmd, r, args)
		},
	}
	cli.TakesText(cmd, 0)
	addMemory(p, cmd, &r)
	return cmd
}

func newMemorySupersedeCommand(p *cli.Program) *cobra.Command {
	var r control.AddMemoryRequest
	cmd := &cobra.Command{
		Use:   "supersede FILE TEXT|-",
		Short: "Write a memory that takes the place of another",
		Long: `Write a memory that takes the place of another, named by its file or by the hex
digits at its end. Subject, scope and tags stay as they were where none are
given.`,
		Example: `  parley memory supersede b2c3d4e5 'Go and SQL, nothing else'`,
		Args:    cli.AtLeast(2, "a memory and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Supersedes = args[0]
			return writeMemory(p, cmd, r, args[1:])
		},
	}
	cli.TakesText(cmd, 1)
	addMemory(p, cmd, &r)
	return cmd
}

func newMemoryListCommand(p *cli.Program) *cobra.Command {
	var r control.MemoriesRequest
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List memories, oldest first",
		Example: `  parley memory list --scope sprint
  parley memory list --tag tools --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runMemoryList(cmd.Context(), r, client, v)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&r.Scope, "scope", "", "only those of this scope: global, or a channel by name or id")
	f.StringVar(&r.Subject, "subject", "", "only those whose subject contains this")
	f.StringArrayVar(&r.Tags, "tag", nil, "only those with this tag (repeatable)")
	f.BoolVar(&r.All, "all", false, "those that were superseded too")
	p.CompleteFlags(cmd, "scope")
	return p.JSONFlag(cmd, "print an array of memories as JSON")
}

func runMemoryList(ctx context.Context, r control.MemoriesRequest, client control.Service, v cli.View) error {
	memories, err := control.Memories.Ask(ctx, client, r)
	return v.Show(memories, err, func() {
		if len(memories) == 0 {
			v.Err.Printf("nothing is remembered\n")
			v.Next("parley memory add --subject LINE TEXT", "write the first")
			return
		}
		t := term.Table{Heading: []string{"TIME", "FROM", "ID", "SCOPE", "TAGS", "", "SUBJECT"}, Flexible: 6}
		for _, m := range memories {
			gone := ""
			if m.SupersededBy != "" {
				gone = "superseded"
			}
			t.Rows = append(t.Rows, []string{v.Stamp(m.Timestamp), term.Line(m.From), MemoryID(m.File),
				scopeName(ctx, client, m.Scope, v), term.Line(strings.Join(m.Tags, ", ")), gone, term.Line(m.Subject)})
		}
		v.Table(t, cli.Squeeze{Column: 6, Least: 16}, cli.Squeeze{Column: 0, Least: cli.DayWidth, Cut: cli.ToDay},
			cli.Squeeze{Column: 3, Least: 12}, cli.Squeeze{Column: 4, Least: 8}, cli.Squeeze{Column: 1, Least: 10},
			cli.Squeeze{Column: 4}, cli.Squeeze{Column: 3})
		v.Next("parley memory show "+MemoryID(memories[len(memories)-1].File), "the last one, whole")
	})
}

func scopeName(ctx context.Context, client control.Service, scope string, v cli.View) string {
	if scope == "global" {
		return ""
	}
	return channelNameOf(ctx, client, scope, v)
}

// MemoryID is the name of a memory in a list. It can be given to show. It is the hex digits at the
// end of its file's name.
func MemoryID(file string) string {
	if _, hex, ok := strings.Cut(strings.TrimSuffix(file, ".md"), "-"); ok {
		return hex
	}
	return file
}

func newMemoryShowCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "show FILE",
		Short:   "Show a memory",
		Long:    "Show a memory, named by its file or by the hex digits at its end.",
		Example: `  parley memory show b2c3d4e5`,
		Args:    cli.Exactly(1, "a memory"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runMemoryShow(cmd.Context(), control.MemoryRequest{File: args[0]}, client, v)
		}),
	}, "print the memory as JSON")
}

func runMemoryShow(ctx context.Context, r control.MemoryRequest, client control.Service, v cli.View) error {
	m, err := control.ShowMemory.Ask(ctx, client, r)
	return v.Show(m, err, func() {
		field := func(name, value string) { v.Labelled(14, name, value) }
		field("subject", m.Subject)
		field("from", m.From)
		field("via", m.Via)
		field("time", v.At(m.Timestamp, cli.TimeForm))
		scope := m.Scope
		if scope != "global" {
			scope = channelNameOf(ctx, client, scope, v)
		}
		field("scope", scope)
		field("tags", strings.Join(m.Tags, ", "))
		field("session", m.Session)
		field("file", m.File)
		field("supersedes", m.Supersedes)
		field("superseded by", m.SupersededBy)
		v.Out.Printf("\n%s\n", v.Out.Body(m.Body))
	})
}
