package inquiry

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/inquiry/calls"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// MemberRun is one run of a member's command: alone in its place, with nothing of the node's.
type MemberRun struct {
	Place  place.Place
	Walls  bool // it sees nothing of this node, and nothing of other places; see Options.Walls
	Input  string
	Resume string // the command line that goes on with the session of this place; "" for a new one
}

// investigate runs a member once for its result, without a limit of time, and says that it has
// ended (R62). A run that the end of the node cut short has failed.
func (q *Inquiries) investigate(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	m := v.Member(c.Perspective)
	k, begun, err := q.spool.read(v.Channel, c.Perspective, c.Attempt)
	switch {
	case err != nil:
		return err
	case begun && k.Outcome == "":
		k.Outcome, k.Errors = protocol.SignalFailed, "its node ended while it worked"
	case !begun:
		if k, err = q.run(ctx, v, m); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := q.spool.write(v.Channel, c.Perspective, c.Attempt, k); err != nil {
		return err
	}
	w := protocol.InquirySignal{Perspective: c.Perspective, Attempt: c.Attempt, Outcome: k.Outcome, Exit: k.Exit, Grade: k.Grade, Degraded: k.Degraded}
	switch k.Outcome {
	case protocol.SignalCompleted:
		w.Result = protocol.Hash([]byte(k.Result))
	case protocol.SignalFailed:
		w.Text = k.Errors
	}
	return q.says(ctx, v, c, func(a inquiries.Actor) affair.Command { return a.Signal(v.Channel, w) })
}

// says says something for a member. If it was said before a crash, nothing more is said.
func (q *Inquiries) says(ctx context.Context, v inquiries.Inquiry, c inquiries.Call, say func(inquiries.Actor) affair.Command) error {
	a := q.Pool.actor(c.By.Name)
	_, err := q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(a.Me), Because: v.Path}, say(a))
	if err != nil && !slices.Contains(inquiries.Next(q.known.value(v.Channel)), c) {
		return nil
	}
	return err
}

// run runs a member for its result.
func (q *Inquiries) run(ctx context.Context, v inquiries.Inquiry, m *inquiries.Member) (kept, error) {
	failed := func(why string) (kept, error) {
		return kept{Outcome: protocol.SignalFailed, Errors: why, Exit: -1, Grade: gradeOfNone}, nil
	}
	agent, err := q.Pool.config(v, m)
	if err != nil {
		return failed(err.Error())
	}
	at, err := q.material.place(ctx, v, m, agent)
	if err != nil {
		return failed(err.Error())
	}
	if err := q.count(ctx, v, agent); err != nil {
		return kept{}, err
	}
	walls := q.Walls(ctx, agent)
	k := kept{Grade: at.Grade}
	if walls {
		k.Grade = protocol.GradeWalls
	}
	if preset(agent).Resume == "" {
		k.Degraded = inquiries.NoSession
	}
	if err := q.spool.write(v.Channel, m.Perspective, m.Attempt, k); err != nil {
		return k, err
	}
	input := v.Prompt(m.Perspective, m.Orientation)
	if before := v.Carried(m.Perspective); before != "" {
		input = deeper(input, before)
	}
	r := q.Member(ctx, agent, MemberRun{Place: at, Walls: walls, Input: q.given(v, input)})
	switch text := cut(calls.Result(r.Output), inquiries.MaxResult); {
	case r.Failure == door.None && strings.TrimSpace(text) != "":
		k.Outcome, k.Result = protocol.SignalCompleted, text
	default:
		k.Outcome, k.Exit, k.Errors = protocol.SignalFailed, r.ExitCode, cut(strings.TrimSpace(r.Problem()+"\n"+r.Stderr), maxErrors)
	}
	return k, nil
}

const (
	// gradeOfNone is the grade of a member whose command was not started.
	gradeOfNone = protocol.GradeProcess
	// maxErrors bounds what is told of a run that failed, in bytes.
	maxErrors = 4 << 10
)

// cut is a text of at most `most` bytes, which ends with a whole character. If something was left
// out, a line at the end says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const note = "\n\n(The rest was left out: it was too long.)"
	return strings.ToValidUTF8(text[:most-len(note)], "") + note
}

func (q *Inquiries) own(v inquiries.Inquiry) bool {
	return v.By.Host == q.Host.String() && v.Coordinator.Host == q.Host.String()
}

// given is the input of a member. What an inquiry of another host asks is text of others.
func (q *Inquiries) given(v inquiries.Inquiry, input string) string {
	if q.own(v) {
		return input
	}
	return prompt.Asked(v.Coordinator.Host, input)
}

// count counts a run for an inquiry of another host. It waits until the agent's budget has room.
func (q *Inquiries) count(ctx context.Context, v inquiries.Inquiry, a configs.Agent) error {
	if q.own(v) {
		return nil
	}
	about := "runs of " + a.Name.String() + " for inquiry " + id8(v.Channel)
	for {
		q.counting.Lock()
		why, err := q.Count(a, v.Path)
		q.counting.Unlock()
		if why == "" {
			q.Wrong(about, "")
			return err
		}
		q.Wrong(about, "an inquiry of "+v.Coordinator.Host+" waits: "+why)
		select {
		case <-ctx.Done():
			q.Wrong(about, "")
			return ctx.Err()
		case <-time.After(lookAround):
		}
	}
}

// converse has a member say its next words in a dialogue. The member's session goes on if it is on
// this host and its program can do that. Else the program is given the member's prompt and result
// again (R52).
func (q *Inquiries) converse(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	m := v.Member(c.Perspective)
	agent, err := q.Pool.config(v, m)
	if err != nil {
		return err
	}
	at, err := q.material.place(ctx, v, m, agent)
	if err != nil {
		return err
	}
	_, here, err := q.spool.read(v.Channel, m.Perspective, m.Attempt)
	if err != nil {
		return err
	}
	resume := ""
	if here && m.Moves == 0 {
		resume = preset(agent).Resume
	}
	return q.ask(ctx, v, c, calls.Surroundings{Alone: resume == ""}, func(input string) (door.Result, error) {
		if err := q.count(ctx, v, agent); err != nil {
			return door.Result{}, err
		}
		return q.Member(ctx, agent, MemberRun{Place: at, Walls: q.Walls(ctx, agent), Input: q.given(v, input), Resume: resume}), nil
	})
}

// deeper is the input of a member that investigates once more. It carries over what the member
// found before, and the record says that it does (F77).
func deeper(input, before string) string {
	return input + "\nYou have investigated this before. What you found then stands below; go deeper, and give a whole new answer in the same form.\n\n" + before + "\n"
}
