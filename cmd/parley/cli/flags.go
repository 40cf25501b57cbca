package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// JSONFlag gives a command the flag --json, and returns it.
func (p *Program) JSONFlag(cmd *cobra.Command, usage string) *cobra.Command {
	cmd.Flags().BoolVar(&p.JSON, "json", false, usage)
	return cmd
}

// SecretFlags gives a command that says something, and those below it, the flags for what looks like a
// token or a private key in it.
func (p *Program) SecretFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().BoolVar(&p.mask, "mask", false, "put its kind in the place of a token or private key: [secret: github token]")
	cmd.PersistentFlags().BoolVar(&p.secretOK, "secret-ok", false, "store what looks like a token or private key: for a person at a terminal")
}

// handled is a client that does with secrets what the flags say.
func (p *Program) handled(node control.Service) (control.Service, error) {
	client, connects := node.(*control.Client)
	switch {
	case p.secretOK && p.mask:
		return nil, control.Errorf(control.KindUsage, "", "--mask and --secret-ok contradict each other")
	case p.secretOK:
		if err := p.ForPerson("store a secret"); err != nil {
			return nil, err
		}
		tty, err := p.Terminal()
		if err != nil {
			return nil, control.Errorf(control.KindRefused, "run it at a terminal, or replace the secret: --mask", "cannot store a secret: nobody is there to answer for it, since this command has no terminal")
		}
		tty.Close()
		if connects {
			return client.Handling(control.AllowSecrets), nil
		}
	case p.mask && connects:
		return client.Handling(control.MaskSecrets), nil
	}
	return node, nil
}

// AsFlag gives a command the flag --as. If it is left out, the caller acts (R14).
func AsFlag(cmd *cobra.Command, as *string, usage string) {
	cmd.Flags().StringVar(as, "as", "", usage+" (default: the agent that calls, by $PARLEY_AGENT or its token, else you)")
}

// SplitNames splits lists of names into names.
func SplitNames(lists []string) []string {
	var names []string
	for _, list := range lists {
		for _, name := range strings.Split(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// durationValue is a flag that takes a length of time. In addition to what Go reads, it knows days,
// because some of our times are long.
type durationValue struct{ at *time.Duration }

// DurationFlag gives a command a flag for a length of time. Its default is the present value of
// `d`.
func DurationFlag(f *pflag.FlagSet, d *time.Duration, name, usage string) {
	f.Var(durationValue{d}, name, usage)
}

// String is the value as help shows it; "" for zero.
func (v durationValue) String() string {
	if v.at == nil || *v.at == 0 {
		return ""
	}
	return span.Exact(*v.at)
}

// Set reads "30s", "1h30m", "7d" and "1d12h".
func (v durationValue) Set(text string) error {
	d, err := span.Parse(text)
	if err == nil {
		*v.at = d
	}
	return err
}

// Type is the name of the value's type in help.
func (v durationValue) Type() string { return "duration" }

// MaxText is how many bytes are read from standard input at most. It is more than any node accepts
// as one message.
const MaxText = 4 * protocol.MaxFile

// Text is the TEXT of a command: its words joined by spaces. If the only word is "-", it is all of
// standard input.
func (p *Program) Text(cmd *cobra.Command, words []string) (string, error) {
	text := strings.Join(words, " ")
	if len(words) == 1 && words[0] == "-" {
		if p.Err.Terminal && term.IsTerminal(p.Stdin) {
			p.Err.Printf("%s\n", p.Err.Dim("reading the text from the keyboard; end it with Ctrl-D"))
		}
		data, err := io.ReadAll(io.LimitReader(p.Stdin, MaxText+1))
		if err != nil {
			return "", fmt.Errorf("cannot read the text from standard input: %w", err)
		}
		if len(data) > MaxText {
			return "", UsageErrorf(cmd, "the text is larger than %d MiB", MaxText>>20)
		}
		text = string(data)
	}
	text = protocol.NormalBody(text)
	switch {
	case text == "":
		return "", UsageErrorf(cmd, "the text is empty")
	case !utf8.ValidString(text):
		return "", UsageErrorf(cmd, "the text is not valid UTF-8: messages are text; send a file by its path or as base64")
	}
	return text, nil
}
