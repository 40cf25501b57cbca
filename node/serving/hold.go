package serving

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// tell tells the author of a message and the human of this host that the message waits, because
// agents have caused too many runs (R13).
func (w *worker) tell(ctx context.Context, j job) {
	defer w.Folded(func(*fleet.State) { w.queue.told(j.tell) })
	ws, err := w.Act(ctx, fleet.Hold{As: w.queue.who, At: j.it.Path, Human: w.Human, Act: j.tell.act, Reason: j.tell.why}, j.it.Path)
	if err != nil {
		// Status says it in any case, and the next message that has to wait will tell it.
		w.Log.Warn().Err(err).Str("agent", w.queue.who.Name).Stringer("path", j.it.Path).Msg("cannot tell that a message waits")
		return
	}
	if !j.tell.talk {
		w.note(runlog.Job{Path: j.it.Path, Agent: j.agent.Name}, runlog.Entry{Step: runlog.Held})
	}
	w.steps.handled(j.agent.Name, j.it.Path, ws)
}

// resume lets messages of an agent go on that wait for a budget. They are all such messages or, if
// a message is named, those of its conversation, in which the human speaks by that. It returns how
// many waited; in a conversation, these may be messages for any agent here.
func (sv *Serving) resume(ctx context.Context, r control.PauseRequest) (over int, err error) {
	if r.Conversation == "" {
		over = sv.doors.overHour(protocol.Name(r.Name))
		if err := sv.runs.Grant(protocol.Name(r.Name)); err != nil {
			return 0, err
		}
		sv.doors.look(protocol.Name(r.Name))
		return over, nil
	}
	it, err := sv.Find(r.Conversation)
	if err != nil {
		return 0, err
	}
	over = sv.doors.overTalk(it.Path)
	_, err = sv.Act(ctx, fleet.Resume{By: fleet.Who{Name: sv.Human.String(), Host: sv.Host}, At: it.Path, Agent: r.Name}, protocol.Path{})
	return over, err
}

func (sv *Serving) checkPause(r control.PauseRequest) error {
	a, err := sv.Roster.Get(r.Name)
	switch {
	case err != nil:
		return err
	case r.Paused && r.Conversation != "":
		return control.Errorf(control.KindUsage, "pause the agent: parley agent pause "+r.Name, "cannot pause %s in one conversation", r.Name)
	}
	return agents.MayPause(a)
}
