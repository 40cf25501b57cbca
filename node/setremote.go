package node

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
)

// RemoteOptions say through which repository the record of a home is to be shared. Home, Version
// and Remote are required.
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
	Before  string         // the remote until now; "" if there was none
	Empty   bool           // the repository held nothing
	Running bool           // a node runs on the home: it goes on with the settings with which it was started
	Shared  int            // messages and receipts that are on the remote now; 0 if a node runs
	Notes   []string       // what the operator should know or do
}

// SetRemote has a home share its record through a repository, which has to be empty or to hold the
// same record. First it looks at the repository. Then, if no node runs on the home, it carries over
// what either side lacks. At last it writes the repository into config.yaml. If it returns an
// error, config.yaml is unchanged. What was pushed to another remote counts as pushed to the new
// one only when the new one has it.
func SetRemote(ctx context.Context, o RemoteOptions) (RemoteResult, error) {
	if err := gitremote.Check(o.Remote); err != nil {
		return RemoteResult{}, cannotSet("", control.Errorf(control.KindUsage, "", "%v", err))
	}
	cfg, err := homes.LoadConfig(o.Home)
	if err != nil {
		return RemoteResult{}, cannotSet("", err)
	}
	r := RemoteResult{Before: cfg.Remote}
	if cfg.Remote = o.Remote; o.Remote == "" {
		return r, cannotSet(`to share it no more write  remote: ""  into config.yaml, then: parley restart`, errors.New("none is named"))
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
	key, err := homes.HostKey(o.Home)
	if err != nil {
		return r, cannotSet("", err)
	}
	at, err := homes.RemoteOf(o.Home, cfg)
	if err != nil {
		return r, cannotSet("", err)
	}
	dial := (&carry.Dialler{Home: o.Home, Key: func() nkeys.KeyPair { return key.Pair }}).Dial
	if n != nil {
		dial = n.carrying.Dial
	}
	found, err := gitsync.Inspect(ctx, gitsync.Options{Dir: o.Home.Dir, Remote: at, Dial: dial, Author: homes.Author(cfg), Log: o.Log, Now: o.Now}, id)
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
	failpoint.Hit(failpoint.RemoteUsed)
	if err := configs.SetRemote(o.Home.Config(), o.Remote); err != nil {
		return r, cannotSet("", err)
	}
	return r, nil
}

// carryOver fetches what the remote has and this host lacks, and pushes what the remote lacks.
func (n *Node) carryOver(ctx context.Context) error {
	if err := n.record.Sync(ctx); err != nil {
		return err
	}
	return n.twins.Out() // another host may have joined there under the same name
}

// cannotSet returns the error that says why config.yaml names no other remote.
func cannotSet(hint string, err error) error {
	why := control.AsError(writing.AsError(err))
	return control.Errorf(why.Kind, cmp.Or(hint, why.Hint), "cannot set the remote: %s", why.Message)
}

// refusedRemote is cannotSet for errors that come from the repository, or from the way to it.
func refusedRemote(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil: // git says so too, but in words that blame the URL
		return cannotSet("", errors.New("interrupted"))
	case errors.Is(err, gitsync.ErrForeign):
		return cannotSet("name an empty repository, or one that holds this record; a home for another fleet is made with: parley --home DIR join URL", err)
	case errors.Is(err, gitsync.ErrUnfit): // the error itself says what to do
	case errors.Is(err, gitsync.ErrRemote):
		return cannotSet("check the URL, and that this machine may push to it, with: git ls-remote URL", err)
	}
	return cannotSet("", err)
}
