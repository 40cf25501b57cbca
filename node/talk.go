package node

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
)

// Talk answers control.FindTalk.
func (n *Node) Talk(_ context.Context, by control.Caller, r control.TalkRequest) (control.Talk, error) {
	who, err := n.actor(by, r.As)
	if err != nil {
		return control.Talk{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	channel, err := n.state.Between(who, r.To)
	if err == nil && r.Channel != "" {
		channel, err = n.state.Channels.Find(r.Channel)
	}
	if err != nil {
		return control.Talk{}, asError(err)
	}
	return control.Talk{As: who.Name, Channel: channel, Begun: n.state.Channels.Exists(channel)}, nil
}
