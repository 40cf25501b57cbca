package gitsync

import "context"

// stopping is why a fetch or push was cut short that nobody has cancelled: the
// record stops. It is no trouble with the remote.
type stopping struct{}

func (stopping) Error() string        { return "the node stops" }
func (stopping) Is(target error) bool { return target == context.Canceled }

// goOnline lets the remote be spoken to until ctx ends or hangUp is called. Whoever
// waits for a remote that does not answer, or for the one who does, must not keep the
// node from stopping.
func (r *Record) goOnline(ctx context.Context) {
	online, cancel := context.WithCancelCause(ctx)
	r.online, r.hangUp = online, func() { cancel(stopping{}) }
}

// whileOnline is ctx, which now ends as soon as the remote may not be spoken to any
// more. done must be called.
func (r *Record) whileOnline(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(r.online, func() { cancel(context.Cause(r.online)) })
	return ctx, func() {
		forget()
		cancel(nil)
	}
}
