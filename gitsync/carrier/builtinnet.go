package carrier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// service is what we want of a remote.
type service bool

const (
	toFetch service = false
	toPush  service = true
)

// netSide is a shared repository behind ssh, http or git's own protocol.
type netSide struct {
	store   *objects.Store
	session transport.Session // nil after a call was given up: that call closes it
	adverts *packp.AdvRefs    // nil for an empty repository, when we fetch
}

func dialSide(ctx context.Context, remote string, why service, store *objects.Store) (remoteSide, error) {
	endpoint, err := transport.NewEndpoint(remote)
	if err != nil {
		return nil, err
	}
	speaker, auth, err := dialect(endpoint)
	if err != nil {
		return nil, err
	}
	n := &netSide{store: store}
	var session transport.Session
	err = n.call(ctx, func() (closer io.Closer, err error) {
		if why == toPush {
			session, err = speaker.NewReceivePackSession(endpoint, auth)
		} else {
			session, err = speaker.NewUploadPackSession(endpoint, auth)
		}
		return session, err
	})
	if err != nil {
		return nil, explained(err)
	}
	n.session = session
	if err := n.listen(ctx); err != nil {
		n.close()
		return nil, explained(err)
	}
	return n, nil
}

func (n *netSide) listen(ctx context.Context) error {
	session := n.session
	var adverts *packp.AdvRefs
	err := n.call(ctx, func() (_ io.Closer, err error) {
		adverts, err = session.AdvertisedReferencesContext(ctx)
		return session, err
	})
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil
	}
	if err == nil {
		n.adverts = adverts
	}
	return err
}

// call runs `what`, which waits for the remote. go-git connects and sends without watching ctx. So
// if ctx ends first, the call is left alone with its connection. It ends when the remote answers or
// the connection breaks, which TCP's keep-alive ensures. Then it closes what it has opened.
func (n *netSide) call(ctx context.Context, what func() (io.Closer, error)) error {
	type outcome struct {
		open io.Closer
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		open, err := what()
		done <- outcome{open, err}
	}()
	select {
	case out := <-done:
		return out.err
	case <-ctx.Done():
	}
	dialled := n.session != nil
	n.session = nil
	go func() {
		if out := <-done; dialled || out.err == nil {
			_ = out.open.Close()
		}
	}()
	return context.Cause(ctx)
}

func (n *netSide) close() {
	if n.session != nil {
		_ = n.session.Close() // everything to be sent was acknowledged or has failed
	}
}

func (n *netSide) branches() map[string]objects.Hash {
	all := map[string]objects.Hash{}
	if n.adverts == nil {
		return all
	}
	for ref, h := range n.adverts.References {
		if name, ok := strings.CutPrefix(ref, headsPrefix); ok {
			all[name] = h
		}
	}
	return all
}

func (n *netSide) ref(name string) (objects.Hash, error) {
	if n.adverts == nil {
		return objects.Zero, nil
	}
	return n.adverts.References[name], nil
}

func (n *netSide) head() string {
	if n.adverts == nil {
		return MainRef
	}
	for _, pair := range n.adverts.Capabilities.Get(capability.SymRef) {
		if ref, ok := strings.CutPrefix(pair, "HEAD:"); ok {
			return ref
		}
	}
	return ""
}

func (n *netSide) fetch(ctx context.Context, tip, have objects.Hash) error {
	request := packp.NewUploadPackRequestFromCapabilities(n.adverts.Capabilities)
	request.Wants = append(request.Wants, tip)
	if have != objects.Zero {
		request.Haves = append(request.Haves, have)
	}
	session := n.session.(transport.UploadPackSession)
	var answer *packp.UploadPackResponse
	err := n.call(ctx, func() (_ io.Closer, err error) {
		answer, err = session.UploadPack(ctx, request)
		return session, err
	})
	if err != nil {
		return explained(err)
	}
	defer answer.Close()
	var pack io.Reader = answer
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, answer)
	}
	if err := n.store.InstallPack(pack); err != nil {
		return err
	}
	// The remote says that the pack is enough. That is checked, because main may only name what can
	// be read.
	err = n.store.Missing(tip, have, func(*objects.Builder) error { return context.Cause(ctx) })
	switch {
	case err != nil && len(n.adverts.Shallows) > 0:
		return errShallow
	case err != nil:
		return fmt.Errorf("what was fetched is not whole: %w", err)
	}
	return nil
}

func (n *netSide) push(ctx context.Context, ref string, old, next objects.Hash) error {
	request := packp.NewReferenceUpdateRequestFromCapabilities(n.adverts.Capabilities)
	request.Commands = []*packp.Command{{Name: plumbing.ReferenceName(ref), Old: old, New: next}}
	shut := func() error { return nil }
	if next != objects.Zero {
		pack, err := n.store.MissingPack(next, old, func() error { return context.Cause(ctx) })
		if err != nil {
			return err
		}
		request.Packfile, shut = pack, pack.Close
	} else if err := request.Capabilities.Set(capability.DeleteRefs); err != nil {
		return err
	}
	said := &limited{room: maxSaid}
	for _, kind := range []capability.Capability{capability.Sideband64k, capability.Sideband} {
		if n.adverts.Capabilities.Supports(kind) {
			if err := request.Capabilities.Set(kind); err != nil {
				return errors.Join(err, shut())
			}
			request.Progress = said
			break
		}
	}
	session := n.session.(transport.ReceivePackSession)
	var report *packp.ReportStatus
	err := n.call(ctx, func() (_ io.Closer, err error) {
		defer func() { _ = shut() }() // closing changes nothing about what was sent
		report, err = session.ReceivePack(ctx, request)
		return session, err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if report == nil && err != nil {
		return explained(err)
	}
	if report != nil {
		for _, status := range report.CommandStatuses {
			switch {
			case lostRace(status.Status):
				return ErrRejected
			case status.Error() != nil:
				return errors.New(refusal(status.Status, said.String()))
			case err == nil && status.ReferenceName.String() == ref:
				return nil
			}
		}
	}
	if err != nil {
		return err
	}
	return errUnsaid
}

// lostRace reports whether a push was refused only because another one came first, and not because
// it will never be let in.
func lostRace(status string) bool {
	return hasAny(status, "non-fast-forward", "fetch first", "failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value",
		"reference already exists", "stale info")
}
