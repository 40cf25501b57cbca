package node

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
	defer w.folded(func(*fleet.State) { w.queue.told(j.tell) })
	ws, err := w.act(ctx, fleet.Hold{As: w.queue.who, At: j.it.Path, Human: w.human, Act: j.tell.act, Reason: j.tell.why}, j.it.Path)
	if err != nil {
		// Status says it in any case, and the next message that has to wait will tell it.
		w.log.Warn().Err(err).Str("agent", w.queue.who.Name).Stringer("path", j.it.Path).Msg("cannot tell that a message waits")
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
func (sv *serving) resume(ctx context.Context, r control.PauseRequest) (over int, err error) {
	if r.Conversation == "" {
		over = sv.doors.overHour(protocol.Name(r.Name))
		if err := sv.grant(protocol.Name(r.Name)); err != nil {
			return 0, asError(err)
		}
		sv.doors.look(protocol.Name(r.Name))
		return over, nil
	}
	p, err := sv.find(r.Conversation)
	if err != nil {
		return 0, err
	}
	over = sv.doors.overTalk(p)
	return over, asError(sv.say(ctx, fleet.Resume{By: fleet.Who{Name: sv.human.String(), Host: sv.host}, At: p, Agent: r.Name}))
}

// checkPause returns an error for a pause or resumption that is not possible.
func (sv *serving) checkPause(r control.PauseRequest) error {
	a, err := sv.roster.Get(r.Name)
	switch {
	case err != nil:
		return err
	case r.Paused && r.Conversation != "":
		return control.Errorf(control.KindUsage, "pause the agent: parley agent pause "+r.Name, "cannot pause %s in one conversation", r.Name)
	}
	return agents.MayPause(a)
}
