package node

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// mostLostLogged is how many of what is lost the log names; "record verify" names all.
const mostLostLogged = 1000

// recordDamaged is the record's news that a part of main is not on the disk any more,
// or, with "", that this is over. Meanwhile no agent is run: what it would answer may
// have been answered, and nobody could say.
func (n *Node) recordDamaged(why string) {
	n.halts.breaks(why)
	n.tellDamage()
	if why == "" {
		n.tellLost()
		n.doors.nudge()
		return
	}
	// Only this process may still know what was in folders that are lost.
	var paths []protocol.Path
	err := n.folded.Each(context.Background(), func(it *fleet.Item) { paths = append(paths, it.Path) })
	if err == nil {
		err = n.record.NameLost(paths)
	}
	if err != nil {
		n.log.Error().Err(err).Msg("the next start does not know all that was lost")
	}
}

// nameLost names the messages that were in folders that the disk has lost, as the
// cache of the state remembers them.
func (n *Node) nameLost() {
	if len(n.record.Lost()) == 0 {
		return
	}
	n.cache.dir = n.home.StateCache()
	a, _, err := n.cache.open(n.record.ID())
	if err != nil {
		return // it remembers nothing
	}
	var paths []protocol.Path
	for it := range fleet.Restore(n.anchor, a).Ledger.After(nil) {
		paths = append(paths, it.Path)
	}
	if err := n.record.NameLost(paths); err != nil {
		n.log.Error().Err(err).Msg("what is lost cannot be named")
	}
	if err := n.cache.close(); err != nil {
		n.log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
}

// tellLost takes in what the disk has lost. No agent is run without it: it may say what
// the agent has done already.
func (n *Node) tellLost() {
	lost := n.record.Lost()
	if len(lost) > 0 {
		n.lookout.Trust()
	}
	n.halts.loses(lost)
	n.tellDamage()
	if len(lost) > 0 {
		n.log.Error().Strs("lost", lost[:min(len(lost), mostLostLogged)]).Int("all", len(lost)).Msg("the disk has lost a part of the record: no agent is run")
	}
}

// tellDamage tells who follows what happens that the record is not whole, or that it is.
func (n *Node) tellDamage() {
	n.events.Wrong("the record", strings.Join(n.halts.damage(n.cfg.Remote != ""), "; "))
}
