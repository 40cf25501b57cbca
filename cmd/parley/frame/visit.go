package frame

import (
	"bufio"
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/node/control"
)

// Visit shows an inquiry that waits at the gate with the path `gate`, and has the human decide there,
// as one of several gates. `left` is "s" if they skip it, "q" if they leave all, and "" if nothing
// waits there any more.
func Visit(ctx context.Context, p *cli.Program, client control.Service, v cli.View, signer *hand.Signer, id, gate string) (left string, err error) {
	s := &session{p: p, client: client, view: v, hand: signer, walk: true}
	f, err := s.show(ctx, id, "", 0)
	if err != nil {
		return "", err
	}
	if f.Gate == nil || f.Gate.Path != gate {
		v.Say("What it asked was answered meanwhile.")
		return "", nil
	}
	s.head(f)
	s.news(f, &told{})
	after, done, err := s.decide(ctx, bufio.NewReader(p.Stdin), f, &told{})
	if done {
		v.Out.Printf("✓ now: %s\n", after.StateText)
	}
	return s.left, err
}
