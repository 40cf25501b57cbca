package seats

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

// anew is a conversation whose budgets have begun anew on this host, because somebody has typed in a
// session that takes part in it (R70).
type anew struct {
	Root protocol.Path `json:"root"`
	Hops int           `json:"hops"`           // spent until then
	Runs int           `json:"runs"`           // spent until then
	Told bool          `json:"told,omitempty"` // the two sides were told that they are spent again
}

// mostAnew is how many conversations a seat keeps that have begun anew, the latest ones.
const mostAnew = 32

// spent is why a message of a conversation of agents begins no turn (R13).
type spent struct {
	why  string        // "": it may begin one
	root protocol.Path // of the conversation
	told bool          // its two sides know
}

// spentOn says whether a conversation has spent its budgets. `begun` are those that have begun anew.
func (o *Options) spentOn(state *fleet.State, it *fleet.Item, begun []anew) (none spent) {
	hops := state.Talk.Hops(it)
	if hops == 0 {
		return none
	}
	talk := state.Talk.Conversation(it)
	runs, told := talk.Runs, talk.Told
	if i := slices.IndexFunc(begun, func(a anew) bool { return a.Root == talk.Root }); i >= 0 {
		told = begun[i].Told
		if hops >= begun[i].Hops { // else it is another chain of answers
			hops -= begun[i].Hops
		}
		if runs >= begun[i].Runs { // else a human has spoken there since
			runs -= begun[i].Runs
		}
	}
	why := ""
	switch {
	case hops > o.MaxHops:
		why = fmt.Sprintf("%d answers of agents in a row (max_hops is %d)", hops, o.MaxHops)
	case runs >= o.MaxRuns:
		why = fmt.Sprintf("agents have had each other run %d times in this conversation since a human last spoke in it (max_conversation_runs is %d)", runs, o.MaxRuns)
	default:
		return none
	}
	goOn := "; what is more waits until somebody types in its session, or writes in the conversation, as with: parley reply " + visible.Shell(it.Path.String()) + " TEXT"
	return spent{why + goOn, talk.Root, told}
}

// beginAnew has the budgets of the conversations begin anew in which a session takes part: somebody
// has typed there.
func (b *Book) beginAnew(s *seat) error {
	b.mu.Lock()
	at := slices.Clone(s.Had[max(0, len(s.Had)-1):])
	b.mu.Unlock()
	fresh := map[protocol.Path]anew{}
	b.Folded(func(state *fleet.State) {
		for it := range state.Talk.Inbox(fleet.Who{Name: s.Name.String(), Host: b.Host}, false) {
			at = append(at, it.Path)
		}
		for _, p := range at {
			if it, there := state.Ledger.Item(p); there && state.Talk.Hops(it) > 0 {
				talk := state.Talk.Conversation(it)
				fresh[talk.Root] = anew{Root: talk.Root, Hops: max(fresh[talk.Root].Hops, state.Talk.Hops(it)), Runs: talk.Runs}
			}
		}
	})
	if len(fresh) == 0 {
		return nil
	}
	return b.change(func() {
		for _, other := range b.seats {
			other.Anew = slices.DeleteFunc(other.Anew, func(a anew) bool { return !fresh[a.Root].Root.IsZero() })
		}
		s.Anew = slices.AppendSeq(s.Anew, maps.Values(fresh))
		s.Anew = s.Anew[max(0, len(s.Anew)-mostAnew):]
	})
}

// tellSpent tells the two sides of a conversation of agents, once, that its mail waits, and has status
// say so as long as it does.
func (b *Book) tellSpent(ctx context.Context, s *seat, mail []waiting) {
	text, told := "", map[protocol.Path]bool{}
	for _, w := range mail {
		if w.spent.why == "" {
			continue
		}
		text = fmt.Sprintf("mail waits for %s: %s", s.Name, w.spent.why)
		if w.spent.told || told[w.spent.root] {
			continue
		}
		told[w.spent.root] = true
		as := fleet.Who{Name: s.Name.String(), Host: b.Host}
		_, err := b.Store(ctx, fleet.Hold{As: as, At: w.Path, Human: b.Human, Act: protocol.TalkHeld, Reason: w.spent.why}, w.Path)
		if err == nil {
			err = b.change(func() {
				for _, other := range b.seats {
					for i := range other.Anew {
						other.Anew[i].Told = other.Anew[i].Told || other.Anew[i].Root == w.spent.root
					}
				}
			})
		}
		if err != nil {
			b.Log.Warn().Err(err).Stringer("message", w.Path).Msg("cannot tell that a message waits")
		}
	}
	b.Wrong(talksOf(s.Name), text)
}

// talksOf is about what status warns if mail of conversations waits whose budgets are spent.
func talksOf(name protocol.Name) string { return "conversations of " + name.String() }

// nothingWaits takes back what status says of mail that waits for a session.
func (o *Options) nothingWaits(name protocol.Name) {
	o.Wrong(turnsOf(name), "")
	o.Wrong(talksOf(name), "")
}
