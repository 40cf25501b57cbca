package serving

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// deadLetters are the messages on which agents of the fleet have failed for good. It answers the
// verbs about them.
type deadLetters struct {
	*Options
	claims *claims
}

// list answers control.DeadLetters.
func (d *deadLetters) list(_ context.Context, r control.DeadLettersRequest) ([]control.DeadLetter, error) {
	var of protocol.Path
	if r.Message != "" {
		it, err := d.Find(r.Message)
		if err != nil {
			return nil, err
		}
		of = it.Path
	}
	list := []control.DeadLetter{}
	dead := d.dead(of, r.Agent, r.Dropped)
	for i, run := range append(dead, d.left(of, r.Agent)...) {
		view, err := d.view(run)
		if err != nil {
			return nil, err
		}
		view.Claimed = i >= len(dead)
		list = append(list, view)
	}
	if len(list) == 0 && r.Agent != "" { // a misspelling would look as if everything were well
		var err error
		d.Folded(func(s *fleet.State) { err = s.People.Check(r.Agent) })
		return list, err
	}
	return list, nil
}

// left returns work that a host has claimed and does not do, in the form of the dead letters that
// it may become. "" stands for all agents, the zero path for all messages.
func (d *deadLetters) left(of protocol.Path, agent string) (all []affairs.Run) {
	now := d.Now()
	left := d.claims.abandoned()
	d.Folded(func(s *fleet.State) {
		for _, a := range left {
			if (agent == "" || a.agent == agent) && (of.IsZero() || a.path == of) {
				run := s.Run(a.path, a.agent)
				run.Dead = &affairs.DeadLetter{Time: a.since, Host: a.host, Failure: protocol.Failure{Problem: a.problem(now)}}
				all = append(all, run)
			}
		}
	})
	return all
}

// dead returns the dead letters whose messages are here. "" stands for all agents, the zero path
// for all messages.
func (d *deadLetters) dead(of protocol.Path, agent string, dropped bool) (dead []affairs.Run) {
	d.Folded(func(s *fleet.State) {
		for _, run := range s.DeadLetters(dropped) {
			_, there := s.Ledger.Item(run.Message)
			if there && (agent == "" || run.Agent == agent) && (of.IsZero() || run.Message == of) {
				dead = append(dead, run)
			}
		}
	})
	return dead
}

func (d *deadLetters) view(run affairs.Run) (control.DeadLetter, error) {
	var it *fleet.Item
	d.Folded(func(s *fleet.State) { it, _ = s.Ledger.Item(run.Message) })
	if it == nil {
		return control.DeadLetter{}, control.Errorf(control.KindNotFound, "", "there is no message %s", run.Message)
	}
	text := strings.TrimSpace(run.Dead.Failure.Text)
	m := d.Shown(it)
	if m.Unreadable != "" { // this may be why it is a dead letter
		text = strings.TrimSpace(text + "\n\nThe message " + cannotRead + ": " + m.Unreadable)
	}
	view := control.DeadLetter{
		Message: m, Agent: run.Agent, Host: run.Dead.Host, Time: run.Dead.Time, Problem: run.Dead.Failure.Problem, Text: text,
		Tier: run.Dead.Failure.Tier, Ran: control.Seconds(run.Dead.Failure.Ran), Attempts: run.Attempts, Retries: run.Retries,
	}
	if w := run.Dropped; w != nil {
		view.Dropped = &control.RunWord{By: w.By, Time: w.Time, Reason: w.Reason}
	}
	return view, nil
}

// retry answers control.RetryDead.
func (d *deadLetters) retry(ctx context.Context, by control.Caller, r control.DeadLetterRequest) (control.DeadLetter, error) {
	return d.say(ctx, by, r, true, affairs.Retry)
}

// drop answers control.DropDead.
func (d *deadLetters) drop(ctx context.Context, by control.Caller, r control.DeadLetterRequest) (control.DeadLetter, error) {
	return d.say(ctx, by, r, false, affairs.Drop)
}

// abandoned returns work that a host has claimed and not done, in the form of the dead letters that
// it may become: only that host knows. "" stands for all agents.
func (d *deadLetters) abandoned(of protocol.Path, agent string) (all []affairs.Run) {
	d.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(of)
		for _, name := range s.Affairs(affairs.KindName) {
			run := fleet.Value(s, affairs.Kind(), name, time.Time{})
			if !there || run.Message != of || run.Claim == nil || run.Dead != nil || agent != "" && run.Agent != agent ||
				s.Talk.ReadBy(it, fleet.Who{Name: run.Agent, Host: run.Claim.Host}) {
				continue
			}
			run.Dead = &affairs.DeadLetter{Position: run.Claim.Position, Time: run.Claim.Time, Host: run.Claim.Host, Failure: protocol.Failure{
				Problem: claimedBy(run).problem(run.Claim.Time)}}
			all = append(all, run)
		}
	})
	return all
}

