package node

import (
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
)

// unknownHubs warn of hosts that the operator names as hubs and that have not
// joined. They may do so later, so it is no error. The caller holds mu.
func (n *Node) unknownHubs() (warnings []string) {
	for _, hub := range n.cfg.Bus.Hubs {
		alias, _, err := configs.ParseHub(hub)
		if err != nil || alias == "" {
			continue // Load has refused it, or it is whoever answers there
		}
		var unknown *fleet.Refusal
		if _, err := n.state.FindHost(alias.String()); errors.As(err, &unknown) {
			warnings = append(warnings, fmt.Sprintf("nothing is known of a host called %s, which bus.hubs names (%s): it has not joined yet, or has another name; %s",
				alias, hub, unknown.Hint))
		}
	}
	return warnings
}

// sayUnknownHubs puts them into the log.
func (n *Node) sayUnknownHubs() {
	n.mu.Lock()
	warnings := n.unknownHubs()
	n.mu.Unlock()
	for _, warning := range warnings {
		n.log.Warn().Msg(warning)
	}
}
