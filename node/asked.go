package node

import (
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// reader decides who asks for mail (R14), and remembers when an agent with an inbox
// last did: nothing else tells whether anybody is there. It is gone with the process.
func (n *Node) reader(ctx context.Context, as string) (fleet.Who, error) {
	who, err := n.actor(ctx, as)
	if err != nil {
		return who, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.doorOf(who.Name) == configs.DoorInbox {
		n.asked[protocol.Name(who.Name)] = n.now()
	}
	return who, nil
}

// doorOf is by which door an agent served here gets its mail, "" for everybody else.
// The caller holds mu.
func (n *Node) doorOf(name string) string {
	for _, a := range n.agents {
		if a.Name.String() == name {
			return a.Door
		}
	}
	return ""
}

// addDoor says of an agent served here by which door it gets its mail, and when it
// last asked for it.
func (n *Node) addDoor(p *control.Participant) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.Door = n.doorOf(p.Name.String()); p.Door == configs.DoorInbox {
		p.Asked = n.asked[p.Name].UTC()
	}
}
