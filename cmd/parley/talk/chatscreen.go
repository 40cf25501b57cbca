package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	xterm "golang.org/x/term"
)

// chat is a conversation at a terminal. One goroutine reads lines, and another one shows what
// comes. The terminal keeps the two apart.
type chat struct {
	r      chatRequest
	client control.Service
	v      cli.View // its output is the terminal above the line that is typed; mu guards its width
	screen *xterm.Terminal
	in     *os.File
	me     string

	channel protocol.ChannelID
	known   bool // the channel exists
	seen    *receipts

	mu       sync.Mutex             // guards what follows; held while a message is sent
	mine     map[protocol.Path]bool // the messages that this chat sent
	answered map[protocol.Path]bool
}

func runChat(ctx context.Context, r chatRequest, in *os.File, client control.Service, v cli.View) error {
	c := &chat{r: r, client: client, v: v, in: in, mine: map[protocol.Path]bool{}, answered: map[protocol.Path]bool{}}
	if err := c.findChannel(ctx); err != nil {
		return err
	}
	raw, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("cannot read from the terminal: %w", err)
	}
	defer func() {
		_, _ = io.WriteString(v.Out.Writer, "\r\n") // the line that was being typed stays as it is
		_ = xterm.Restore(int(in.Fd()), raw)        // if it fails, nothing else can be tried
	}()
	c.screen = xterm.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, v.Out.Writer}, "")
	c.screen.SetPrompt(c.prompt())
	c.screen.SetBracketedPasteMode(true)
	defer c.screen.SetBracketedPasteMode(false)
	c.fit()
	c.v.Out.Writer, c.v.Err.Writer = c.screen, c.screen
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.seen = startReceipts(client, c.me, c.complain)
	defer c.seen.end()
	c.v.Out.Printf("%s\n", v.Out.Dim("talking with "+term.Line(r.agent)+" as "+term.Line(c.me)+"; /help for help, Ctrl-D to end"))
	shown, typed := make(chan error, 1), make(chan error, 1)
	go func() { shown <- c.follow(ctx) }() // ends with ctx
	go func() { typed <- c.read(ctx) }()   // ends with the input or the program
	select {
	case err = <-shown:
	case err = <-typed:
	case <-ctx.Done():
	}
	return err
}

// findChannel finds out who talks, and where. If nobody can talk with the named one, it returns an
// error before anything is typed.
func (c *chat) findChannel(ctx context.Context) error {
	talk, err := control.FindTalk.Ask(ctx, c.client, control.TalkRequest{As: c.r.as, To: c.r.agent, Channel: c.r.channel})
	c.me, c.r.as, c.channel, c.known = talk.As, talk.As, talk.Channel, talk.Begun
	return err
}

func (c *chat) prompt() string { return c.v.Out.Bold(c.me) + "> " }

// fit tells the line editor how wide the terminal is now.
func (c *chat) fit() {
	if width, height, err := xterm.GetSize(int(c.in.Fd())); err == nil && width > 0 {
		_ = c.screen.SetSize(width, height) // it redraws the line; nothing depends on it
		c.v.Out.Width = width
	}
}

func (c *chat) follow(ctx context.Context) error {
	request := control.LogRequest{Last: chatLast, Everything: true}
	if c.known {
		request.Channel = c.channel.String()
	} else {
		request.Last = 1 // of the whole record: the channel does not exist yet
	}
	f := follower{
		client: c.client,
		show:   c.show,
		away:   func() { c.say(c.v.Out.Warn("the node went away; waiting for it")) },
		back:   func() { c.say(c.v.Out.Dim("the node is back")) },
	}
	return f.run(ctx, request)
}

// say writes lines above the line that is typed, all at once.
func (c *chat) say(lines ...string) {
	c.v.Out.Printf("%s\n", strings.Join(lines, "\n"))
}

// show shows what came. It leaves out what was typed here.
func (c *chat) show(m control.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Channel != c.channel || c.mine[m.Path] {
		return nil
	}
	if m.Type == protocol.TypeRead {
		c.showReceipt(m)
		return nil
	}
	if re, err := protocol.ParsePath(m.Re); err == nil {
		c.answered[re] = true
	}
	c.fit()
	who := term.Line(Sender(m))
	head := c.v.Out.Dim(c.v.Stamp(m.Timestamp)) + " " + c.v.Out.Bold(who)
	if act := unusualAct(m); act != "" && act != string(protocol.ActReply) {
		head += " [" + act + "]"
	}
	for _, doubt := range Doubts(m) {
		head += " " + c.v.Out.Warn(term.Line(doubt))
	}
	lines := []string{head}
	for _, line := range term.Wrap(term.Visible(m.Body), c.v.Out.Width-len(textIndent)-1) {
		lines = append(lines, textIndent+line)
	}
	c.say(lines...)
	c.seen.add(m)
	return nil
}

