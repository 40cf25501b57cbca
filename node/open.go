package node

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// Open answers control.Open.
func (n *Node) Open(_ context.Context, r control.OpenRequest) (control.Opening, error) {
	a, err := n.roster.Get(r.Agent)
	if err != nil {
		return control.Opening{}, err
	}
	if a.Open == "" {
		return control.Opening{}, control.Errorf(control.KindRefused,
			"add it with --open 'CMD …', or talk to it: parley chat "+a.Name.String(), "%s has no interactive program", a.Name)
	}
	if a.RunAs != "" {
		return control.Opening{}, control.Errorf(control.KindRefused, "talk to it: parley chat "+a.Name.String(),
			"cannot open %s: it runs as %s, and its program would run as you", a.Name, a.RunAs)
	}
	argv, err := agents.OpenArgv(a.Open)
	if err != nil {
		return control.Opening{}, control.Errorf(control.KindFailed, "see agents/"+a.Name.String()+".yaml in the home", "cannot open %s: %v", a.Name, err)
	}
	channel := protocol.DeriveChannel(n.record.ID(), a.Name.String(), n.cfg.Human.String())
	if r.Channel != "" {
		n.mu.Lock()
		channel, err = n.state.Channels.Find(r.Channel)
		n.mu.Unlock()
		if err != nil {
			return control.Opening{}, asError(err)
		}
	}
	n.mu.Lock()
	name := n.state.Channels.Name(channel)
	n.mu.Unlock()
	about, earlier := n.surroundings(a, channel, protocol.Path{})
	if about.History, err = n.history(earlier); err != nil {
		return control.Opening{}, asError(err)
	}
	if about.Fence, err = n.fence(a.Name.String() + "\x00" + random.Hex(8)); err != nil {
		return control.Opening{}, asError(err)
	}
	o := control.Opening{
		Agent: a.Name.String(), Channel: channel, ChannelName: name, Argv: argv, Dir: a.Dir, Context: prompt.Context(about).Text,
		Env: append(n.environment(a, n.callers.Standing(a.Name)), "PARLEY_CHANNEL="+channel.String()),
	}
	for i, word := range argv {
		if strings.Contains(word, configs.PlaceholderContext) {
			o.Argv[i] = strings.ReplaceAll(word, configs.PlaceholderContext, o.Context)
			o.Passed = true
		}
	}
	return o, nil
}
