package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
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
		return nil, n.noRecord("")
	}
	n.log.Warn().Str("remote", redact.Remote(n.cfg.Remote)).Msg("record.git is gone: fetching the record anew")
	o.Check = n.checkOurs
	_, err = gitsync.Init(ctx, o, nil)
	switch {
	case errors.Is(err, gitsync.ErrNoRecord):
		return nil, n.noRecord(", and the repository " + redact.Remote(n.cfg.Remote) + " is empty")
	case err != nil:
		return nil, fmt.Errorf("cannot fetch the record anew: %w", err)
	}
	return gitsync.Open(ctx, o)
}

func (n *Node) noRecord(more string) error {
	return control.Errorf(control.KindNotFound, "bring record.git back from a backup", "cannot start: record.git is not in %s%s", n.home.Dir, more)
}

// checkOurs looks at a record that is about to take the place of the one that was
// lost: this host must be in it, with its key.
func (n *Node) checkOurs(read func(string) ([]byte, bool, error)) error {
	data, ok, err := read(protocol.HostFilePath(n.cfg.Alias))
	if err != nil {
		return err
	}
	if says, err := protocol.ParseHostFile(data); !ok || err != nil || !homes.HasSeed(n.home, says.Key) {
		return fmt.Errorf("the record at %s is another one: it does not know the host %s with its key", redact.Remote(n.cfg.Remote), n.cfg.Alias)
	}
	return nil
}
