// Package console is parley console: pages of the node of this home in a browser. It asks the node as
// every other command does, and adds no rule. Nothing is signed here: what a human decides on a page
// is shown and confirmed at the terminal where the console was started.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/console/tty"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// settings are what the flags say.
type settings struct {
	listen, at string // where the pages are served, and the address that others use if a proxy stands before it
	cert, key  string // files for TLS
	stay       bool   // no browser is opened
	phone      bool   // for the paired device alone
	pair       bool   // another device takes its place
	own        string // the file of a certificate of this home; "" for none
}

// anyPort is where the pages are served if nobody says it.
const anyPort = "127.0.0.1:0"

// NewCommand is parley console. What is decided on a page is decided by the commands of `root`.
func NewCommand(p *cli.Program, root func(*cli.Program) *cobra.Command) *cobra.Command {
	var s settings
	var here bool
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Look at the fleet in a browser, or in one screen of a terminal",
		Long: `Open pages of this node in a browser: hosts and agents with what each is at,
talk as it comes, topics, parties, inquiries, the gates that wait for you, what
runs and what failed, and why there is no answer.

Whoever has the link of the first line is let in, once. A page signs nothing:
what you decide there is shown whole at this terminal, and confirmed here with
your passphrase. Ctrl-C ends it.

For another device, --listen names an address and --cert and --key a
certificate; or a proxy such as "tailscale serve" stands before it, and --at is
its address. See the how-to: docs/how-to/look-in-a-browser.md.

--phone lets in one phone alone, and tells it of gates. It is paired once, by a
code that you scan and a number that you compare here, and is let in for 90
days. The address stays: the one of --listen or --at, else the first private
address of this machine, with a certificate of this home. --pair puts out the
phone that is paired, and pairs another one.

--tty shows the fleet in this terminal, also over ssh: talk as it comes, hosts
and agents, what runs, gates. ? names its keys.`,
		Example: `  parley console
  parley console --phone
  parley console --tty
  parley console --listen 127.0.0.1:7400 --at https://desk.tail1234.ts.net`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (s.cert == "") != (s.key == ""):
				return cli.UsageErrorf(cmd, "--cert and --key go together")
			case s.cert != "" && s.at != "":
				return cli.UsageErrorf(cmd, "--cert is for a browser that comes directly, --at for a proxy: choose one")
			case s.pair && !s.phone:
				return cli.UsageErrorf(cmd, "--pair is for --phone")
			case here && s != (settings{listen: anyPort}):
				return cli.UsageErrorf(cmd, "--tty serves no browser: it goes alone")
			case here:
				return tty.Run(cmd.Context(), p)
			}
			return run(cmd.Context(), p, root, s, cmd.Flags().Changed("listen"))
		},
	}
	cmd.Flags().StringVar(&s.listen, "listen", anyPort, "serve the pages at this `ADDRESS`")
	cmd.Flags().StringVar(&s.at, "at", "", "the `URL` at which a proxy on this machine offers the pages")
	cmd.Flags().StringVar(&s.cert, "cert", "", "certificate (PEM `FILE`)")
	cmd.Flags().StringVar(&s.key, "key", "", "key of the certificate (PEM `FILE`)")
	cmd.Flags().BoolVar(&s.phone, "phone", false, "let in a phone that is paired once, and tell it of gates")
	cmd.Flags().BoolVar(&s.pair, "pair", false, "with --phone: pair another phone")
	cmd.Flags().BoolVar(&here, "tty", false, "show it in this terminal, without a browser")
	cmd.Flags().BoolVar(&s.stay, "no-open", false, "open no browser: print the link")
	return cmd
}

// console serves the pages of one node.
type console struct {
	p      *cli.Program
	node   control.Service
	places places // where it is served
	door   door
	desk   desk
	tabs   tabs
	crowd  crowd
	phone  *phone // the device that is paired; nil: the console is for browsers with a link. door.mu guards what it holds
	print  string // the fingerprint of a certificate of this home; "" for none
}

// run serves the console. `named` says that the person named the address.
func run(ctx context.Context, p *cli.Program, root func(*cli.Program) *cobra.Command, s settings, named bool) error {
	if err := p.ForPerson("open the console"); err != nil {
		return err
	}
	node, err := p.Client()
	if err != nil {
		return err
	}
	self, err := control.Whoami.Ask(ctx, node)
	if err != nil {
		return err
	}
	c := &console{p: p, node: node}
	c.desk = desk{terminal: term.IsTerminal(p.Stdin) && p.Err.Terminal, asked: make(chan decision), changed: c.tabs.ring, root: root, clock: c.now}
	if s.phone {
		home, err := p.HomeDir()
		if err != nil {
			return err
		}
		if c.phone, err = readPhone(home.Console()); err != nil {
			return err
		}
		if s, err = c.phone.settle(s, named); err != nil {
			return err
		}
	}
	listeners, err := c.listen(ctx, s)
	if err != nil {
		return err
	}
	for _, l := range listeners {
		defer l.Close()
	}
	s.listen = kept(listeners[0], s.listen)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	handler, err := c.handler()
	if err != nil {
		return err
	}
	p.Out.Printf("Console of %s on %s: %s/\n", term.Line(self.Human.String()), term.Line(self.Host.String()), c.places.first())
	c.door.told = c.note
	if s.phone {
		err = c.servePhone(p, s)
	} else {
		done := c.serveLink(ctx, s)
		defer done()
	}
	if err != nil {
		return err
	}
	if !c.desk.terminal {
		p.View().Note("note: this is no terminal, so nothing can be decided on the pages: they show the commands")
	}
	// What strangers do wrong is no news for a terminal.
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0), ConnState: c.crowd.changed, ConnContext: c.crowd.of}
	for _, l := range listeners {
		go func() { stop(server.Serve(l)) }() // ends when the server is closed
	}
	defer server.Close()
	c.desk.serve(ctx, p)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("cannot go on serving the console: %w", err)
	}
	return nil
}

// serveLink prints the link that lets a browser in, and opens it. `done` ends what that needs.
func (c *console) serveLink(ctx context.Context, s settings) (done func()) {
	link := c.places.first() + "/enter#" + c.door.link()
	c.p.Out.Printf("This link lets one browser in, once:\n  %s\n", link)
	done = func() {}
	if !s.stay && s.at == "" && c.p.Out.Terminal {
		var err error
		if done, err = openBrowser(ctx, link); err != nil {
			c.note("note: no browser was opened: " + err.Error())
		}
	}
	c.note("Ctrl-C ends it.")
	return done
}

// note tells the human something. While the terminal is asked something, it does not end its lines itself.
func (c *console) note(text string) {
	if c.desk.Asks() == "" {
		c.p.View().Note(text)
		return
	}
	c.p.Err.Printf("\r\n%s\r\n", c.p.Err.Warn(term.Line(text)))
}

// openBrowser opens a link in the person's browser. Other users of the machine see the words of every
// command, so the link stands in a file that only this user can read. `done` removes the file.
func openBrowser(ctx context.Context, link string) (done func(), err error) {
	file, err := os.CreateTemp("", "parley-console-*.html") // 0600
	if err != nil {
		return func() {}, err
	}
	done = func() { _ = os.Remove(file.Name()) }
	_, err = fmt.Fprintf(file, `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=%s"><title>parley</title>`, link)
	if err := errors.Join(err, file.Close()); err != nil {
		return done, err
	}
	return done, browse(ctx, file.Name())
}
