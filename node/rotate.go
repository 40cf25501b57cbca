package node

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// maxOverlap bounds how long two keys of a host may count beside each other.
const maxOverlap = 366 * 24 * time.Hour

// RotateKey answers control.RotateKey. Both seeds are on the disk before the fleet
// is told. Where the node ends after that, and before the home says which is the
// one to sign with, the next start takes the one that the record says (rightKey).
func (n *Node) RotateKey(ctx context.Context, r control.RotateRequest) (control.Rotation, error) {
	if r.Overlap < 0 || r.Overlap > maxOverlap {
		return control.Rotation{}, control.Errorf(control.KindUsage, "", "cannot change the key: the overlap is to be from 0 to %s, not %s", span.Text(maxOverlap), span.Text(r.Overlap))
	}
	if r.Try {
		return control.Rotation{Host: n.cfg.Alias, Old: n.ownKey().public}, nil
	}
	if err := typed(r.Phrase, control.RotatePhrase(n.cfg.Alias), "change the key"); err != nil {
		return control.Rotation{}, err
	}
	n.keys.changing.Lock()
	defer n.keys.changing.Unlock()
	old := n.ownKey()
	pair, err := nkeys.CreateUser()
	if err != nil {
		return control.Rotation{}, asError(fmt.Errorf("cannot make a new key: %w", err))
	}
	next, err := withPublic(pair)
	if err != nil {
		return control.Rotation{}, asError(err)
	}
	for _, key := range []*hostKey{old, next} {
		if err := key.keepSeed(n.home); err != nil {
			return control.Rotation{}, asError(err)
		}
	}
	failpoint.Hit(failpoint.SeedsKept)
	said, err := n.tellRotation(ctx, old, next, r.Overlap)
	if err != nil {
		return control.Rotation{}, asError(err)
	}
	failpoint.Hit(failpoint.KeyRotated)
	if err := next.makeOwn(n.home); err != nil { // the next start brings it to its end
		n.notices.News("the new key is kept in " + seedFile(n.home, next.public) + ", but not as host.nk: " + err.Error())
	}
	n.afterRotation(next)
	print, err := protocol.Fingerprint(next.public)
	if err != nil {
		return control.Rotation{}, asError(err)
	}
	return control.Rotation{
		Host: n.cfg.Alias, Old: old.public, Key: next.public, Fingerprint: print, Until: n.countsUntil(old.public), Path: said.message.Path,
	}, nil
}

// countsUntil is until when an old key of this host counts.
func (n *Node) countsUntil(key string) (until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, joined := n.state.Host(n.cfg.Alias); joined {
		for _, k := range h.Keys() {
			if k.Key == key {
				until = k.Until
			}
		}
	}
	return until
}

// tellRotation writes the message by which the new key takes the place of the old.
func (n *Node) tellRotation(ctx context.Context, old, next *hostKey, overlap time.Duration) (written, error) {
	proof := protocol.Rotation{Host: n.cfg.Alias}
	if err := proof.Prove(n.record.ID(), old.public, next.pair); err != nil {
		return written{}, err
	}
	now := n.now()
	n.mu.Lock()
	drafts, err := n.state.Decide(fleet.Rotate{Host: n.cfg.Alias, Old: old.public, Next: proof, Overlap: overlap}, now)
	n.mu.Unlock()
	if err != nil {
		return written{}, err
	}
	ws, err := n.writer.rotate(ctx, drafts[0], next)
	if err != nil {
		return written{}, err
	}
	return ws[0], nil
}

// afterRotation has the bus and the host file show the new key.
func (n *Node) afterRotation(next *hostKey) {
	if b := n.currentBus(); b != nil {
		if err := b.Rekey(next.pair); err != nil {
			n.notices.News(err.Error() + "; start the node anew")
		}
	}
	n.presence.announce()
	if err := n.own.render(); err != nil {
		n.log.Warn().Err(err).Msg("cannot render this host's file")
	}
}
