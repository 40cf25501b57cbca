package gitsync

import "context"

// stopping is the reason why a fetch or push was cut short that nobody has cancelled: the record is
// stopping. It is no trouble with the remote.
type stopping struct{}

func (stopping) Error() string        { return "the node stops" }
func (stopping) Is(target error) bool { return target == context.Canceled }

// online says how long the remote may be used: until ctx ends, or end is called. A call that waits
// for a remote that does not answer, or for another call that does so, must not keep the node from
// stopping.
type online struct {
	ctx context.Context
	end func()
}

func newOnline(ctx context.Context) online {
	ctx, cancel := context.WithCancelCause(ctx)
	return online{ctx, func() { cancel(stopping{}) }}
}

// during is `ctx`, except that it ends as soon as the remote may no longer be used. The caller must
// call `done`.
func (o online) during(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(o.ctx, func() { cancel(context.Cause(o.ctx)) })
	return ctx, func() {
		forget()
		cancel(nil)
	}
}
