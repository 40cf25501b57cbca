package node

import (
	"fmt"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Nobody can send a message that only a node writes by itself. It prevents: an agent, which may do
// no more than speak, has the host revoke its key or declare agents, or has what another agent
// failed on tried again.
func TestNobodySendsWhatANodeSays(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "mawjs", "cat")
	addExec(t, n, "volt", "false")
	asked := say(t, n, "volt", "work")
	system := protocol.SystemChannel(n.record.ID())
	agent, human := control.Caller{Kind: control.ByAgent, Name: "mawjs"}, control.Itself()
	host := n.cfg.Alias
	words := map[protocol.Act]string{
		protocol.ActHostAgents: fmt.Sprintf("HOST-AGENTS | host: %s\n", host),
		protocol.ActRunRetry:   protocol.RunRetry.Format(protocol.RunWord{Of: asked.Path, Agent: "volt"}),
		protocol.ActRunDrop:    protocol.RunDrop.Format(protocol.RunWord{Of: asked.Path, Agent: "volt"}),
		protocol.ActRunClaim:   protocol.RunClaim.Format(protocol.RunClaimed{Of: asked.Path, Agent: "volt", From: host}),
		protocol.ActTalkHeld:   "TALK-HELD", protocol.ActRead: "read", protocol.ActHostRevoke: "HOST-REVOKE", protocol.ActHostRotate: "HOST-ROTATE",
		protocol.ActHostVouch: "HOST-VOUCH",
	}
	for act, body := range words {
		for _, by := range []control.Caller{agent, human} {
			m, err := n.talk.Outbox.Send(t.Context(), by, control.SendRequest{To: []string{host.String()}, Channel: string(system), Act: act, Body: body, Anyway: true})
			if err == nil {
				t.Errorf("%s is sent for the %s: %s", act, by.Kind, m.Path)
			} else if control.AsError(err).Kind != control.KindRefused {
				t.Errorf("%s: %v", act, err)
			}
		}
	}
}
