package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// tell tells the author of a message and the human of this host that it waits, because
// agents have caused too many runs (R13).
func (w *worker) tell(ctx context.Context, j job) {
	defer w.folded(func(*fleet.State) { w.queue.told(j.tell) })
	ws, err := w.act(ctx, fleet.Hold{As: w.queue.who, At: j.it.Path, Human: w.human, Act: j.tell.act, Reason: j.tell.why}, j.it.Path)
	if err != nil {
		// Status says it all the same, and the next message that has to wait tells it.
		w.log.Warn().Err(err).Str("agent", w.queue.who.Name).Stringer("path", j.it.Path).Msg("cannot tell that a message waits")
		return
	}
	if !j.tell.talk {
		w.note(runlog.Job{Path: j.it.Path, Agent: j.agent.Name}, runlog.Entry{Step: runlog.Held})
	}
	w.steps.handled(j.agent.Name, j.it.Path, ws)
}

// resume has an agent go on whose messages wait for a budget: with all of them or, where a
// message is named, with those of its conversation, in which the human speaks so. It
// returns how many waited for that, in the conversation for whichever agent here.
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

// checkPause refuses to pause or resume what cannot be.
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
