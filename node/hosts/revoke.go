package hosts

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// revoker makes a key of a host count no more. The human of this host decides that.
type revoker struct {
	*Options
	own *ownHost
}

// RevokeKey answers control.RevokeKey.
func (rv *revoker) RevokeKey(ctx context.Context, r control.RevokeRequest) (control.Revocation, error) {
	c, done, err := rv.revocation(r)
	if err != nil || r.Try {
		return done, err
	}
	if err := typed(r.Phrase, control.RevokePhrase(r.Host), "revoke the key"); err != nil {
		return control.Revocation{}, err
	}
	ws, err := rv.Decider.Act(ctx, c, protocol.Path{})
	if err != nil {
		return control.Revocation{}, err
	}
	done.Path = ws[0].Message.Path
	if done.Out {
		rv.own.retire(done.Host)
	}
	return done, nil
}

// revocation returns the command that a request asks for, and what it would do.
func (rv *revoker) revocation(r control.RevokeRequest) (c fleet.Revoke, done control.Revocation, err error) {
	var after protocol.Path
	if r.After != "" {
		it, err := rv.Find(r.After)
		if err != nil {
			return c, done, err
		}
		if it.Host != r.Host {
			return c, done, control.Errorf(control.KindUsage, "name the last message of "+r.Host.String()+" that counts",
				"cannot revoke a key of %s: %s is not a message of that host", r.Host, it.Path)
		}
		after = it.Path
	}
	rv.Folded(func(s *fleet.State) { c, done, err = rv.revocationIn(s, r, after) })
	return c, done, err
}

func (rv *revoker) revocationIn(s *fleet.State, r control.RevokeRequest, after protocol.Path) (fleet.Revoke, control.Revocation, error) {
	if it, ok := s.Ledger.Item(after); ok && s.Keys().Judge(&it.File) != keys.Genuine {
		return fleet.Revoke{}, control.Revocation{}, control.Errorf(control.KindUsage, "name the last message of "+r.Host.String()+" that counts",
			"cannot revoke a key of %s: %s counts for nothing itself", r.Host, after)
	}
	of := protocol.HostKey{Host: r.Host, Key: r.Key}
	h, joined := s.Keys().Host(r.Host)
	if joined {
		of.Key = keyMeant(h, r.Key)
	}
	if err := s.MayRevoke(rv.Config.Alias, rv.Config.Human.String(), of); err != nil {
		return fleet.Revoke{}, control.Revocation{}, err
	}
	held := heldKey(h, of.Key)
	if after.IsZero() && r.Host == rv.Config.Alias {
		after = held.Ended // the host knows best that it wrote nothing else with that key by then
	}
	ends, later := s.Chains.Ends(of, after)
	if at := held.Revoked; !at.IsZero() && later == 0 {
		return fleet.Revoke{}, control.Revocation{}, control.Errorf(control.KindConflict,
			"to let less of it count, name the last message that does: parley fleet revoke "+r.Host.String()+" --after PATH",
			"cannot revoke the key %s of %s: it has been since %s", of.Key, of.Host, span.At(at))
	}
	if room := rv.Config.MessageLimit / revokedEnd; len(ends) > room {
		return fleet.Revoke{}, control.Revocation{}, control.Errorf(control.KindConflict,
			"name the last message that the host wrote itself: parley fleet revoke "+r.Host.String()+" --after PATH",
			"cannot revoke the key %s of %s: what it signed ends in %d places, and one message can name %d", of.Key, of.Host, len(ends), room)
	}
	forks := 0
	if after.IsZero() {
		forks = s.Chains.Forks(of)
	}
	return fleet.Revoke{By: rv.Config.Alias, Human: rv.Config.Human.String(), Of: of, Last: ends},
		control.Revocation{Host: of.Host, Key: of.Key, Human: rv.Config.Human, Runs: runs(ends), Forks: forks,
			Later: later, Out: of.Key == h.Key, Here: of.Host == rv.Config.Alias}, nil
}

// revokedEnd is how many bytes an end takes in the message at most, with its share of everything
// else in the message.
const revokedEnd = 112

func runs(ends []protocol.RunEnd) int {
	return len(slices.CompactFunc(slices.Clone(ends), func(a, b protocol.RunEnd) bool { return a.Run == b.Run }))
}

// heldKey returns what is known of a key of a host; zero if the key is not the host's.
func heldKey(h *keys.Host, key string) keys.HeldKey {
	for _, k := range h.Keys() {
		if k.Key == key {
			return k
		}
	}
	return keys.HeldKey{}
}

// keyMeant returns the key of a host that a person names. That is the host's last key if nothing is
// given, or the key with the given fingerprint, or else what was given.
func keyMeant(h *keys.Host, given string) string {
	if given == "" {
		return h.Key
	}
	for _, k := range h.Keys() {
		if print, err := protocol.Fingerprint(k.Key); err == nil && print == given {
			return k.Key
		}
	}
	return given
}

// OutOfFleet returns the reason why a host has to leave the fleet; nil if there is none.
func OutOfFleet(s *fleet.State, host protocol.Name) *control.Error {
	h, joined := s.Keys().Host(host)
	if !joined || !h.Out() {
		return nil
	}
	return control.Errorf(control.KindRefused, "to come back, join with a new home under another name: parley --home DIR join URL --alias NAME",
		"this host is out of the fleet: %s", h.WhyOut())
}
