package record

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

// Losses says what this disk has lost of the record, and makes sure that no agent is run without
// it.
type Losses struct {
	Record  *gitsync.Record
	Anchor  keys.Anchor
	Cache   *statecache.Cache
	Folded  folded.State
	Halts   *Halts
	Lookout *presence.Lookout
	Events  *feed.Events
	Mended  func() // called when the record is whole again
	Log     zerolog.Logger
}

// Damaged takes in that a part of main is not on the disk any more; if `why` is "", that this is
// over. Meanwhile no agent is run: the messages that it would answer may have been answered
// already, and nobody could tell.
func (l *Losses) Damaged(why string) {
	l.Halts.Breaks(why)
	l.tellDamage()
	if why == "" {
		l.Tell()
		l.Mended()
		return
	}
	// Perhaps only this process still knows what was in folders that are lost.
	var paths []protocol.Path
	err := l.Folded.Each(context.Background(), func(it *fleet.Item) { paths = append(paths, it.Path) })
	if err == nil {
		err = l.Record.NameLost(paths)
	}
	if err != nil {
		l.Log.Error().Err(err).Msg("the next start does not know all that was lost")
	}
}

// Name names the messages that were in folders which the disk has lost, as far as the cache of the
// state remembers them.
func (l *Losses) Name() {
	if len(l.Record.Lost()) == 0 {
		return
	}
	paths, err := l.Cache.Paths(l.Anchor)
	if err != nil {
		l.Log.Warn().Err(err).Msg("the cache of the state did not close cleanly")
	}
	if len(paths) == 0 {
		return // the cache remembers nothing
	}
	if err := l.Record.NameLost(paths); err != nil {
		l.Log.Error().Err(err).Msg("what is lost cannot be named")
	}
}

// Tell takes in what the disk has lost. No agent is run without that: it may say what the agent has
// done already.
func (l *Losses) Tell() {
	lost := l.Record.Lost()
	entries := l.Record.LostEntries()
	changed := l.Halts.Loses(lost, entries)
	if changed && len(entries) > 0 {
		l.Log.Error().Strs("journal", entries[:min(len(entries), mostLostLogged)]).Int("all", len(entries)).Msg("the journal has lost what was stored")
	}
	l.tellDamage()
	if changed && len(lost) > 0 {
		l.Log.Error().Strs("lost", lost[:min(len(lost), mostLostLogged)]).Int("all", len(lost)).Bool("agents run", !l.Halts.NotWhole()).Msg("the disk has lost a part of the record")
	}
	if l.Halts.NotWhole() {
		l.Lookout.Trust()
	}
}

// tellDamage tells the followers of events that the record is not whole, or that it is whole again.
func (l *Losses) tellDamage() {
	l.Events.Wrong("the record", strings.Join(l.Halts.Damage(l.Record.Shared()), "; "))
}
