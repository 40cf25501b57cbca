package node

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// RemoteOptions say through which repository the record of a home is to be shared.
// Home, Version and Remote are required.
type RemoteOptions struct {
	Home     configs.Home
	Version  string
	Remote   string // a URL or an absolute path
	Log      zerolog.Logger
	Now      func() time.Time      // nil: time.Now
	Progress func(done, total int) // as in Options
}

// RemoteResult is what SetRemote found and did.
type RemoteResult struct {
	Config  configs.Config // as it is now
	Before  string         // the remote until now; "" for none
	Empty   bool           // the repository held nothing
	Running bool           // a node runs on the home: it goes on with what it was started with
	Shared  int            // messages and receipts that are on the remote now; 0 where a node runs
	Notes   []string       // what the operator should know or do
}

// SetRemote has a home share its record through a repository: an empty one, or one that
// holds the same record. It is looked at first; then, where no node runs on the home, what
// either side lacks is carried over, and last config.yaml names it. An error leaves
// config.yaml as it is. What was on another remote counts as pushed to the new one only
// once that has it.
func SetRemote(ctx context.Context, o RemoteOptions) (RemoteResult, error) {
	if err := gitremote.Check(o.Remote); err != nil {
		return RemoteResult{}, cannotSet("", control.Errorf(control.KindUsage, "", "%v", err))
	}
	cfg, err := configs.Load(o.Home.Config())
	if err != nil {
		return RemoteResult{}, cannotSet("", err)
	}
	r := RemoteResult{Before: cfg.Remote}
	if cfg.Remote = o.Remote; o.Remote == "" {
		return r, cannotSet(`to share it no more write  remote: ""  into config.yaml, then: parley stop && parley up -d`, errors.New("none is named"))
	}
	r.Config = cfg
	n, err := Open(ctx, Options{Home: o.Home, Version: o.Version, Log: o.Log, Now: o.Now, Progress: o.Progress, remote: &o.Remote})
	switch {
	case errors.Is(err, homes.ErrLocked):
		r.Running = true
	case err != nil:
		return r, cannotSet("", err)
	default:
		defer n.Close()
	}
	id, err := gitsync.IDOf(o.Home.Dir)
	if err != nil {
		return r, cannotSet("", err)
	}
	found, err := gitsync.Inspect(ctx, gitsync.Options{Dir: o.Home.Dir, Remote: o.Remote, Author: homes.Author(cfg), Log: o.Log, Now: o.Now}, id)
	if err != nil {
		return r, refusedRemote(ctx, err)
	}
	r.Empty, r.Notes = found.Empty, found.Notes
	if n != nil {
		if err := n.carryOver(ctx); err != nil {
			return r, refusedRemote(ctx, err)
		}
		_, r.Shared = n.freezer.Sizes()
	}
	if err := configs.SetRemote(o.Home.Config(), o.Remote); err != nil {
		return r, cannotSet("", err)
	}
	return r, nil
}

// carryOver brings what the remote has and this host lacks, and the other way round.
func (n *Node) carryOver(ctx context.Context) error {
	if err := n.record.Sync(ctx); err != nil {
		return err
	}
	return n.twins.Out() // there another host may have joined under the same name
}

// cannotSet is why config.yaml names no other remote.
func cannotSet(hint string, err error) error {
	why := control.AsError(asError(err))
	if hint == "" {
		hint = why.Hint
	}
	return control.Errorf(why.Kind, hint, "cannot set the remote: %s", why.Message)
}

// refusedRemote is the same where the repository, or the way to it, is the reason.
func refusedRemote(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil: // git says so too, but as if the URL were to blame
		return cannotSet("", errors.New("interrupted"))
	case errors.Is(err, gitsync.ErrForeign):
		return cannotSet("name an empty repository, or one that holds this record; a home for another fleet is made with: parley --home DIR join URL", err)
	case errors.Is(err, gitsync.ErrUnfit): // it says itself what to do
	case errors.Is(err, gitsync.ErrRemote):
		return cannotSet("check the URL, and that this machine may push to it, with: git ls-remote URL", err)
	}
	return cannotSet("", err)
}
