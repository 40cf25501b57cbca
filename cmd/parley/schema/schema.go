// Package schema is parley record schema: the forms of the files that other programs read, and the check
// of files against them. It needs no node.
package schema

import (
	"fmt"
	"os"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/schemas"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// SchemaInfo is a schema as --json prints it.
type SchemaInfo struct {
	Name string `json:"name"` // for "schema show" and --as
	Of   string `json:"of"`   // which files it describes
}

// Checked is the outcome for one file.
type Checked struct {
	File     string   `json:"file"`     // the file as it was named
	Schema   string   `json:"schema"`   // the schema against which it was checked
	Valid    bool     `json:"valid"`    // the file has that form
	Problems []string `json:"problems"` // where it does not have the form, and why
}

// NewCommand is parley record schema and its subcommands.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "schema",
		Short: "The forms of the files that other programs read",
		Long: `The forms of the files that other programs read, as JSON Schemas: parties, the
history of scores, and where the agreements of a topic stand.`,
		Example: `  parley record schema list
  parley record schema check ψ/memory/collaborations/*/topics/*.state.json`,
	}, newListCommand(p), newShowCommand(p), newCheckCommand(p))
}

func newListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the schemas",
		Example: `  parley record schema list`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			v := p.View()
			infos := []SchemaInfo{}
			t := term.Table{Heading: []string{"NAME", "FILES"}}
			for _, s := range schemas.All() {
				infos = append(infos, SchemaInfo{s.Name, s.Of})
				t.Rows = append(t.Rows, []string{s.Name, s.Of})
			}
			if v.JSON {
				return v.WriteJSON(infos)
			}
			v.Table(t)
			return nil
		},
	}, "print an array of schemas as JSON")
}

func newShowCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print a schema",
		Example: `  parley record schema show party > party.schema.json`,
		Args:    cli.Exactly(1, "the name of a schema"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := find(args[0])
			if err != nil {
				return err
			}
			p.View().Out.Printf("%s", s.Text)
			return nil
		},
	}
}

func find(name string) (schemas.Schema, error) {
	s, err := schemas.Find(name)
	if err != nil {
		return s, control.Errorf(control.KindNotFound, "parley record schema list", "%v", err)
	}
	return s, nil
}

func newCheckCommand(p *cli.Program) *cobra.Command {
	as := ""
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check whether files have the form that they should",
		Long: `Check whether files have the form that they should. Which form that is, is told
by a file's name, or by --as. A file that has not is named with the place and
the reason, and the exit code is 1.`,
		Example: `  parley record schema check parties/tmux-triage.json
  parley record schema check --as sync-history lines.txt`,
		Args: cli.AtLeast(1, "files"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runCheck(args, as, p.View())
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "the `NAME` of the schema")
	return p.JSONFlag(cmd, "print an array of what was found as JSON")
}

func runCheck(files []string, as string, v cli.View) error {
	found := []Checked{}
	wrong := 0
	for _, file := range files {
		c, err := check(file, as)
		if err != nil {
			return err
		}
		if !c.Valid {
			wrong++
		}
		found = append(found, c)
	}
	if v.JSON {
		if err := v.WriteJSON(found); err != nil {
			return err
		}
	} else {
		for _, c := range found {
			if c.Valid {
				v.Out.Printf("%s: valid (%s)\n", term.Line(c.File), c.Schema)
			}
			for _, problem := range c.Problems {
				v.Out.Printf("%s: %s\n", term.Line(c.File), term.Line(problem))
			}
		}
	}
	if wrong > 0 {
		return control.Errorf(control.KindFailed, "", "%d of %s%s not valid", wrong, cli.Count(len(files), "file"), is(wrong))
	}
	return nil
}

func is(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

func check(file, as string) (Checked, error) {
	s, known := schemas.For(file)
	if as != "" {
		var err error
		if s, err = find(as); err != nil {
			return Checked{}, err
		}
	} else if !known {
		return Checked{}, control.Errorf(control.KindUsage, "name it: --as NAME; parley record schema list shows them", "nobody can tell by its name which schema %s should have", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Checked{}, fmt.Errorf("cannot check a file: %w", err)
	}
	problems, err := s.Problems(data)
	if err != nil {
		return Checked{}, err
	}
	c := Checked{File: file, Schema: s.Name, Problems: append([]string{}, problems...)}
	c.Valid = len(c.Problems) == 0
	return c, nil
}
