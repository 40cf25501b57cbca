package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// maxOverlap is the longest time for which two keys of a host may both count.
const maxOverlap = 366 * 24 * time.Hour

// rotator gives this host another key for its signatures.
type rotator struct {
	*Options
	own *ownHost

	changing sync.Mutex // held while the key changes
}

// RotateKey answers control.RotateKey. Both seeds are on the disk before the fleet is told. The
// node may end after that, before the home says which of them to sign with. Then the next start
// takes the key that the record says (finish).
func (ro *rotator) RotateKey(ctx context.Context, r control.RotateRequest) (control.Rotation, error) {
	if r.Overlap < 0 || r.Overlap > maxOverlap {
		return control.Rotation{}, control.Errorf(control.KindUsage, "", "cannot change the key: the overlap is to be from 0 to %s, not %s", span.Text(maxOverlap), span.Text(r.Overlap))
	}
	if r.Try {
		return control.Rotation{Host: ro.Config.Alias, Old: ro.SignsWith.Load().Public}, nil
	}
	if err := typed(r.Phrase, control.RotatePhrase(ro.Config.Alias), "change the key"); err != nil {
		return control.Rotation{}, err
	}
	ro.changing.Lock()
	defer ro.changing.Unlock()
	old := ro.SignsWith.Load()
	next, err := homes.NewKey()
	if err != nil {
		return control.Rotation{}, writing.AsError(fmt.Errorf("cannot make a new key: %w", err))
	}
	for _, key := range []*homes.Key{old, next} {
		if err := key.Keep(ro.Home); err != nil {
			return control.Rotation{}, writing.AsError(err)
		}
	}
	failpoint.Hit(failpoint.SeedsKept)
	said, err := ro.tell(ctx, old, next, r.Overlap)
	if err != nil {
		return control.Rotation{}, writing.AsError(err)
	}
	failpoint.Hit(failpoint.KeyRotated)
	if err := next.MakeOwn(ro.Home); err != nil { // the next start finishes it
		ro.Notices.News("the new key is kept in " + homes.SeedFile(ro.Home, next.Public) + ", but not as host.nk: " + err.Error())
	}
	ro.show(next)
	print, err := protocol.Fingerprint(next.Public)
	if err != nil {
		return control.Rotation{}, writing.AsError(err)
	}
	return control.Rotation{
		Host: ro.Config.Alias, Old: old.Public, Key: next.Public, Fingerprint: print, Until: ro.countsUntil(old.Public), Path: said.Message.Path,
	}, nil
}

func (ro *rotator) countsUntil(key string) (until time.Time) {
	ro.Folded(func(s *fleet.State) {
		if h, joined := s.Keys().Host(ro.Config.Alias); joined {
			until = heldKey(h, key).Until
		}
	})
	return until
}

func (ro *rotator) tell(ctx context.Context, old, next *homes.Key, overlap time.Duration) (writing.Written, error) {
	proof := protocol.Rotation{Host: ro.Config.Alias}
	if err := proof.Prove(ro.Record.ID(), old.Public, next.Pair); err != nil {
		return writing.Written{}, err
	}
	var drafts []fleet.Draft
	var err error
	ro.Folded(func(s *fleet.State) {
		last := s.Chains.Heads(protocol.HostKey{Host: ro.Config.Alias, Key: old.Public})
		if room := ro.Config.MessageLimit / revokedEnd; len(last) > room {
			err = control.Errorf(control.KindConflict, "somebody else uses the key: parley fleet revoke "+ro.Config.Alias.String(),
				"what the old key signed ends in %d places, and one message can name %d", len(last), room)
			return
		}
		drafts, err = s.Decide(fleet.Rotate{Host: ro.Config.Alias, Old: old.Public, Next: proof, Overlap: overlap, Last: last}, ro.Now())
	})
	if err != nil {
		return writing.Written{}, err
	}
	ws, err := ro.Writer.Rotate(ctx, drafts[0], next)
	if err != nil {
		return writing.Written{}, err
	}
	return ws[0], nil
}

// show makes the bus and the host's file show the new key.
func (ro *rotator) show(next *homes.Key) {
	if b := ro.Bus(); b != nil {
		if err := b.Rekey(next.Pair); err != nil {
			ro.Notices.News(err.Error() + "; start the node anew")
		}
	}
	ro.Announce()
	if err := ro.own.Render(); err != nil {
		ro.Log.Warn().Err(err).Msg("cannot render this host's file")
	}
}

// Finish takes the key of this host that the record names, if this home has it. In that case, the
// node ended after the record had its new key and before the home had it.
func (ro *rotator) Finish() error {
	var h *keys.Host
	joined := false
	ro.Folded(func(s *fleet.State) { h, joined = s.Keys().Host(ro.Config.Alias) })
	if !joined || h.Key == ro.SignsWith.Load().Public {
		return nil
	}
	key, err := homes.KeptKey(ro.Home, h.Key)
	if errors.Is(err, fs.ErrNotExist) || err == nil && key.Public != h.Key {
		return nil // the name belongs to another host: joining says so
	}
	if err != nil {
		return err
	}
	ro.SignsWith.Store(key)
	ro.Log.Info().Str("key", key.Public).Msg("the change of this host's key is brought to its end")
	return key.MakeOwn(ro.Home)
}

// Former are the keys that this host has had before, the newest first, as far as the home has them.
func (r *rotator) Former() (all []nkeys.KeyPair) {
	var held []keys.HeldKey
	r.Folded(func(s *fleet.State) {
		if h, joined := s.Keys().Host(r.Config.Alias); joined {
			held = slices.Clone(h.Keys())
		}
	})
	for _, k := range slices.Backward(held) {
		if k.Key == r.SignsWith.Load().Public {
			continue
		}
		if old, err := homes.KeptKey(r.Home, k.Key); err == nil {
			all = append(all, old.Pair)
		}
	}
	return all
}
