package root

import (
	"context"
	"errors"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// runFirst says what to do first: make a home, start the node, or talk.
func runFirst(ctx context.Context, home configs.Home, client control.Service, v cli.View) error {
	if !cli.Configured(home) {
		if why := cli.NotConfigured(home, ""); why.Hint != "parley init" {
			return why
		}
		v.Out.Printf("%s\n\nThere is no node of yours at %s yet. First:\n\n", tagline, home.Dir)
		v.Steps("parley init", "make one: keys, a record in git, your name", "parley demo", "or watch two of them talk for a moment")
		return nil
	}
	s, err := control.ShowStatus.Ask(ctx, client)
	if down := new(control.Error); errors.As(err, &down) && down.Kind == control.KindUnavailable {
		v.Out.Printf("%s\n\nYour node at %s is not running. Next:\n\n", tagline, home.Dir)
		v.Steps("parley up -d", "start it in the background; without -d it stays here", "parley logs", "what it logged before")
		return nil
	}
	if err != nil {
		return err
	}
	node.ShowStatusLine(v, s)
	v.Out.Printf("\n")
	v.Steps("parley who", "who can be reached", "parley hey AGENT hello", "say something", "parley inbox", "what is waiting for you",
		"parley log --follow", "listen", "parley --help", "everything else")
	return nil
}

const tagline = "parley: agents on many machines, talking live, with every word in git."
