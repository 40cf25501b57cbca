package talk

import (
	"bufio"
	"context"
	"io"
	"os"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

const chatLast = 10 // messages that are shown at first

// chatRequest says with whom, where and in whose name somebody talks.
type chatRequest struct {
	agent   string // the agent, as it is addressed
	channel string // id or name; "": the direct channel
	as      string
	within  time.Duration // how long piped lines wait for their answers
}

// NewChatCommand is parley chat.
func NewChatCommand(p *cli.Program) *cobra.Command {
	var r chatRequest
	cmd := &cobra.Command{
		Use:   "chat AGENT",
		Short: "Talk with an agent, line by line",
		Long: `Talk with one agent in one channel. At a terminal each line is a message, and
what comes in the channel is shown as it comes. A line that ends in a backslash
goes on in the next; a line of three quotes (""") begins and ends a text of
several lines. /help lists the few commands; Ctrl-D ends. What is shown to you
counts as read.

From a pipe each line is a message; its answer is printed before the next one is
sent. No answer within --timeout: exit code 3.`,
		Example: `  parley chat mawjs
  parley chat mawjs@white --channel sprint
  printf '1 + 1\n2 * 3\n' | parley chat calc`,
		Args: cli.Exactly(1, "an agent"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if r.within <= 0 {
				return cli.UsageErrorf(cmd, "--timeout needs a time above zero, such as 30s")
			}
			r.agent = args[0]
			in, isFile := p.Stdin.(*os.File)
			if isFile && p.Out.Terminal && term.IsTerminal(p.Stdin) && !p.JSON {
				return runChat(cmd.Context(), r, in, client, v)
			}
			return runPipedChat(cmd.Context(), r, p.Stdin, client, v)
		}),
		ValidArgsFunction: p.CompleteNames,
	}
	cli.AsFlag(cmd, &r.as, "who talks")
	cmd.Flags().StringVar(&r.channel, "channel", "", "the channel, by name or id (default: the direct one of you two)")
	r.within = time.Minute
	cli.DurationFlag(cmd.Flags(), &r.within, "timeout", "from a pipe: how long each line waits for its answer")
	p.CompleteFlags(cmd, "channel")
	return p.JSONFlag(cmd, "from a pipe: print the answers as JSON, one a line")
}

// say makes the request that sends one message of the chat.
func (r chatRequest) say(text string) control.SendRequest {
	return control.SendRequest{As: r.as, To: []string{r.agent}, Channel: r.channel, Body: text, HeardWithin: HeardWithin}
}

func runPipedChat(ctx context.Context, r chatRequest, in io.Reader, client control.Service, v cli.View) error {
	if _, err := control.FindTalk.Ask(ctx, client, control.TalkRequest{As: r.as, To: r.agent, Channel: r.channel}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, cli.MaxText)
	for lines.Scan() {
		text := protocol.NormalBody(lines.Text())
		if text == "" {
			continue
		}
		m, err := control.Send.Ask(ctx, client, r.say(text))
		if err != nil {
			return err
		}
		reply, err := awaitReply(ctx, control.WaitRequest{As: m.From, Re: m.Path.String(), Within: r.within}, r.as, client, v)
		if err != nil {
			return err
		}
		if err := showArrived(ctx, reply, m.From, client, v); err != nil {
			return err
		}
	}
	return lines.Err()
}
