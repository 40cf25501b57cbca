package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// maxOverlap bounds how long two keys of a host may count beside each other.
const maxOverlap = 366 * 24 * time.Hour

// ownKey is the key that this host signs with now.
func (n *Node) ownKey() *homes.Key { return n.signsWith.Load() }

// RotateKey answers control.RotateKey. Both seeds are on the disk before the fleet
// is told. Where the node ends after that, and before the home says which is the
// one to sign with, the next start takes the one that the record says (rightKey).
func (n *Node) RotateKey(ctx context.Context, r control.RotateRequest) (control.Rotation, error) {
	if r.Overlap < 0 || r.Overlap > maxOverlap {
		return control.Rotation{}, control.Errorf(control.KindUsage, "", "cannot change the key: the overlap is to be from 0 to %s, not %s", span.Text(maxOverlap), span.Text(r.Overlap))
	}
	if r.Try {
		return control.Rotation{Host: n.cfg.Alias, Old: n.ownKey().Public}, nil
	}
	if err := typed(r.Phrase, control.RotatePhrase(n.cfg.Alias), "change the key"); err != nil {
		return control.Rotation{}, err
	}
	n.keys.changing.Lock()
	defer n.keys.changing.Unlock()
	old := n.ownKey()
	next, err := homes.NewKey()
	if err != nil {
		return control.Rotation{}, asError(fmt.Errorf("cannot make a new key: %w", err))
	}
	for _, key := range []*homes.Key{old, next} {
		if err := key.Keep(n.home); err != nil {
			return control.Rotation{}, asError(err)
		}
	}
	failpoint.Hit(failpoint.SeedsKept)
	said, err := n.tellRotation(ctx, old, next, r.Overlap)
	if err != nil {
		return control.Rotation{}, asError(err)
	}
	failpoint.Hit(failpoint.KeyRotated)
	if err := next.MakeOwn(n.home); err != nil { // the next start brings it to its end
		n.notices.News("the new key is kept in " + homes.SeedFile(n.home, next.Public) + ", but not as host.nk: " + err.Error())
	}
	n.afterRotation(next)
	print, err := protocol.Fingerprint(next.Public)
	if err != nil {
		return control.Rotation{}, asError(err)
	}
	return control.Rotation{
		Host: n.cfg.Alias, Old: old.Public, Key: next.Public, Fingerprint: print, Until: n.countsUntil(old.Public), Path: said.message.Path,
	}, nil
}

// countsUntil is until when an old key of this host counts.
func (n *Node) countsUntil(key string) (until time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h, joined := n.state.Keys().Host(n.cfg.Alias); joined {
		for _, k := range h.Keys() {
			if k.Key == key {
				until = k.Until
			}
		}
	}
	return until
}

// tellRotation writes the message by which the new key takes the place of the old.
func (n *Node) tellRotation(ctx context.Context, old, next *homes.Key, overlap time.Duration) (written, error) {
	proof := protocol.Rotation{Host: n.cfg.Alias}
	if err := proof.Prove(n.record.ID(), old.Public, next.Pair); err != nil {
		return written{}, err
	}
	now := n.now()
	n.mu.Lock()
	drafts, err := n.state.Decide(fleet.Rotate{Host: n.cfg.Alias, Old: old.Public, Next: proof, Overlap: overlap}, now)
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
func (n *Node) afterRotation(next *homes.Key) {
	if b := n.currentBus(); b != nil {
		if err := b.Rekey(next.Pair); err != nil {
			n.notices.News(err.Error() + "; start the node anew")
		}
	}
	n.presence.Announce()
	if err := n.own.render(); err != nil {
		n.log.Warn().Err(err).Msg("cannot render this host's file")
	}
}

// rightKey takes the key that the record says is this host's, where this home has it:
// the node ended after the record had its new key and before the home did.
func (n *Node) rightKey() error {
	h, joined := n.state.Keys().Host(n.cfg.Alias)
	if !joined || h.Key == n.ownKey().Public {
		return nil
	}
	key, err := homes.KeptKey(n.home, h.Key)
	if errors.Is(err, fs.ErrNotExist) || err == nil && key.Public != h.Key {
		return nil // the name is another host's: joining says so
	}
	if err != nil {
		return err
	}
	n.signsWith.Store(key)
	n.log.Info().Str("key", key.Public).Msg("the change of this host's key is brought to its end")
	return key.MakeOwn(n.home)
}
