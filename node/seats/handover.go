package seats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// claimLasts is how long a message that was handed over is kept for its session. The claim ends
// earlier if the session does.
const claimLasts = 24 * time.Hour

// happened notes what a session does, and returns what its model is to be told. The caller holds
// the lock of the seat.
func (b *Book) happened(ctx context.Context, s *seat, by control.Caller, r control.SessionEventRequest) (a control.SessionAnswer, err error) {
	a.Agent = s.Name
	if r.Event == control.SessionEnded {
		return a, b.leave(s)
	}
	if err := b.prove(s, by, r.Event); err != nil {
		return a, err
	}
	if r.Event == control.SessionCompacts {
		s.shorter = true
		return a, nil
	}
	typed := r.Event == control.SessionPrompted && !b.rang(s, r.Bell) && r.Typed
	if typed || r.Event == control.SessionStopped {
		b.gave(s, protocol.Path{}) // what it writes now, no message has caused
	}
	if typed {
		if err := b.beginAnew(s); err != nil {
			return a, err
		}
	}
	if r.Takes {
		a.Text, a.Nonce, err = b.tell(ctx, s, r)
	}
	state := stateAfter(r.Event, a.Text)
	switch at, _ := b.Sessions.At(s.Name, time.Time{}); {
	case r.Event == control.SessionThere && at == control.AgentAway:
		state = control.AgentIdle // until it says more
	case r.Event == control.SessionStarted && r.Source == "compact" && at != control.AgentAway:
		state = "" // it may be in the middle of a turn
	}
	if state != "" {
		if now, held := b.session(s); held {
			b.Sessions.Say(s.Name, now, state)
			b.Announce()
		}
	}
	if r.Event == control.SessionPrompted || r.Event == control.SessionAsks || r.Event == control.SessionStarted && !b.shares(r.Program) {
		b.Look() // mail may wait since before it began; a session of Codex begins with a prompt, which takes it
	}
	return a, err
}

// gave notes why a session writes.
func (b *Book) gave(s *seat, because protocol.Path) {
	b.mu.Lock()
	s.cause = because
	b.mu.Unlock()
	b.Gave(s.Name, because)
}

// stateAfter is what a session is at after an event; "" if that does not tell.
func stateAfter(e control.SessionEventKind, text string) control.AgentState {
	switch {
	case e == control.SessionPrompted, e == control.SessionUsedTool, e == control.SessionStopped && text != "":
		return control.AgentRunning
	case e == control.SessionStarted, e == control.SessionStopped:
		return control.AgentIdle
	case e == control.SessionAsks:
		return control.AgentWaiting
	}
	return ""
}

