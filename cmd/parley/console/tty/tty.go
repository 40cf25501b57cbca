// Package tty is parley console --tty: the fleet in one screen of a terminal. It shows what the node
// tells, says what its human writes, and decides nothing by itself.
package tty

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

const (
	kept      = 1000             // messages that are listed
	askEvery  = time.Second      // what is asked anew because something happened, at most
	askAlways = 10 * time.Second // the same if nothing did: round trips change without a word
	askWithin = 10 * time.Second
	gatherFor = 30 * time.Millisecond
)

// Run shows the console until its human leaves it or `ctx` ends.
func Run(ctx context.Context, p *cli.Program) error {
	if err := p.ForOperator("open the console"); err != nil {
		return err
	}
	if !p.Out.Terminal || !term.IsTerminal(p.Stdin) || p.Getenv("TERM") == "dumb" {
		return control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it); in a pipe: parley log --follow",
			"cannot open the console: there is no terminal that could show it")
	}
	client, err := p.Client()
	if err != nil {
		return err
	}
	now := look(ctx, client)
	if now.err != nil {
		return now.err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, client, p.View(), now)
	m.decide = func(g control.Gate) tea.Cmd {
		return tea.Exec(&visit{ctx: ctx, p: p, gate: g}, func(error) tea.Msg { return visited{} })
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(p.Stdin), tea.WithOutput(p.Unchecked()), tea.WithoutSignalHandler())
	go watch(ctx, client, program.Send) // ends with ctx
	if _, err := program.Run(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// watch tells the model what happens, and goes on after the node was restarted.
func watch(ctx context.Context, client control.Service, send func(tea.Msg)) {
	for {
		err := follow(ctx, client, send)
		if ctx.Err() != nil {
			return
		}
		send(lost{err})
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return
		}
	}
}

// follow tells what happens until the node goes away, and then why.
func follow(ctx context.Context, client control.Service, send func(tea.Msg)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	come, ended := make(chan tea.Msg), make(chan error, 2)
	tell := func(msg tea.Msg) error {
		select {
		case come <- msg:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() { // ends with ctx
		ended <- control.Events.Ask(ctx, client, control.EventsRequest{}, func(e control.Event) error { return tell(e) })
	}()
	go func() { // ends with ctx
		ended <- control.Log.Ask(ctx, client, control.LogRequest{Last: kept, Follow: true}, func(m control.Message) error { return tell(m) })
	}()
	for {
		select {
		case msg := <-come:
			send(gathered(msg, come))
		case err := <-ended:
			return err
		}
	}
}

// gathered is a message with those that come right after it, so that many are drawn once.
func gathered(first tea.Msg, come <-chan tea.Msg) told {
	all := told{first}
	for end := time.After(gatherFor); ; {
		select {
		case msg := <-come:
			all = append(all, msg)
		case <-end:
			return all
		}
	}
}

// visit has a human decide at a gate, on the terminal that the console has left for that.
type visit struct {
	ctx  context.Context
	p    *cli.Program
	gate control.Gate
}

// Run has them decide, and waits until they have seen what came of it.
func (v *visit) Run() error {
	v.p.Out.Printf("\n")
	err := party.Visit(v.ctx, v.p, v.gate)
	if err != nil && !errors.Is(err, term.ErrLeft) {
		e := v.p.Explain(err)
		v.p.View().Note(strings.TrimSuffix("error: "+e.Message+" (hint: "+e.Hint+")", " (hint: )"))
	}
	_, _ = v.p.Ask(v.ctx, "Enter goes back to the console. ") // any key that ends the question will do
	return nil
}

// SetStdin does nothing, as SetStdout and SetStderr: the program has its streams.
func (v *visit) SetStdin(io.Reader)  {}
func (v *visit) SetStdout(io.Writer) {}
func (v *visit) SetStderr(io.Writer) {}
