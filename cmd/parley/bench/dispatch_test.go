package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

func replyTrial() trial {
	const what = "from the request until the answer of this host's agent is here"
	return trial{measure{name: "reply", what: "an agent on this host is asked and answers", figures: []Figure{
		{Name: "reply_p50", Unit: "ms", What: what + ", its command run: median", Better: Lower, Beside: bareCommand, Aim: new(4.0), AimOn: OnRatio},
		{Name: "reply_p99", Unit: "ms", What: what + ": 99 of 100 take no longer", Better: Lower, Beside: bareCommand},
	}}, func(r *rig) readings { return r.askInTurn("reply", r.answering(0, 0)) }}
}

func acrossTrial() trial {
	const what = "from the request until the answer of another host's agent is here"
	return trial{measure{name: "across", what: "an agent on another host is asked and answers", figures: []Figure{
		{Name: "across_p50", Unit: "ms", What: what + ", its command run: median", Better: Lower, Beside: bareCommand, Aim: new(6.0), AimOn: OnRatio},
		{Name: "across_p99", Unit: "ms", What: what + ": 99 of 100 take no longer", Better: Lower, Beside: bareCommand},
	}}, func(r *rig) readings {
		near, far, err := r.pair(r.Context())
		r.check(err)
		r.check(serveAnswering(r.Context(), far, near))
		return r.askInTurn("across", near)
	}}
}

// askInTurn asks the agent that answers, and runs its command alone, in turn.
func (r *rig) askInTurn(name string, h *host) readings {
	answered, alone, err := inTurn(r.count(500, 60), 1, func() error { return h.ask(r.Context()) }, func() error { return runAlone(r.Context()) })
	r.check(err)
	return both(name, answered, alone)
}

// answering runs a node that has that many messages, and the agent that answers.
func (r *rig) answering(i, old int) *host {
	home := must(r.newHome(r.Context(), i, func(*homes.Options) {}))(r)
	if old > 0 {
		r.fillTalk(home, old)
	}
	h := must(r.runHost(r.Context(), home, zerolog.Nop()))(r)
	if old > 0 {
		r.rest(h)
	}
	r.check(serveAnswering(r.Context(), h, h))
	return h
}

func oldTrial() trial {
	return trial{measure{name: "old", what: "an agent is asked where many messages are in the record", figures: []Figure{
		{Name: "old_p50", Unit: "ms", What: "reply_p50 with 50,000 old messages", Better: Lower, Beside: "the same without old messages",
			Aim: new(1.2), AimOn: OnRatio},
	}}, func(r *rig) readings {
		full, empty := r.answering(0, r.count(50_000, 2000)), r.answering(1, 0)
		with, without, err := inTurn(r.count(300, 40), 1, func() error { return full.ask(r.Context()) }, func() error { return empty.ask(r.Context()) })
		r.check(err)
		return readings{"old_p50": beside(with, without, 50)}
	}}
}

func rateTrial() trial {
	return trial{measure{name: "rate", what: "an agent of which eight commands may run has more to do than it can", figures: []Figure{
		{Name: "dispatch_rate", Unit: "/s", What: "messages that an agent with eight commands at a time has answered, a second", Better: Higher,
			Beside: "its command alone, eight at a time", Aim: new(200.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		const atOnce = 8
		h, many := r.answering(0, 0), r.count(2000, 200)
		agent := control.SetAgentRequest{Name: "echo", Settings: control.Given{"tier": {fmt.Sprintf("default*%d=echo done", atOnce)}}}
		must(control.SetAgent.Ask(r.Context(), h, agent))(r)
		began := time.Now()
		for p := range r.sendMany(h, "echo", many) {
			must(control.Wait.Ask(r.Context(), h, control.WaitRequest{Re: p, Within: patience}))(r)
		}
		took := time.Since(began)
		alone := r.together(atOnce, many, func(int) func(context.Context, int) error {
			return func(ctx context.Context, _ int) error { return runAlone(ctx) }
		})
		return readings{"dispatch_rate": {value: perSecond(many, took), yardstick: perSecond(many, alone)}}
	}}
}

func socketTrial() trial {
	return trial{measure{name: "socket", what: "64 programs send through the control socket as fast as they can", figures: []Figure{
		{Name: "socket_rate", Unit: "/s", What: "messages a second that 64 programs send through the control socket, each stored when it is answered", Better: Higher,
			Beside: "append and fsync of each, one at a time", Aim: new(12_000.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		h, many := r.host(), r.count(100_000, 5000)
		return readings{"socket_rate": {value: perSecond(many, r.sendBySockets(h, many)), yardstick: r.bareRate()}}
	}}
}

func claimsTrial() trial {
	return trial{measure{name: "claims", what: "hosts settle at the shared repository which of them does an agent's work", figures: []Figure{
		{Name: "claims_rate", Unit: "/s", What: "claims of an agent's work on a message, one after the other, a second", Better: Higher,
			Beside: `"git push" of one commit to a new ref of that repository, by the git program alone`},
	}}, func(r *rig) readings {
		shared := must(r.newShared(r.Context()))(r)
		home := must(r.newHome(r.Context(), 0, func(o *homes.Options) { o.Remote = shared }))(r)
		record := must(gitsync.Open(r.Context(), gitsync.Options{Dir: home.Dir, Remote: shared, Author: gitsync.Author{Name: hostName(0), Email: "bench@localhost"}}))(r)
		r.ends = append(r.ends, record.Close)
		r.git(r.dir, "init", "--quiet", "--bare", "pusher.git")
		pusher, number := r.path("pusher.git"), uint32(0)
		nothing := strings.TrimSpace(r.git(pusher, "mktree")) // the tree without anything in it
		commits := make([]string, r.count(200, 20))
		for i := range commits {
			commits[i] = strings.TrimSpace(r.git(pusher, "commit-tree", nothing, "-m", fmt.Sprint(i)))
		}
		claiming, pushing, err := inTurn(len(commits), 1, func() error {
			name := protocol.ClaimName(protocol.NewPath(protocol.DeriveChannel(record.ID(), "bench"), time.Now(), number), "echo", 0)
			mine, err := record.Claim(r.Context(), name, "bench")
			if err == nil && !mine {
				err = fmt.Errorf("cannot claim %s: another host has it, and there is none", name)
			}
			return err
		}, func() error {
			r.git(pusher, "push", "--quiet", shared, fmt.Sprintf("%s:refs/bench/%d", commits[number], number))
			number++
			return nil
		})
		r.check(err)
		return readings{"claims_rate": {value: perSecond(len(commits), sum(claiming)), yardstick: perSecond(len(commits), sum(pushing))}}
	}}
}