// showReceipt says that somebody has read what was typed here, unless an answer says so already.
func (c *chat) showReceipt(m control.Message) {
	p, err := protocol.ParsePath(m.Ref)
	if err == nil && c.mine[p] && !c.answered[p] {
		c.say(c.v.Out.Dim("read by " + term.Line(Sender(m))))
	}
}

// read sends what is typed until the input ends.
func (c *chat) read(ctx context.Context) error {
	for {
		text, err := c.compose()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("cannot read from the terminal: %w", err)
		}
		switch word := strings.TrimSpace(text); {
		case word == "":
		case word == "/quit":
			return nil
		case strings.HasPrefix(word, "/") && !strings.ContainsAny(word, "\n ") && len(word) > 1:
			c.command(ctx, word)
		default:
			c.send(ctx, text)
		}
	}
}

// compose reads one text: a line, several lines that end in backslashes, a block between lines of
// three quotes, or everything that was pasted until the next Enter.
func (c *chat) compose() (string, error) {
	var lines []string
	block := false
	for {
		line, err := c.screen.ReadLine()
		pasted := errors.Is(err, xterm.ErrPasteIndicator)
		if err != nil && !pasted {
			return "", err
		}
		switch {
		case strings.TrimSpace(line) == `"""` && !pasted:
			block = !block
		case pasted:
			lines = append(lines, line)
		case !block && strings.HasSuffix(line, `\`):
			lines = append(lines, strings.TrimSuffix(line, `\`))
			c.screen.SetPrompt("… ")
			continue
		default:
			lines = append(lines, line)
		}
		if !block && !pasted {
			c.screen.SetPrompt(c.prompt())
			return strings.Join(lines, "\n"), nil
		}
		c.screen.SetPrompt("… ")
	}
}

func (c *chat) send(ctx context.Context, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := control.Send.Ask(ctx, c.client, c.r.say(protocol.NormalBody(text)))
	if err != nil {
		c.complain(err)
		return
	}
	c.mine[m.Path] = true
	c.say(c.v.Out.Dim(SentStages(m) + "  " + m.Path.Suffix()))
}

func (c *chat) complain(err error) {
	e := control.AsError(err)
	c.say(c.v.Out.Warn(term.Visible(e.Message)))
	if e.Hint != "" {
		for _, line := range cli.WrapWords("hint: "+term.Line(c.v.Command(e.Hint)), c.v.Out.Width-1) {
			c.say(c.v.Out.Dim(line))
		}
	}
}

func (c *chat) command(ctx context.Context, word string) {
	switch word {
	case "/help":
		c.say("/who     who takes part in this channel", "/thread  the last message's whole conversation", "/quit    end, as Ctrl-D does",
			`"""      begins and ends a text of several lines`, `\        at the end of a line goes on in the next`)
	case "/who":
		channel, err := control.ShowChannel.Ask(ctx, c.client, control.ChannelRequest{Channel: c.channel.String()})
		if err != nil {
			c.complain(err)
			return
		}
		c.say(ChannelName(channel) + ": " + term.Line(strings.Join(channel.Participants, ", ")))
	case "/thread":
		c.thread(ctx)
	default:
		c.say("there is no command " + term.Line(word) + "; /help lists them")
	}
}

// thread shows the conversation to which the channel's last message belongs.
func (c *chat) thread(ctx context.Context) {
	var last protocol.Path
	err := control.Log.Ask(ctx, c.client, control.LogRequest{Channel: c.channel.String(), Last: 1}, func(m control.Message) error {
		last = m.Path
		return nil
	})
	if err == nil && !last.IsZero() {
		c.mu.Lock()
		c.fit()
		v := c.v
		c.mu.Unlock()
		err = runThread(ctx, control.ThreadRequest{Path: last.String()}, c.client, v)
	}
	if err != nil {
		c.complain(err)
	}
}
