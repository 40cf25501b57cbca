package with

import (
	"context"
	"os"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// Imported is the outcome of an import.
type Imported struct {
	Folder string          `json:"folder"` // where the files are
	Topics []ImportedTopic `json:"topics"` // the topics in the folder
	Kept   []Kept          `json:"kept"`   // what stays only in the files, and why
}

// ImportedTopic is a topic of a folder.
type ImportedTopic struct {
	With   string         `json:"with"`   // the partner
	Name   string         `json:"name"`   // name of the topic
	Opened bool           `json:"opened"` // it was opened now
	Items  []ImportedItem `json:"items"`  // its items in the files
	Why    string         `json:"why"`    // why it was not taken; "" if it was
}

// ImportedItem is an item of a topic.
type ImportedItem struct {
	ID    string `json:"id"`    // its label in the record; "" if it was not taken
	Text  string `json:"text"`  // its text
	Taken bool   `json:"taken"` // it was put into the record now
	Why   string `json:"why"`   // why it was not taken
}

// keptByHand is between an item's words and what the files say of its partner's decision.
const keptByHand = " (kept by hand: "

// NewImportCommand is parley import.
func NewImportCommand(p *cli.Program) *cobra.Command {
	c := &call{}
	cmd := &cobra.Command{
		Use:   "import FOLDER",
		Short: "Take in collaborations that were kept by hand",
		Long: `Takes in a folder of collaborations that was kept by hand, such as ψ or
ψ/memory/collaborations: its topics are opened, its agreements proposed and its
open questions asked, all in the name of one agent. Nothing is decided for a
partner: what a file says that the partner accepted stays words beside the
proposal until the partner accepts it. Files stay as they are; what is not
taken is said. A second import takes only what is new.

A partner's folder mawjs-oracle is that of mawjs, where nobody in the fleet is
called mawjs-oracle. A link that leaves the folder is not followed.`,
		Example: `  parley import ψ
  parley import ψ/memory/collaborations --via skills`,
		Args: cli.Exactly(1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.view = p.View()
			h, err := readHandKept(args[0])
			if err != nil {
				return control.Errorf(control.KindUsage, "name ψ, or the folder of collaborations in it", "cannot import %s: %v", args[0], err)
			}
			if c.acting.Dir, err = os.Getwd(); err != nil {
				c.acting.Dir = "" // it only helps to find out for whom to act
			}
			if c.client, err = p.Client(); err != nil {
				return err
			}
			return runImport(cmd.Context(), c, h)
		},
	}
	cmd.Flags().StringVar(&c.acting.As, "via", "", "for which agent, `NAME`")
	p.JSONFlag(cmd, "print it as JSON")
	return cmd
}

func runImport(ctx context.Context, c *call, h *handKept) error {
	all, err := control.List.Ask(ctx, c.client, control.HostsRequest{})
	if err != nil {
		return err
	}
	h.meant(each.Of(all, func(p control.Participant) string { return p.Name.String() }))
	done := Imported{Folder: h.folder, Topics: []ImportedTopic{}, Kept: append([]Kept{}, h.kept...)}
	for _, t := range h.topics {
		v, err := importTopic(ctx, c, t)
		if err != nil {
			return err
		}
		done.Topics = append(done.Topics, v)
	}
	if c.view.JSON {
		return c.view.WriteJSON(done)
	}
	out := c.view.Out
	for _, t := range done.Topics {
		switch {
		case t.Why != "":
			out.Printf("%q with %s is not taken: %s\n", term.Line(t.Name), term.Line(t.With), term.Line(t.Why))
			continue
		case t.Opened:
			out.Printf("Opened %q with %s\n", term.Line(t.Name), term.Line(t.With))
		default:
			out.Printf("%q with %s is there\n", term.Line(t.Name), term.Line(t.With))
		}
		for _, it := range t.Items {
			if it.Taken {
				out.Printf("  [%s] %s\n", it.ID, term.Line(it.Text))
			} else {
				out.Printf("  not taken, %s: %s\n", term.Line(it.Why), term.Line(it.Text))
			}
		}
	}
	for _, k := range done.Kept {
		what := term.Line(k.File)
		if k.What != "" {
			what += ", " + term.Line(k.What)
		}
		out.Printf("Kept as it is: %s: %s\n", what, term.Line(k.Why))
	}
	if len(done.Topics) == 0 {
		out.Printf("No topics in %s\n", term.Line(done.Folder))
	}
	return nil
}

// importTopic opens a topic, and puts those of its items into it that it does not have yet. An item
// that is refused is reported, and does not keep others from being put in. importTopic returns an
// error only if nothing can be asked.
func importTopic(ctx context.Context, c *call, t handTopic) (ImportedTopic, error) {
	v := ImportedTopic{With: t.partner, Name: t.name, Items: []ImportedItem{}}
	refused := func(err error) (string, error) {
		switch e := control.AsError(err); e.Kind {
		case control.KindUnavailable, control.KindFailed:
			return "", err
		default:
			return e.Message, nil
		}
	}
	there, err := control.ShowTopic.Ask(ctx, c.client, control.TopicRequest{Viewing: c.viewing(), With: t.partner, Topic: t.name})
	if v.Opened = err != nil; !v.Opened && there.Status == "CLOSED" {
		v.Why = "you have closed it: open it first, if it is to go on"
		return v, nil
	}
	r := control.OpenTopicRequest{Acting: c.acting, With: t.partner, Topic: t.name, Anchor: t.anchor}
	if t.anchor != "" {
		r.Origin = cli.Origin(ctx)
	}
	topic, err := control.OpenTopic.Ask(ctx, c.client, r)
	if err != nil {
		v.Opened = false
		v.Why, err = refused(err)
		return v, err
	}
	for _, it := range t.items {
		item := ImportedItem{Text: it.text, Why: it.why}
		for _, there := range topic.Items {
			words, _, _ := strings.Cut(there.Text, keptByHand)
			if sameText(words, it.text) {
				item.Why = "it is there as " + there.Label.String()
			}
		}
		if item.Why == "" {
			text := it.text
			if it.note != "" {
				text += keptByHand + it.note + ")"
			}
			deed := control.TopicDeedRequest{Acting: c.acting, With: t.partner, Topic: t.name, Deed: it.deed, Text: text}
			done, err := control.DoInTopic.Ask(ctx, c.client, deed)
			if err != nil {
				if item.Why, err = refused(err); err != nil {
					return v, err
				}
			} else {
				topic, item.Taken, item.Text = done.Topic, true, text
				item.ID = strings.Join(done.Items, ", ")
			}
		}
		v.Items = append(v.Items, item)
	}
	return v, nil
}
