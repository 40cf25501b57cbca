package node

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// asError gives an error the kind by which its reader decides.
func asError(err error) error {
	var refusal *fleet.Refusal
	var known *control.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &refusal):
		kinds := map[fleet.RefusalKind]control.Kind{
			fleet.Forbidden: control.KindRefused, fleet.Unknown: control.KindNotFound, fleet.Senseless: control.KindUsage}
		return control.Errorf(kinds[refusal.Kind], refusal.Hint, "%s", refusal.Reason)
	case errors.Is(err, ErrDraining):
		return control.Errorf(control.KindUnavailable, "start it again: parley up", "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindTimeout, "", "nothing came in time")
	}
	e := *control.AsError(err)
	if e.Hint == "" {
		e.Hint = diskHint(err)
	}
	return &e
}

// diskHint is what to try where the disk of the home is the trouble.
func diskHint(err error) string {
	const goesOn = "; what was stored is kept, and the node goes on by itself"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on the disk that holds the home (df shows it)" + goesOn
	case errors.Is(err, syscall.EROFS):
		return "the disk that holds the home is mounted read-only: see dmesg for why, then mount it for writing again" + goesOn
	case errors.Is(err, syscall.EIO):
		return "the disk that holds the home fails: see dmesg, and make a backup now; what was stored before is kept"
	}
	return ""
}

// Send answers control.Send.
func (n *Node) Send(ctx context.Context, by control.Caller, r control.SendRequest) (control.Message, error) {
	who, err := n.actor(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	c, about, err := n.toSay(who, r)
	if err != nil {
		return control.Message{}, err
	}
	if r.Request != "" {
		defer n.requests.lock(r.Request)()
		if m, ok, err := n.sentBefore(c, r); ok || err != nil {
			return m, err
		}
		c = fleet.Requested{Command: c, ID: r.Request}
	}
	ws, err := n.act(ctx, called(by, c), about)
	if err != nil {
		return control.Message{}, asError(err)
	}
	n.awaitHeard(ctx, ws[0].message, r.HeardWithin)
	return n.views.now(ws[0].item)
}

// sentBefore is the message that an earlier request with the same id led to.
func (n *Node) sentBefore(c fleet.Command, r control.SendRequest) (m control.Message, ok bool, err error) {
	n.mu.Lock()
	it, ok := n.state.Requested(n.cfg.Alias, r.Request, n.now())
	n.mu.Unlock()
	if !ok {
		return m, false, nil
	}
	if m, err = n.views.now(it); err != nil {
		return m, false, err
	}
	if !fleet.Repeats(c, it) || m.Body != protocol.NormalBody(r.Body) {
		return m, false, control.Errorf(control.KindRefused, "give each message its own --request",
			"the request %s was another message, %s", r.Request, m.Path)
	}
	return m, true, nil
}

// toSay is the command that a request to send asks for, and the message that it
// is about.
func (n *Node) toSay(who fleet.Who, r control.SendRequest) (c fleet.Command, about protocol.Path, err error) {
	if r.Re != "" {
		asked, err := n.views.find(r.Re)
		if err != nil {
			return nil, about, err
		}
		about = asked.item.Path
	}
	byAgent := who.Name != n.cfg.Human.String()
	if r.Re != "" && len(r.To) == 0 && r.Channel == "" {
		return fleet.Answer{As: who, To: about, Body: r.Body, Act: r.Act, ByAgent: byAgent}, about, nil
	}
	say := fleet.Say{As: who, To: r.To, Act: r.Act, Body: r.Body, Cross: r.Cross, Re: about, ByAgent: byAgent, Anyway: r.Anyway}
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Channel != "" {
		if say.Channel, err = n.state.Channels.Find(r.Channel); err != nil {
			return nil, about, asError(err)
		}
	}
	if r.Re != "" && len(r.To) == 0 {
		if it, ok := n.state.Ledger.Item(about); ok {
			say.To = []string{n.state.Talk.AuthorOf(it, n.cfg.Alias).String()}
		}
	}
	return say, about, nil
}

// awaitHeard waits until the hosts that the message is for have heard it, as
// far as they are live, or the time is up.
func (n *Node) awaitHeard(ctx context.Context, m *protocol.Message, within time.Duration) {
	if within <= 0 {
		return
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		change := n.live.Next()
		if !n.anyMissing(m) {
			return
		}
		select {
		case <-change:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// anyMissing reports whether a live host that the message is for has not heard
// it yet.
func (n *Node) anyMissing(m *protocol.Message) bool {
	heard := n.live.Hearers(m.Path)
	for _, host := range n.targets(m) {
		if _, live := n.live.PresenceOf(host); live && !slices.Contains(heard, host) {
			return true
		}
	}
	return false
}

// targets are the other hosts that a message is for: those chosen or named;
// every host where it is to all or to a name without an instance.
func (n *Node) targets(m *protocol.Message) []protocol.Name {
	var hosts []protocol.Name
	add := func(h protocol.Name) {
		if h != n.cfg.Alias && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	for _, a := range m.To {
		if c, ok := m.ChosenFor(a.Name); ok {
			add(c.Host)
		} else if a.Host != "" {
			add(protocol.Name(a.Host))
		} else {
			n.mu.Lock()
			for _, h := range n.state.Keys().Hosts() {
				add(h.Alias)
			}
			n.mu.Unlock()
		}
	}
	return hosts
}

// Inbox answers control.Inbox.
func (n *Node) Inbox(_ context.Context, by control.Caller, r control.InboxRequest) ([]control.Message, error) {
	who, err := n.reader(by, r.As)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	var box []*fleet.Item
	for it := range n.state.Talk.Inbox(who, r.All) {
		if box = append(box, it); len(box) == r.Limit {
			break
		}
	}
	all := factsOfAll(n.state, box)
	n.mu.Unlock()
	if len(box) > 0 && !r.All {
		n.gave(by, box[len(box)-1].Path)
	}
	return n.views.all(all), nil
}

// Read answers control.Read.
func (n *Node) Read(ctx context.Context, by control.Caller, r control.ReadRequest) (control.Message, error) {
	f, err := n.views.find(r.Path)
	if err != nil {
		return control.Message{}, err
	}
	who, err := n.reader(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	if _, err := n.act(ctx, called(by, fleet.Acknowledge{As: who, Of: f.item.Path}), f.item.Path); err != nil {
		return control.Message{}, asError(err)
	}
	n.gave(by, f.item.Path)
	return n.views.now(f.item)
}

// Stop answers control.Stop.
func (n *Node) Stop(context.Context) (control.None, error) {
	n.stop()
	return control.None{}, nil
}
