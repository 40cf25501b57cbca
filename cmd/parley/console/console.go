// Package console is parley console: pages of the node of this home in a browser. It asks the node as
// every other command does, and adds no rule. Nothing is signed here: what a human decides on a page
// is shown and confirmed at the terminal where the console was started.
package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// settings are what the flags say.
type settings struct {
	listen, at string // where the pages are served, and the address that others use if a proxy stands before it
	cert, key  string // files for TLS
	stay       bool   // no browser is opened
}

// NewCommand is parley console. What is decided on a page is decided by the commands of `root`.
func NewCommand(p *cli.Program, root func(*cli.Program) *cobra.Command) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Look at the fleet in a browser",
		Long: `Open pages of this node in a browser: hosts and agents with what each is at,
talk as it comes, topics, parties, inquiries, the gates that wait for you, what
runs and what failed, and why there is no answer.

Whoever has the link of the first line is let in, once. A page signs nothing:
what you decide there is shown whole at this terminal, and confirmed here with
your passphrase. Ctrl-C ends it.

For another device, --listen names an address and --cert and --key a
certificate; or a proxy such as "tailscale serve" stands before it, and --at is
its address. See the how-to: docs/how-to/look-in-a-browser.md.`,
		Example: `  parley console
  parley console --listen 127.0.0.1:7400 --at https://desk.tail1234.ts.net`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (s.cert == "") != (s.key == ""):
				return cli.UsageErrorf(cmd, "--cert and --key go together")
			case s.cert != "" && s.at != "":
				return cli.UsageErrorf(cmd, "--cert is for a browser that comes directly, --at for a proxy: choose one")
			}
			return run(cmd.Context(), p, root, s)
		},
	}
	cmd.Flags().StringVar(&s.listen, "listen", "127.0.0.1:0", "serve the pages at this `ADDRESS`")
	cmd.Flags().StringVar(&s.at, "at", "", "the `URL` at which a proxy on this machine offers the pages")
	cmd.Flags().StringVar(&s.cert, "cert", "", "certificate (PEM `FILE`)")
	cmd.Flags().StringVar(&s.key, "key", "", "key of the certificate (PEM `FILE`)")
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
}

func run(ctx context.Context, p *cli.Program, root func(*cli.Program) *cobra.Command, s settings) error {
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
	listener, at, err := listen(ctx, s)
	if err != nil {
		return err
	}
	c := &console{p: p, node: node, places: at}
	c.desk = desk{terminal: term.IsTerminal(p.Stdin) && p.Err.Terminal, asked: make(chan decision), changed: c.tabs.ring}
	c.door.told = p.View().Note
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	handler, err := c.handler()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: quiet()}
	go func() { stop(server.Serve(listener)) }()
	defer server.Close()

	link := c.places.first() + "/enter#" + c.door.link()
	p.Out.Printf("Console of %s on %s: %s/\n", term.Line(self.Human.String()), term.Line(self.Host.String()), c.places.first())
	p.Out.Printf("This link lets one browser in, once:\n  %s\n", link)
	if !s.stay && s.at == "" && p.Out.Terminal {
		done, err := openBrowser(ctx, link)
		defer done()
		if err != nil {
			p.View().Note("note: no browser was opened: " + err.Error())
		}
	}
	if !c.desk.terminal {
		p.View().Note("note: this is no terminal, so nothing can be decided on the pages: they show the commands")
	}
	p.View().Note("Ctrl-C ends it.")
	c.desk.serve(ctx, p, root)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("cannot go on serving the console: %w", err)
	}
	return nil
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
