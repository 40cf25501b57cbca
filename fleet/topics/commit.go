package topics

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Phase is where a participant stands on an agreement (seed, "Commit Phases").
type Phase string

// The five phases. A timeout is observed, and it is no refusal.
const (
	Pending  Phase = "pending"
	Accepted Phase = "accept"
	Rejected Phase = "reject"
	Deferred Phase = "defer"
	TimedOut Phase = "timeout"
)

// settled has the phases from the least settled one to the most settled one. An agreement shows the
// least settled of its two phases (R60).
var settled = []Phase{Rejected, TimedOut, Deferred, Pending, Accepted}

// DeferFor is how long a deferral lasts that does not say how long.
const DeferFor = 24 * time.Hour

// Stand is where one of the two participants stands on an agreement.
type Stand struct {
	Who       string
	Phase     Phase
	Previous  Phase         // the phase before; "" for none
	Deed      protocol.Path // the decision; zero if there was none
	DecidedAt time.Time     // when it was decided; zero if it was not
	Standing  affair.Standing
	Reason    string    // of a rejection, a deferral, or a revocation; of an acceptance, what it changes
	Until     time.Time // of a deferral
	AnswerBy  time.Time // if the phase is pending: silence until then is no timeout
	TimeoutAt time.Time // of a timeout: when the time had run out
	Committed bool      // the participant has accepted the item at some time
}

// Decision is one step of somebody's stand.
type Decision struct {
	Path     protocol.Path
	Who      string
	At       time.Time
	Act      protocol.Act
	From, To Phase
	Reason   string
	Until    time.Time
}

// next are the phases that a decision may lead to (seed, "Allowed state transitions"). Only revoke
// makes a decision pending again.
func next(from Phase) []Phase {
	switch from {
	case Pending, TimedOut:
		return []Phase{Accepted, Rejected, Deferred}
	case Deferred:
		return []Phase{Accepted, Rejected}
	}
	return nil
}

// at is the stand at the time `now`.
func (s Stand) at(now time.Time) Stand {
	end := s.AnswerBy
	switch s.Phase {
	case Deferred:
		end = s.Until
	case Pending:
	default:
		return s
	}
	if end.IsZero() || now.Before(end) {
		return s
	}
	s.Previous, s.Phase, s.TimeoutAt = s.Phase, TimedOut, end
	return s
}

// at is the item at the time `now`.
func (it *Item) at(now time.Time) *Item {
	late := slices.ContainsFunc(it.Stands, func(s Stand) bool { return s.at(now) != s })
	stale := slices.ContainsFunc(it.Validations, func(v *Validation) bool { return v.at(now) != v })
	if !late && !stale {
		return it
	}
	next := *it
	next.Stands = slices.Clone(it.Stands)
	for i := range next.Stands {
		next.Stands[i] = next.Stands[i].at(now)
	}
	next.Validations = changed(it.Validations, func(v *Validation) *Validation { return v.at(now) })
	return &next
}

// Reprompted is the topic with deferrals that have run out shown as pending, not as timed out. A
// fleet can have it so.
func (t Topic) Reprompted() Topic {
	t.Items = changed(t.Items, func(it *Item) *Item {
		again := func(s Stand) bool { return s.Phase == TimedOut && s.Previous == Deferred }
		if !slices.ContainsFunc(it.Stands, again) {
			return it
		}
		next := *it
		next.Stands = slices.Clone(it.Stands)
		for i, s := range next.Stands {
			if again(s) {
				next.Stands[i].Phase, next.Stands[i].TimeoutAt = Pending, time.Time{}
			}
		}
		return &next
	})
	return t
}

// Stand is where `who` stands on the agreement.
func (it *Item) Stand(who string) Stand {
	for _, s := range it.Stands {
		if s.Who == who {
			return s
		}
	}
	return Stand{Who: who, Phase: Pending}
}

// Shown is the stand that is shown for the agreement as a whole: the least settled one. If both are
// equal, it is that of the name that comes first (R60).
func (it *Item) Shown() Stand {
	shown := it.Stands[0]
	for _, s := range it.Stands[1:] {
		a, b := slices.Index(settled, s.Phase), slices.Index(settled, shown.Phase)
		if a < b || a == b && s.Who < shown.Who {
			shown = s
		}
	}
	return shown
}

