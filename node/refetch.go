package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
)

// openOrFetch opens the record. Where record.git is gone and there is a remote,
// the record is fetched anew; what only this host had is in the journal still,
// and goes in again.
func (n *Node) openOrFetch(ctx context.Context, o gitsync.Options) (*gitsync.Record, error) {
	record, err := gitsync.Open(ctx, o)
	if !errors.Is(err, gitsync.ErrNoRecord) {
		return record, err
	}
	if n.cfg.Remote == "" {
		return nil, control.Errorf(control.KindNotFound, "bring record.git back from a backup", "cannot open the record: record.git is not in %s", n.home.Dir)
	}
	n.log.Warn().Str("remote", n.cfg.Remote).Msg("record.git is gone: fetching the record anew")
	if err := n.fetchRecord(ctx, o); err != nil {
		return nil, err
	}
	return gitsync.Open(ctx, o)
}

// fetchRecord makes record.git from what the remote holds, if that is the record
// of this fleet in which this host has its key.
func (n *Node) fetchRecord(ctx context.Context, o gitsync.Options) error {
	cfg := n.cfg
	from := InitOptions{Home: n.home, Remote: cfg.Remote, Fleet: cfg.Fleet.String()}
	o.Check = func(read func(string) ([]byte, bool, error)) error { return from.adopt(&cfg, n.publicKey, read) }
	_, err := gitsync.Init(ctx, o, nil)
	if errors.Is(err, gitsync.ErrNoRecord) {
		return control.Errorf(control.KindNotFound, "bring record.git back from a backup",
			"cannot open the record: record.git is not in %s, and the repository %s is empty", n.home.Dir, cfg.Remote)
	}
	if err != nil {
		return fmt.Errorf("cannot fetch the record anew: %w", err)
	}
	return nil
}
