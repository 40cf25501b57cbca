package gitsync

import "context"

// stopping is why a fetch or push was cut short that nobody has cancelled: the
// record stops. It is no trouble with the remote.
type stopping struct{}

func (stopping) Error() string        { return "the node stops" }
func (stopping) Is(target error) bool { return target == context.Canceled }

// online says how long the remote may be spoken to: until ctx ends, or end is called.
// Whoever waits for a remote that does not answer, or for the one who does, must not
// keep the node from stopping.
type online struct {
	ctx context.Context
	end func()
}

func newOnline(ctx context.Context) online {
	ctx, cancel := context.WithCancelCause(ctx)
	return online{ctx, func() { cancel(stopping{}) }}
}

// during is ctx, which now ends as soon as the remote may not be spoken to any more.
// done must be called.
func (o online) during(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(o.ctx, func() { cancel(context.Cause(o.ctx)) })
	return ctx, func() {
		forget()
		cancel(nil)
	}
}