// Agreed reports whether all participants whom the agreement binds have accepted it. Until then it
// is speculative.
func (it *Item) Agreed() bool {
	return it.Sort == Agreement && !slices.ContainsFunc(it.Stands, func(s Stand) bool { return s.Phase != Accepted })
}

// propose adds an agreement. By that its author accepts it (R60).
func (t Topic) propose(d affair.Deed) (Topic, error) {
	p, err := protocol.Agree.Parse(d.Body)
	if err != nil {
		return t, malformed(err)
	}
	it := newItem(d, Agreement, p.Item.Label, p.Item.Text)
	for _, who := range t.Pair {
		s := Stand{Who: who, Phase: Pending, AnswerBy: answerBy(d, p.AnswerBy)}
		if who == it.By {
			s = Stand{Who: who, Phase: Accepted, Previous: Pending, Deed: it.Path, DecidedAt: it.At, Standing: d.Standing, Committed: true}
		}
		it.Stands = append(it.Stands, s)
	}
	return t.add(it), nil
}

// decide takes in the decision of a participant on an agreement, for itself.
func (t Topic) decide(d affair.Deed) (Topic, error) {
	w, err := decisionWords(d)
	if err != nil {
		return t, malformed(err)
	}
	it, err := t.of(d, w.item)
	if err != nil && w.previous != "" { // the seed names the item by the words that it had until now
		if was, found := t.Find(protocol.ItemRef{Text: w.previous}); found == nil {
			it, err = was, nil
		}
	}
	if err == nil && it.Sort != Agreement {
		err = refusal.New(refusal.Senseless, "", "%s is nothing to agree on", it.Label)
	}
	if err != nil {
		return t, err
	}
	who := d.Author().Name
	s := it.Stand(who).at(d.Timestamp)
	to, err := it.transition(d, s, w)
	if err != nil {
		return t, err
	}
	changed := *it
	changed.Stands = slices.Clone(it.Stands)
	now := Stand{
		Who: who, Phase: to, Previous: s.Phase, Deed: d.Message.Path, DecidedAt: d.Timestamp, Standing: d.Standing,
		Reason: w.reason, Until: w.until, Committed: s.Committed || to == Accepted,
	}
	if to == Pending {
		now.AnswerBy = answerBy(d, w.answerBy)
	}
	changed.set(now)
	changed.Log = added(it.Log, Decision{d.Message.Path, who, d.Timestamp, d.Act, s.Phase, to, w.reason, w.until})
	changed.answered(d, to)
	if d.Act == protocol.ActReAccept && w.item.Text != "" && !sameWords(w.item.Text, it.Text()) {
		changed.reword(d, w)
	}
	t.Items = put(t.Items, it, &changed)
	return t, nil
}

// set replaces the stand of a participant. The item must be a new copy that nobody has seen yet.
func (it *Item) set(s Stand) {
	for i := range it.Stands {
		if it.Stands[i].Who == s.Who {
			it.Stands[i] = s
		}
	}
}

// reword gives the item other words. A participant who accepted or declined the old words has not
// decided on these, and is pending again: nobody is bound to what the other participant wrote
// later.
func (it *Item) reword(d affair.Deed, w decided) {
	it.Wordings = added(it.Wordings, Wording{d.Message.Path, d.Author().Name, d.Timestamp, w.item.Text, w.changes})
	for i, s := range it.Stands {
		if s.Who != d.Author().Name && s.Phase != Deferred {
			it.Stands[i] = Stand{Who: s.Who, Phase: Pending, Previous: s.at(d.Timestamp).Phase, AnswerBy: answerBy(d, w.answerBy), Committed: s.Committed}
		}
	}
}

// decided is what the words of a decision say.
type decided struct {
	item              protocol.ItemRef
	reason            string
	until             time.Time
	previous, changes string // of a renewal
	answerBy          time.Time
}

