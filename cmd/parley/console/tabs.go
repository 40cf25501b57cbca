package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

const (
	mostTabs = 32                     // that are told at a time what happens
	settles  = 150 * time.Millisecond // in which what happens is told as one
	again    = time.Second            // between two tries to reach the node
	unread   = 30 * time.Second       // in which a tab takes what it is told, or is left
)

// tabs are the pages that are open and told what happens.
type tabs struct {
	mu   sync.Mutex
	open map[chan string]bool // guarded by mu
}

// ring tells all tabs that the console itself has changed.
func (t *tabs) ring() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for tab := range t.open {
		select {
		case tab <- "desk":
		default: // it is about to ask anew anyway
		}
	}
}

func (t *tabs) enter() (told chan string, leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) >= mostTabs {
		return nil, nil, false
	}
	if t.open == nil {
		t.open = map[chan string]bool{}
	}
	told = make(chan string, 64)
	t.open[told] = true
	return told, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, told)
	}, true
}

// live tells a tab by server-sent events of which kinds things have happened. What they are it does
// not say: the tab asks for its page anew, so that a page has one form.
func (c *console) live(w http.ResponseWriter, r *http.Request) {
	told, leave, ok := c.tabs.enter()
	if !ok {
		fail(w, control.Errorf(control.KindUnavailable, "close some", "too many pages are open"))
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{})
	go c.follow(r.Context(), told) // ends with the request
	for {
		var kinds []string
		select {
		case <-r.Context().Done():
			return
		case kind := <-told:
			kinds = []string{kind}
		}
		for rest := time.After(settles); rest != nil; {
			select {
			case <-r.Context().Done():
				return
			case <-rest:
				rest = nil
			case kind := <-told:
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
		}
		if c.inside(r) == nil { // it was put out meanwhile
			return
		}
		_ = out.SetWriteDeadline(time.Now().Add(unread))
		if _, err := fmt.Fprintf(w, "data: %s\n\n", strings.Join(kinds, " ")); err != nil || out.Flush() != nil {
			return
		}
	}
}

// follow puts the kinds of events of the node into a channel until `ctx` ends.
func (c *console) follow(ctx context.Context, told chan<- string) {
	for {
		_ = control.Events.Ask(ctx, c.node, control.EventsRequest{}, func(e control.Event) error { // it is tried again
			select {
			case told <- string(e.Kind):
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		select {
		case told <- "lost": // no kind of event: the node cannot be reached
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}
