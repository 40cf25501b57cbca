package node

import (
	"context"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
)

// Wake answers control.Wake.
func (n *Node) Wake(ctx context.Context, r control.WakeRequest) (control.Woken, error) {
	if r.Agent != "" && !n.roster.Serves(r.Agent) {
		return control.Woken{}, agents.NotServed(r.Agent)
	}
	n.mu.Lock()
	before := n.brought
	n.mu.Unlock()
	woken := control.Woken{Remote: n.record.Status().Remote}
	if err := n.record.Fetch(ctx); err != nil {
		if ctx.Err() != nil {
			return woken, asError(ctx.Err())
		}
		woken.RemoteError = err.Error()
	}
	n.doors.fillAll(r.Agent)
	if at := n.record.Status(); at.Remote != "" {
		woken.Unpushed = at.Unrecorded + at.Unpushed
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	woken.Arrived = n.brought - before
	for _, a := range n.roster.All() {
		if r.Agent == "" || r.Agent == a.Name.String() {
			woken.Agents = append(woken.Agents, n.doors.view(n.state, a))
		}
	}
	return woken, nil
}
