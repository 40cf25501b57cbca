package main

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// heardWithin is how long a sending command waits for other hosts.
const heardWithin = 50 * time.Millisecond

// sendFlags are the flags of the commands that send.
type sendFlags struct {
	as      string
	request string
	wait    time.Duration
}

func (f *sendFlags) register(p *program, cmd *cobra.Command) {
	asFlag(cmd, &f.as, "speak as this agent or human")
	cmd.Flags().StringVar(&f.request, "request", "", "an id of your own: repeated within a day it shows the first message and sends none")
	p.jsonFlag(cmd, "print the message as JSON")
}

func (f *sendFlags) registerWait(cmd *cobra.Command) {
	durationFlag(cmd.Flags(), &f.wait, "wait", "wait this long for the reply, such as 30s, and print its text alone")
}

// asFlag is --as, whose default the node decides (R14).
func asFlag(cmd *cobra.Command, as *string, usage string) {
	cmd.Flags().StringVar(as, "as", "", usage+" (default $PARLEY_AGENT, else the only agent with an inbox here, else you)")
}

// send sends what a command line asks for.
func (p *program) send(cmd *cobra.Command, f sendFlags, r control.SendRequest, words []string) error {
	if cmd.Flags().Changed("wait") && f.wait <= 0 {
		return usageErrorf(cmd, "--wait needs a time above zero, such as 30s")
	}
	if cmd.Flags().Changed("request") && f.request == "" {
		return usageErrorf(cmd, "--request needs an id")
	}
	text, err := p.text(cmd, words)
	if err != nil {
		return err
	}
	client, err := p.client()
	if err != nil {
		return err
	}
	r.As, r.Body, r.Request, r.HeardWithin = p.speaker(f.as), text, f.request, heardWithin
	return runSend(cmd.Context(), r, f.wait, client, p.view())
}

// runSend sends a message and shows where it is; with wait above zero it then
// waits for the answer.
func runSend(ctx context.Context, r control.SendRequest, wait time.Duration, client control.Service, v view) error {
	m, err := client.Send(ctx, r)
	if err != nil {
		return err
	}
	v.acting(ctx, r.As, m.From, client)
	line := m.Path.String() + "  " + sentStages(m) + "\n"
	switch {
	case wait > 0:
		if !v.json {
			v.err.Printf("%s", line)
		}
		return awaitReply(ctx, control.WaitRequest{Re: m.Path.String(), Within: wait}, client, v)
	case v.json:
		return v.writeJSON(m)
	}
	v.out.Printf("%s", line)
	v.next("parley show "+m.Path.Suffix(), "how far it has come")
	return nil
}

// awaitReply prints the text of the answer alone (R15).
func awaitReply(ctx context.Context, r control.WaitRequest, client control.Service, v view) error {
	done := v.busy("waiting for an answer")
	reply, err := client.Wait(ctx, r)
	done()
	if late := new(control.Error); errors.As(err, &late) && late.Kind == control.KindTimeout {
		return control.Errorf(control.KindTimeout, "it may still come: parley log --follow",
			"nothing came within %s as an answer to %s", span.Text(r.Within), r.Re)
	}
	if err != nil {
		return err
	}
	return v.arrived(reply)
}

// arrived prints the text of a message that was waited for; what says why there
// is no answer is a failure.
func (v view) arrived(m control.Message) (err error) {
	failed := m.Act == protocol.ActFailed
	switch {
	case v.json:
		err = v.writeJSON(m)
	case failed:
		v.err.Printf("%s: %s\n", term.Line(sender(m)), term.Visible(m.Body))
	default:
		v.out.Printf("%s\n", v.out.Body(m.Body))
	}
	if failed && err == nil {
		return errSaid
	}
	return err
}