func decisionWords(d affair.Deed) (w decided, err error) {
	switch d.Act {
	case protocol.ActAccept:
		var a protocol.Acceptance
		a, err = protocol.Accept.Parse(d.Body)
		w = decided{item: a.Item, reason: a.Commitment}
	case protocol.ActReject:
		var r protocol.Rejection
		r, err = protocol.Reject.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Reason}
	case protocol.ActDefer:
		var f protocol.Deferral
		f, err = protocol.Defer.Parse(d.Body)
		w = decided{item: f.Item, reason: f.Reason, until: f.Until}
		if w.until.IsZero() {
			w.until = d.Timestamp.Add(DeferFor)
		}
	case protocol.ActRevoke:
		var r protocol.Withdrawal
		r, err = protocol.Revoke.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Reason, answerBy: r.AnswerBy}
	case protocol.ActReAccept:
		var r protocol.Renewal
		r, err = protocol.ReAccept.Parse(d.Body)
		w = decided{item: r.Item, reason: r.Changes, previous: r.Previous, changes: r.Changes, answerBy: r.AnswerBy}
	}
	return w, err
}

// transition is the phase to which a decision leads from the stand `s` of its author. The error
// says why it leads nowhere (R29).
func (it *Item) transition(d affair.Deed, s Stand, w decided) (Phase, error) {
	to := map[protocol.Act]Phase{protocol.ActAccept: Accepted, protocol.ActReject: Rejected, protocol.ActDefer: Deferred}[d.Act]
	switch d.Act {
	case protocol.ActRevoke:
		if s.Phase != Accepted && s.Phase != Rejected {
			return "", refusal.New(refusal.Forbidden, "", "%s has decided nothing on %s that could be taken back", s.Who, it.Label)
		}
		return Pending, nil
	case protocol.ActReAccept:
		return it.renew(s, w)
	}
	if err := it.meant(w.item); err != nil {
		return "", err
	}
	switch {
	case d.Act == protocol.ActAccept && s.Phase == Accepted && it.asked(s.Who):
		return Accepted, nil // a participant who was asked whether it still holds says so
	case to == s.Phase && to != Deferred:
		return "", refusal.New(refusal.Forbidden, "there is nothing to do", "%s stands at %s on %s already", s.Who, s.Phase, it.Label)
	case !slices.Contains(next(s.Phase), to):
		return "", refusal.New(refusal.Forbidden, leave(s.Phase), "%s stands at %s on %s: no %s follows on that", s.Who, s.Phase, it.Label, d.Act)
	case d.Act == protocol.ActDefer && !w.until.After(d.Timestamp):
		return "", refusal.New(refusal.Senseless, "name a later time", "%s is over", w.until.Format(time.DateTime))
	}
	return to, nil
}

// leave says how a participant can leave a phase.
func leave(from Phase) string {
	if from == Accepted || from == Rejected {
		return "revoke the decision first"
	}
	return "accept or reject it, or wait until its time has come"
}

// renew is the phase to which a renewal leads: it renews what was once accepted.
func (it *Item) renew(s Stand, w decided) (Phase, error) {
	switch {
	case !s.Committed:
		return "", refusal.New(refusal.Forbidden, "accept it", "%s never accepted %s", s.Who, it.Label)
	case s.Phase == Rejected:
		return "", refusal.New(refusal.Forbidden, leave(s.Phase), "%s has rejected %s", s.Who, it.Label)
	case w.previous != "" && !sameWords(w.previous, it.Text()):
		return "", refusal.New(refusal.Forbidden, "look at the words that it has now", "%s says something else by now", it.Label)
	}
	return Accepted, nil
}

// meant returns an error if a decision does not fit the item that it is about, because it repeats
// words that the item no longer has, or never had. Who accepts words accepts only these words.
func (it *Item) meant(ref protocol.ItemRef) error {
	if ref.Text == "" || shortened(ref.Text, it.Text()) {
		return nil
	}
	for _, w := range it.Wordings {
		if sameWords(w.Text, ref.Text) {
			return refusal.New(refusal.Forbidden, "look at the words that it has now", "%s says something else by now", it.Label)
		}
	}
	if ref.Label != "" {
		return nil
	}
	return refusal.New(refusal.Senseless, "", "its words are not those of %s", it.Label)
}

// shortened reports whether `text` has the words of `whole`, or is its beginning with dots behind
// it.
func shortened(text, whole string) bool {
	if cut := strings.TrimRight(text, ".… "); cut != text && strings.HasPrefix(words(whole), words(cut)) {
		return true
	}
	return sameWords(text, whole)
}