// prove has acknowledged what was shown to the model, if an event proves that the turn went on.
// What it was handed in vain waits again. A hook that had begun before the text was printed proves
// nothing: its tool ran beside the one at whose end the text was handed over. Of a hook that nobody
// can see that is not known, so the end of a tool proves nothing there.
func (b *Book) prove(s *seat, by control.Caller, e control.SessionEventKind) error {
	if e != control.SessionUsedTool && e != control.SessionStopped && e != control.SessionPrompted {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.takeBack(s); err != nil {
		return err
	}
	var shown []handed
	for i := range s.Handed {
		h := &s.Handed[i]
		h.Shown = h.Shown || h.Given > 0 && (by.Process.Start > h.Given || by.Process.PID == 0 && e != control.SessionUsedTool)
		if h.Shown && (s.Declared || !h.ToAll) { // a receipt would tell the fleet of the name
			shown = append(shown, *h)
		}
	}
	if len(shown) > 0 && b.ctx.Err() == nil {
		b.work.Go(func() { b.acknowledge(s, shown) })
	}
	return nil
}

// takeBack has mail wait again that was handed to the session that had the seat before, and what a
// hook was given and did not print in time. The caller holds mu.
func (b *Book) takeBack(s *seat) error {
	lost := false
	for i := range s.Handed {
		if h := &s.Handed[i]; !h.At.IsZero() && !h.Shown && (h.To != s.id() || h.Given == 0 && b.Now().Sub(h.At) > printsWithin) {
			lost = true
			b.Sessions.GiveBack(s.mailbox(*h), []protocol.Path{h.Path})
			h.back(true)
		}
	}
	if !lost {
		return nil
	}
	s.wants = true
	b.sortOut(s)
	return b.save()
}

// printsWithin is how long a hook may take to print what it was given.
const printsWithin = 5 * time.Second

// acknowledge gives receipts for what the model of a session was shown. One that cannot be given
// holds up no other.
func (b *Book) acknowledge(s *seat, shown []handed) {
	shown = slices.DeleteFunc(shown, func(h handed) bool {
		as := fleet.Who{Name: s.mailbox(h), Host: b.Host}
		_, err := b.Store(b.ctx, fleet.GiveReceipt{As: as, Of: h.Path}, h.Path)
		if err != nil {
			b.Log.Warn().Err(err).Stringer("message", h.Path).Msg("cannot acknowledge what a session was shown; it is tried again")
		}
		return err != nil
	})
	for _, h := range shown {
		b.Sessions.GiveBack(s.mailbox(h), []protocol.Path{h.Path})
	}
	err := b.change(func() {
		s.Handed = slices.DeleteFunc(s.Handed, func(h handed) bool {
			return slices.ContainsFunc(shown, func(read handed) bool { return read.Path == h.Path })
		})
	})
	if err != nil {
		b.Log.Warn().Err(err).Msg("receipts are given, and that is not written down")
	}
}

// mailbox is the name to which a message was written that a session was handed.
func (s *seat) mailbox(h handed) string { return cmp.Or(h.As, s.Name).String() }

// Given answers control.SessionGiven.
func (b *Book) Given(_ context.Context, _ control.Caller, r control.SessionGivenRequest) (none control.None, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.seats {
		for i := range s.Handed {
			if h := &s.Handed[i]; r.Nonce != "" && h.Nonce == r.Nonce {
				h.Given = max(1, b.Tick()) // if the node is killed before this is written, the mail is handed over again, marked
			}
		}
	}
	return none, nil
}

// waiting is a message that waits for a session.
type waiting struct {
	prompt.ShownMessage
	named bool  // it is written to this session, and not to all
	rings bool  // it may begin a turn
	spent spent // why it may not, if it would otherwise
	lost  int   // how often it was handed to a session that has ended
}

// mail is what waits for a seat and was not handed over, in the order of the record. All mail is looked
// at only if some has come since. The caller holds the lock of the seat.
func (b *Book) mail(s *seat) (mail []waiting) {
	who := fleet.Who{Name: s.Name.String(), Host: b.Host}
	b.mu.Lock()
	before, had, begun := slices.Clone(s.Handed), slices.Clone(s.Had), []anew(nil)
	for _, seat := range b.seats {
		begun = append(begun, seat.Anew...)
	}
	b.mu.Unlock()
	b.Folded(func(state *fleet.State) {
		if mark := state.MailMark(who.Name); mark != s.mark {
			s.mark, s.unread = mark, nil
			for it := range state.Talk.Inbox(who, false) {
				s.unread = append(s.unread, it.Path)
			}
		}
		s.unread = slices.DeleteFunc(s.unread, func(p protocol.Path) bool {
			it, there := state.Ledger.Item(p)
			return !there || !state.Talk.Reaches(it, who) || state.Talk.ReadBy(it, who) || !state.Talk.Answerable(it) // as with agents that are run
		})
		for _, p := range s.unread {
			it, _ := state.Ledger.Item(p)
			w := waiting{}
			if i := slices.IndexFunc(before, func(h handed) bool { return h.Path == p }); i >= 0 {
				if w.lost = before[i].Lost; !before[i].At.IsZero() {
					continue
				}
			} else if it.ToAll() && slices.Contains(had, p) { // it has read that under another name
				continue
			}
			if _, taken := b.Sessions.Taken(who.Name, p); taken { // the session has asked for it itself
				continue
			}
			w.ShownMessage = shown(state, it)
			if w.named = !it.ToAll(); it.Rings() && len(protocol.Doubts(state.Signature(it), it.Unattended)) == 0 {
				w.spent = b.spentOn(state, it, begun)
				w.rings = w.spent.why == ""
			}
			mail = append(mail, w)
		}
	})
	return mail
}

func shown(state *fleet.State, it *fleet.Item) prompt.ShownMessage {
	return prompt.ShownMessage{Path: it.Path, From: it.From, Host: it.Host, To: it.Names(), At: it.Timestamp, Act: it.Act, Signature: state.Signature(it), Unattended: it.Unattended}
}

// owed is what a session was handed, asks for an answer and has none of it.
func (b *Book) owed(s *seat) (all []prompt.ShownMessage) {
	b.mu.Lock()
	had := slices.Clone(s.Had)
	b.mu.Unlock()
	b.Folded(func(state *fleet.State) {
		for _, p := range had {
			it, there := state.Ledger.Item(p)
			if there && it.Act.Mail() && it.Act.Wakes() && !it.ToAll() && !slices.ContainsFunc(state.Talk.Answers(p), func(a *fleet.Item) bool {
				return a.Author().Name == s.Name.String()
			}) {
				all = append(all, shown(state, it))
			}
		}
	})
	return all
}

// tell is what the model of a session is told at an event: at the start who it is and what waits,
// else the mail itself. Mail that is told is handed over, which is written down first.
func (b *Book) tell(ctx context.Context, s *seat, r control.SessionEventRequest) (text, nonce string, err error) {
	mail, owed := b.mail(s), ""
	if s.shorter && r.Event != control.SessionStopped {
		owed = prompt.Owed(b.owed(s))
		defer func() { s.shorter = err != nil }()
	}
	if r.Event == control.SessionStarted {
		return b.welcome(s, len(mail)) + owed, "", nil
	}
	if r.Event == control.SessionStopped { // only what may begin a turn goes on with one
		mail = slices.DeleteFunc(mail, func(w waiting) bool { return !w.rings })
		if len(mail) > 0 && !b.mayTurn(s) {
			mail = nil
		}
	}
	mail = slices.DeleteFunc(mail, func(w waiting) bool { return w.lost > mostLost })
	if len(mail) == 0 {
		return owed, "", nil
	}
	h := prompt.HandOver{Agent: s.Name.String(), Host: b.Host.String(), Before: owed}
	now := b.Now()
	holds, _ := b.session(s)
	var paths []protocol.Path
	toAll := map[protocol.Path]bool{}
	for i, w := range mail {
		if !b.Sessions.Take(s.Name.String(), w.Path, sessions.Claim{By: holds, Until: now.Add(claimLasts)}) {
			continue // the session asks for it itself at this moment
		}
		w.Body = b.body(w.Path)
		if !h.Add(w.ShownMessage, w.lost > 0) {
			b.Sessions.GiveBack(s.Name.String(), []protocol.Path{w.Path})
			h.Left = len(mail) - i
			break
		}
		paths, toAll[w.Path] = append(paths, w.Path), !w.named
	}
	if len(paths) == 0 {
		return owed, "", nil
	}
	nonce = random.Hex(8)
	err = b.change(func() {
		for _, p := range paths {
			if s.handover(p) == nil {
				s.Handed = append(s.Handed, handed{Path: p, ToAll: toAll[p]})
			}
			h := s.handover(p)
			h.At, h.Nonce, h.Given, h.To = now.UTC(), nonce, 0, r.Session
		}
		s.Had = append(s.Had, paths...)
		s.Had = s.Had[max(0, len(s.Had)-mostHad):]
		if r.Event == control.SessionStopped {
			s.Turns = append(s.Turns, now.UTC())
		}
	})
	if err != nil || ctx.Err() != nil { // the hook is told nothing, or has given up
		err = errors.Join(err, ctx.Err(), b.change(func() {
			for _, p := range paths {
				s.handover(p).back(false)
			}
		}))
		b.Sessions.GiveBack(s.Name.String(), paths)
	}
	if err != nil {
		return "", "", err
	}
	b.gave(s, paths[len(paths)-1])
	return h.Text(random.Hex(16)), nonce, nil
}

// body is the text of a message. If it cannot be read, it says so: other mail does not wait for it.
func (o *Options) body(p protocol.Path) string {
	var it *fleet.Item
	o.Folded(func(s *fleet.State) { it, _ = s.Ledger.Item(p) })
	if it == nil {
		return "(It is gone.)"
	}
	m, err := o.Load(it)
	if err != nil {
		o.Log.Warn().Err(err).Stringer("message", p).Msg("cannot read what a session is handed")
		return "(It cannot be read at the moment.)"
	}
	return m.Body
}

// mostNamed is how many others a session is told of at its start.
const mostNamed = 12

// welcome tells a session who it is, who else is there and what waits.
func (b *Book) welcome(s *seat, waiting int) string {
	var others []string
	b.Folded(func(state *fleet.State) {
		for _, name := range state.People.All() {
			if name != s.Name.String() {
				others = append(others, prompt.Name(name))
			}
		}
	})
	for _, name := range b.Roster.Names() {
		if name != s.Name && !slices.Contains(others, name.String()) {
			others = append(others, name.String())
		}
	}
	more := ""
	if over := len(others) - mostNamed; over > 0 {
		others, more = others[:mostNamed], fmt.Sprintf(" and %d more", over)
	}
	who := "nobody yet"
	if len(others) > 0 {
		who = strings.Join(others, ", ") + more
	}
	return prompt.Welcome(s.Name.String(), b.Host.String(), b.Fleet.String(), who, waiting)
}
