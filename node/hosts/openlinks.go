package hosts

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// linkOpener has a host that runs take links.
type linkOpener struct {
	*Options
	own *ownHost

	kept atomic.Pointer[configs.Config] // what config.yaml said when Open had written into it; nil before
	mu   sync.Mutex                     // held while a port is opened, so that there is one
}

// Open answers control.OpenLinks. If links are taken already, it only says where, and refuses another
// address. The port that is bound is written into config.yaml, so that a port which the system has
// chosen stays the same.
func (l *linkOpener) Open(ctx context.Context, r control.OpenLinksRequest) (control.OpenedLinks, error) {
	if _, _, err := protocol.SplitHostPort(r.Address); err != nil {
		return control.OpenedLinks{}, control.Errorf(control.KindUsage, "parley fleet listen 192.0.2.7:4222", "cannot take links of other hosts: %v", err)
	}
	b := l.Bus()
	if b == nil {
		return control.OpenedLinks{}, writing.AsError(writing.ErrDraining)
	}
	if l.NatsBus.Load() != nil {
		return control.OpenedLinks{}, control.Errorf(control.KindRefused, "see bus.url in "+l.Home.Config(), "cannot take links of other hosts: an existing NATS system joins them")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := b.Addresses(); at.Links != "" {
		if at.Links == r.Address && (len(r.Advertise) == 0 || slices.Equal(at.Advertised, r.Advertise)) {
			return control.OpenedLinks{Address: at.Links, Advertised: at.Advertised}, nil
		}
		return control.OpenedLinks{}, control.Errorf(control.KindConflict, "change it in "+l.Home.Config()+", then: parley restart",
			"cannot take links at %s: this host takes them at %s already", r.Address, at.Links)
	}
	if err := b.OpenLinks(ctx, r.Address, r.Advertise); err != nil {
		return control.OpenedLinks{}, control.Errorf(control.KindFailed, homes.ListenHint(err, "parley fleet listen "), "%v", err)
	}
	at := b.Addresses()
	done := control.OpenedLinks{Address: at.Links, Advertised: at.Advertised}
	if err := l.keep(at.Links, r.Advertise); err != nil {
		return done, control.Errorf(control.KindFailed, "", "links are taken at %s until this node ends, and not after that: %v", at.Links, err)
	}
	if err := l.own.Publish(ctx); err != nil {
		return done, writing.AsError(err)
	}
	l.Log.Info().Str("address", at.Links).Msg("links of other hosts are taken")
	return done, nil
}

// keep has the next start take links there too.
func (l *linkOpener) keep(address string, advertise []string) error {
	file := l.Home.Config()
	c, err := configs.Load(file)
	if err == nil && (c.Bus.LinksAddress() != address || !slices.Equal(c.Bus.Advertise, advertise)) {
		if err = configs.SetLinks(file, address, advertise); err == nil {
			c, err = configs.Load(file)
		}
	}
	if err == nil {
		l.kept.Store(&c)
	}
	return err
}

// Kept puts into the configuration of a start what Open has done since.
func (l *linkOpener) Kept(c *configs.Config) {
	if kept := l.kept.Load(); kept != nil {
		c.Bus.Links, c.Bus.Advertise = kept.Bus.Links, kept.Bus.Advertise
	}
}
