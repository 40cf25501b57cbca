package frame

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/frame/report"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/inquiry"
	"github.com/spf13/cobra"
)

// repository is the repository from which a record is read, by git alone: the clone that contains
// the current folder, or that of this home.
func repository(p *cli.Program) (string, error) {
	if dir, err := os.Getwd(); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "data", "channels")); err == nil {
			return dir, nil
		}
	}
	home, err := p.HomeDir()
	return home.Record(), err
}

// audit reads an inquiry from git alone.
func audit(ctx context.Context, p *cli.Program, args []string) (control.FrameDocument, control.FrameProof, error) {
	dir, err := repository(p)
	if err != nil {
		return control.FrameDocument{}, control.FrameProof{}, err
	}
	return inquiry.Audit(ctx, dir, id(args))
}

func newVerifyCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify [ID]", Short: "Prove from git alone that an inquiry was held by its form",
		Long: `Prove from git alone, without a node, that an inquiry was held by its form: on
any clone of the record. Every deed is read, signatures and keys are judged as
every host judges them, and each line of the form is proved again. What does
not hold is named with the message that breaks it, whether that message counts
or not; the command ends with exit code 1 then.

The record is the clone in which you stand, else that of this home.`,
		Example: "  parley frame verify 1f2e3d4c\n  git clone shared.git && cd shared && parley frame verify",
		Args:    cli.Between(0, 1, "at most one inquiry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, proof, err := audit(cmd.Context(), p, args)
			if err != nil {
				return err
			}
			v := p.View()
			if v.JSON {
				err = v.WriteJSON(proof)
			} else {
				printProof(v, proof)
			}
			if err == nil && !proof.Holds {
				return cli.ExitCode(1)
			}
			return err
		},
	}
	p.JSONFlag(cmd, "print what was proved as JSON")
	return cmd
}

func printProof(v cli.View, proof control.FrameProof) {
	out := v.Out
	out.Printf("%s  %s\n", out.Bold(proof.Frame[:8]), term.Line(proof.Question))
	out.Printf("  %s, with %s in the record %s\n\n", proof.StateText, cli.Count(proof.Deeds, "message"), proof.Record[:12])
	counts := map[string]int{}
	t := term.Table{Heading: []string{"Line", "Result", "What must hold"}, Flexible: 2}
	for _, l := range proof.Lines {
		if counts[l.Result]++; l.Result == "broken" {
			t.Rows = append(t.Rows, []string{l.Line, l.Result, l.Text})
		}
	}
	if len(t.Rows) > 0 {
		v.Table(t)
		out.Printf("\n")
	}
	for _, f := range proof.Faults {
		head := strings.TrimSpace(f.Line + " at")
		if f.Breaks {
			head = out.Warn(head)
		}
		out.Printf("%s %s\n    %s\n", head, f.At, term.Line(f.Why))
	}
	if len(proof.Faults) > 0 {
		out.Printf("\n")
	}
	sum := fmt.Sprintf("%d of %d lines hold, %d are not reached, %d are not checked, %d are broken.", counts["holds"], len(proof.Lines), counts["not reached"], counts["not checked"], counts["broken"])
	if proof.Holds {
		out.Printf("%s %s\n", out.Good("✓"), sum)
		return
	}
	out.Printf("%s\n", out.Bad("✗ "+sum))
}

func newExportCommand(p *cli.Program) *cobra.Command {
	var file string
	var html bool
	cmd := &cobra.Command{
		Use: "export [ID]", Short: "An inquiry as a document",
		Long: `An inquiry as a document to read and to give away: question, brief,
perspectives, results, dialogues, the synthesis with a basis for each claim,
decisions, trace and coverage gaps. It is read from git alone, as by verify.

--html makes one file that needs nothing else, readable on paper too.`,
		Example: "  parley frame export 1f2e3d4c --html --out stores.html\n  parley frame export",
		Args:    cli.Between(0, 1, "at most one inquiry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := p.View()
			if html && v.JSON {
				return cli.UsageErrorf(cmd, "--html and --json are two forms: choose one")
			}
			doc, proof, err := audit(cmd.Context(), p, args)
			if err != nil {
				return err
			}
			if v.JSON && file == "" {
				return v.WriteJSON(doc)
			}
			text := report.Markdown(doc, proof)
			switch {
			case html:
				text = report.HTML(doc, proof)
			case v.JSON:
				if text, err = report.JSON(doc); err != nil {
					return err
				}
			}
			if file == "" {
				if v.Out.Terminal {
					text = term.Visible(text)
				}
				_, err = io.WriteString(v.Out, text)
				return err
			}
			if err := durable.WriteFile(file, []byte(text), 0o644); err != nil {
				return fmt.Errorf("cannot write %s: %w", file, err)
			}
			v.Out.Printf("%s\n", term.Line(file))
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "out", "", "write it to `FILE`")
	cmd.Flags().BoolVar(&html, "html", false, "as one file of HTML (default: Markdown)")
	p.JSONFlag(cmd, "print all that there is of it as JSON")
	return cmd
}
