package node

import (
	"context"
	"strings"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/statecache"
	"github.com/parleyfleet/parley/protocol"
)

// mostLostLogged is how many of the lost paths the log names; "record verify" names all.
const mostLostLogged = 1000

// losses says what this disk has lost of the record, and makes sure that no agent is run without
// it.
type losses struct {
	record  *gitsync.Record
	shared  bool // with a remote
	anchor  keys.Anchor
	cache   *statecache.Cache
	folded  folded.State
	halts   *halts
	lookout *presence.Lookout
	events  *feed.Events
	mended  func() // called when the record is whole again
	log     zerolog.Logger
}

// damaged takes in that a part of main is not on the disk any more; if `why` is "", that this is
// over. Meanwhile no agent is run: the messages that it would answer may have been answered
// already, and nobody could tell.
func (l *losses) damaged(why string) {
	l.halts.breaks(why)
	l.tellDamage()
	if why == "" {
		l.tell()
		l.mended()
		return
	}
	// Perhaps only this process still knows what was in folders that are lost.
	var paths []protocol.Path
	err := l.folded.Each(context.Background(), func(it *fleet.Item) { paths = append(paths, it.Path) })
	if err == nil {
		err = l.record.NameLost(paths)
	}
	if err != nil {
		l.log.Error().Err(err).Msg("the next start does not know all that was lost")
	}
}

// name names the messages that were in folders which the disk has lost, as far as the cache of the
// state remembers them.
func (l *losses) name() {
	if len(l.record.Lost()) == 0 {
		return
	}
	paths, err := l.cache.Paths(l.anchor)
	if err != nil {
		l.log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
	if len(paths) == 0 {
		return // the cache remembers nothing
	}
	if err := l.record.NameLost(paths); err != nil {
		l.log.Error().Err(err).Msg("what is lost cannot be named")
	}
}

// tell takes in what the disk has lost. No agent is run without that: it may say what the agent has
// done already.
func (l *losses) tell() {
	lost := l.record.Lost()
	entries := l.record.LostEntries()
	changed := l.halts.loses(lost, entries)
	if changed && len(entries) > 0 {
		l.log.Error().Strs("journal", entries[:min(len(entries), mostLostLogged)]).Int("all", len(entries)).Msg("the journal has lost what was stored")
	}
	l.tellDamage()
	if changed && len(lost) > 0 {
		l.log.Error().Strs("lost", lost[:min(len(lost), mostLostLogged)]).Int("all", len(lost)).Bool("agents run", !l.halts.notWhole()).Msg("the disk has lost a part of the record")
	}
	if l.halts.notWhole() {
		l.lookout.Trust()
	}
}

// tellDamage tells the followers of events that the record is not whole, or that it is whole again.
func (l *losses) tellDamage() {
	l.events.Wrong("the record", strings.Join(l.halts.damage(l.shared), "; "))
}