// triedAgain says who has had a message tried again on which an agent ("": any) had failed, and
// which it has not given up since; "" if nobody has.
func (d *deadLetters) triedAgain(of protocol.Path, agent string) (text string) {
	d.Folded(func(s *fleet.State) {
		for _, name := range s.Affairs(affairs.KindName) {
			run := fleet.Value(s, affairs.Kind(), name, time.Time{})
			if run.Message == of && run.Dead == nil && run.Again != nil && (agent == "" || run.Agent == agent) {
				text = fmt.Sprintf(" any more: %s has had %s try it again already", run.Again.By, run.Agent)
			}
		}
	})
	return text
}

// say says something about the dead letter that a request names, and returns it as it was. With
// `claimed`, work that a host has claimed and not done counts as one too.
func (d *deadLetters) say(ctx context.Context, by control.Caller, r control.DeadLetterRequest, claimed bool,
	word func(by string, p protocol.Path, agent, reason string) affair.Command,
) (control.DeadLetter, error) {
	if err := checkReason("do that about a dead letter", r.Reason); err != nil {
		return control.DeadLetter{}, err
	}
	who, err := d.Actor(by, "")
	if err != nil {
		return control.DeadLetter{}, err
	}
	it, err := d.Find(r.Message)
	if err != nil {
		return control.DeadLetter{}, err
	}
	dead := d.dead(it.Path, r.Agent, true)
	if len(dead) == 0 && claimed {
		dead = d.abandoned(it.Path, r.Agent)
	}
	if len(dead) == 0 && claimed {
		dead = d.left(it.Path, r.Agent)
	}
	short := it.Path.Short()
	switch {
	case len(dead) == 0 && r.Agent != "":
		return control.DeadLetter{}, control.Errorf(control.KindNotFound, "parley agent dlq list", "%s is no dead letter of %s%s", short, r.Agent, d.triedAgain(it.Path, r.Agent))
	case len(dead) == 0:
		return control.DeadLetter{}, control.Errorf(control.KindNotFound, "parley agent dlq list", "%s is no dead letter%s", short, d.triedAgain(it.Path, ""))
	case len(dead) > 1:
		agents := each.Of(dead, func(run affairs.Run) string { return run.Agent })
		return control.DeadLetter{}, control.Errorf(control.KindRefused, "name one with --agent", "%s is a dead letter of several agents: %s", short, strings.Join(agents, ", "))
	}
	if claimed && dead[0].Dead.Host != "" && !d.served(it.Path, dead[0].Agent) {
		return control.DeadLetter{}, control.Errorf(control.KindRefused,
			fmt.Sprintf("have it served first: parley agent add %[1]s; or put the letter away: parley agent dlq drop %[2]s --agent %[1]s", dead[0].Agent, short),
			"cannot have %s tried again: no host serves %s any more", short, dead[0].Agent)
	}
	view, err := d.view(dead[0])
	if err != nil {
		return control.DeadLetter{}, err
	}
	if err := d.giveUpUnsaid(ctx, dead[0]); err != nil {
		return control.DeadLetter{}, err
	}
	if _, err := d.Do(ctx, word(who.Name, it.Path, dead[0].Agent, r.Reason)); err != nil {
		return control.DeadLetter{}, err
	}
	return view, nil
}

// served reports whether any host would do an agent's work on a message.
func (d *deadLetters) served(p protocol.Path, agent string) (yes bool) {
	d.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(p)
		yes = there && len(s.Talk.ServedOn(it, agent)) > 0
	})
	return yes
}

// giveUpUnsaid makes a dead letter of work that a host has claimed without saying so in the record.
// Then what somebody says about it counts everywhere. If that host is still there, it leaves the
// work alone.
func (d *deadLetters) giveUpUnsaid(ctx context.Context, run affairs.Run) error {
	if run.Dead.Host != "" || !run.Dead.Path.IsZero() {
		return nil // the record has it
	}
	f := protocol.Failure{Problem: run.Agent + ": " + run.Dead.Failure.Problem + "; nobody else knows whether its command was started"}
	c := fleet.Answer{
		As: fleet.Who{Name: run.Agent, Host: d.Host}, To: run.Message, Body: protocol.Failed.Format(f), Act: protocol.ActFailed, ByAgent: true,
	}
	_, err := d.Act(ctx, c, run.Message)
	return err
}
