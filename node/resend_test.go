package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// A chain is walked, oldest first. The walk begins after what the asker has, if that is known.
// Otherwise it goes back from what the asker wants. It never has more than one answer may bring.
func TestChainIsWalked(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	g := newGhost(t, n, "gone")
	all := g.words(197)
	n.Receive(all[:1], byBus)
	hear(t, n, all[1:])
	last, from := all[len(all)-1], all[32]
	for name, c := range map[string]struct {
		asks protocol.ResendRequest
		want []gitsync.MessageFile
	}{
		"all":                {protocol.ResendRequest{Host: "gone", Want: protocol.Hash(last.Data)}, all},
		"after a path":       {protocol.ResendRequest{Host: "gone", Want: protocol.Hash(last.Data), After: from.Path}, all[33:]},
		"after one it has":   {protocol.ResendRequest{Host: "gone", Want: protocol.Hash(last.Data), After: from.Path, AfterHash: protocol.Hash(from.Data)}, all[33:]},
		"beyond what is had": {protocol.ResendRequest{Host: "gone", Want: protocol.Hash(nil), AfterHash: protocol.Hash(from.Data)}, all[33:]},
		"of another host":    {protocol.ResendRequest{Host: "white", Want: protocol.Hash(last.Data)}, nil},
	} {
		if diff := cmp.Diff(pathsOf(c.want), itemPaths(n.hosts.Reporter.ChainTo(c.asks))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func pathsOf(messages []gitsync.MessageFile) (all []string) {
	for _, l := range messages {
		all = append(all, l.Path.String())
	}
	return all
}

func itemPaths(chain []*fleet.Item) (all []string) {
	for _, it := range chain {
		all = append(all, it.Path.String())
	}
	return all
}

// An answer never brings more than it may, however long the chain is.
func TestChainOfOneAnswerIsBounded(t *testing.T) {
	scratch.Unraced(t)
	n, _ := runNode(t, initHome(t, nil))
	g := newGhost(t, n, "gone")
	all := g.words(protocol.MaxResent + 64)
	n.Receive(all[:1], byBus)
	hear(t, n, all[1:])
	last := protocol.Hash(all[len(all)-1].Data)
	for after, first := range map[string]int{"": len(all) - protocol.MaxResent, protocol.Hash(all[3].Data): 4} {
		chain := n.hosts.Reporter.ChainTo(protocol.ResendRequest{Host: "gone", Want: last, AfterHash: after})
		if len(chain) != protocol.MaxResent || chain[0].Path != all[first].Path {
			t.Errorf("after %q: %d messages from %s", after, len(chain), chain[0].Path)
		}
	}
}
