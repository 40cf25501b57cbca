package talk

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

type waiter struct {
	*tools
}

// Wait answers control.Wait.
func (w *waiter) Wait(ctx context.Context, by control.Caller, r control.WaitRequest) (control.Message, error) {
	if each.Count([]string{r.Re, r.From, r.To}, func(s string) bool { return s != "" }) != 1 || r.Within <= 0 {
		return control.Message{}, control.Errorf(control.KindUsage, "", "a wait needs one of re, from and to, and a time above zero")
	}
	who, err := w.Actors.Reader(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	f := w.Messages.Follow(feed.MaxMessages, nil)
	defer f.End()
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	if r.Re != "" {
		asked, err := w.views.find(r.Re)
		if err != nil {
			return control.Message{}, err
		}
		if asked.item.From == who.Name && asked.item.Host == w.Config.Alias {
			defer w.Lend(protocol.Name(who.Name))()
		}
		return w.awaitAnswer(ctx, by, who, f, asked.item.Path, r)
	}
	return w.awaitNext(ctx, by, f, r)
}

// awaitAnswer returns the first answer to the message. The answer may be there already.
func (w *waiter) awaitAnswer(ctx context.Context, by control.Caller, who fleet.Who, f *feed.Feed[protocol.Path], asked protocol.Path, r control.WaitRequest) (control.Message, error) {
	for {
		var answer *fleet.Item
		var ok bool
		w.Folded(func(s *fleet.State) { answer, ok = s.Talk.FirstAnswerFor(asked, who) })
		if ok {
			w.Actors.Gave(by, answer.Path)
			return w.views.now(answer)
		}
		select {
		case <-f.Wake():
			f.Drain()
		case <-ctx.Done():
			return control.Message{}, waited(ctx, "an answer may still come: parley show "+asked.String(), r)
		}
	}
}

// awaitNext returns the next message that comes from or to somebody.
func (w *waiter) awaitNext(ctx context.Context, by control.Caller, f *feed.Feed[protocol.Path], r control.WaitRequest) (control.Message, error) {
	wanted, err := w.waitedFor(r)
	if err != nil {
		return control.Message{}, err
	}
	for {
		paths, _ := f.Drain()
		for _, p := range paths {
			var it *fleet.Item
			var ok bool
			w.Folded(func(s *fleet.State) {
				it, ok = s.Ledger.Item(p)
				ok = ok && wanted(s, it)
			})
			if ok {
				w.Actors.Gave(by, p)
				return w.views.now(it)
			}
		}
		select {
		case <-f.Wake():
		case <-ctx.Done():
			return control.Message{}, waited(ctx, "what came before is listed by: parley log", r)
		}
	}
}

// waitedFor says which messages end a wait.
func (w *waiter) waitedFor(r control.WaitRequest) (func(*fleet.State, *fleet.Item) bool, error) {
	who, err := knownAddress(w.Folded, cmp.Or(r.From, r.To))
	if err != nil {
		return nil, err
	}
	return func(s *fleet.State, it *fleet.Item) bool {
		switch {
		case !isText(it) || s.Signature(it) == protocol.SignatureRefused:
			return false
		case r.From != "":
			return wroteAt(it, who)
		}
		return it.ToAll() || slices.ContainsFunc(it.To, func(a protocol.Address) bool {
			return a.Name == who.Name && (who.Host == "" || a.Host == "" || a.Host == who.Host)
		})
	}, nil
}

// knownAddress reads the address that a person named. It returns an error if the fleet knows nobody
// of that name. The name may be "all".
func knownAddress(read folded.State, text string) (protocol.Address, error) {
	if text == protocol.All {
		return protocol.Address{Name: protocol.All}, nil
	}
	who, err := protocol.ParseAddress(text)
	if err != nil {
		return who, control.Errorf(control.KindUsage, "", "cannot find %q: %v", text, err)
	}
	read(func(s *fleet.State) { err = s.People.Check(who.Name) })
	return who, err
}

func wroteAt(it *fleet.Item, who protocol.Address) bool {
	author := it.Author()
	return author.Name == who.Name && (who.Host == "" || it.Host.String() == who.Host || author.Host == who.Host)
}

func waited(ctx context.Context, hint string, r control.WaitRequest) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if r.Re != "" {
		return control.Errorf(control.KindTimeout, hint, "no answer within %s", span.Text(r.Within))
	}
	return control.Errorf(control.KindTimeout, hint, "no message within %s", span.Text(r.Within))
}
