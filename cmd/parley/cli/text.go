package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

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
