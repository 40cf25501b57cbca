package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Init makes a home, and has its host join the fleet. If it fails, nothing is left behind, with one
// exception: the remote may have taken the message by which the host joins. Then the home stays,
// because nobody else could ever speak for the host.
func Init(ctx context.Context, o homes.Options) (homes.Result, error) {
	return homes.Make(ctx, o, join)
}

// join writes the message by which the host enters the fleet, commits it and
// pushes it, and notes who else is there.
func join(ctx context.Context, o homes.Options, result *homes.Result) error {
	n, err := Open(ctx, Options{Home: o.Home, Version: o.Version, Log: o.Log, Now: o.Now})
	if err != nil {
		return err
	}
	defer n.Close()
	if err := n.stampAgents(); err != nil {
		return err
	}
	if err := n.hosts.Own.Publish(ctx); err != nil {
		return writing.AsError(err)
	}
	failpoint.Hit(failpoint.JoinStored)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := n.record.Sync(ctx); err != nil {
		if err = n.unsure(ctx, err); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.JoinPushed)
	result.Reached, result.Hosts = n.hosts.Hubs.Addresses(), n.others()
	result.Notes = append(result.Notes, n.hosts.Hubs.Unknown()...)
	n.freezer.FreezeLong() // so that the first start need not read everything again
	return n.twins.Out()   // another host may have just joined with the same name
}

func (n *Node) others() []homes.Found {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []homes.Found
	for _, h := range n.state.Keys().Hosts() {
		fingerprint, err := protocol.Fingerprint(h.Key) // what is no key was never accepted as one
		if h.Alias != n.cfg.Alias && !h.Out() && err == nil {
			all = append(all, homes.Found{Alias: h.Alias, Fingerprint: fingerprint, Founder: h.Founder(), Addresses: h.Addresses})
		}
	}
	return all
}

// stampAgents notes since when the prepared agents are served. What the record already has at that
// time is old for them (R8), unless their files say otherwise.
func (n *Node) stampAgents() error {
	agents := slices.Clone(n.roster.All())
	for i := range agents {
		a := &agents[i]
		if !a.Added.IsZero() {
			continue
		}
		a.Added, a.DispatchSince = n.now(), n.record.Tip()
		if err := configs.WriteAgent(n.home.Agents(), *a); err != nil {
			return writing.AsError(err)
		}
	}
	n.roster.Set(agents)
	return nil
}

// unsure is the error of a push. It is an UnsureError if the push was cut short and not refused,
// and nil if only its answer was lost.
func (n *Node) unsure(ctx context.Context, err error) error {
	if n.cfg.Remote == "" {
		return err
	}
	if ctx.Err() != nil { // git says so too, but as if the remote were to blame
		return &homes.UnsureError{Push: errors.New("the push was cut short")}
	}
	trouble := n.record.Status().Trouble
	if !trouble.Pushing {
		return err // nothing could even be fetched from it
	}
	askErr := n.record.Fetch(ctx)
	if askErr == nil && n.record.Status().Unpushed == 0 {
		return nil
	}
	if askErr != nil || trouble.Kind.IsUnsure() {
		return &homes.UnsureError{Push: err}
	}
	return err
}
