package bench

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/node/control"
)

// asker is the agent that asks in all measures of syncs and topics.
const asker = "skills"

func examinedTrial() trial {
	const (
		what   = "from the request until the result of a mechanical examiner on another host is here: "
		beside = "the least it takes: append and fsync, a bare NATS request across such a link, append and fsync there, the reply, and append and fsync of the answer"
	)
	return trial{measure{name: "examined", what: "sync-checks with an agent of another host, which its node answers", figures: []Figure{
		{Name: "examined_p50", Unit: "ms", What: what + "median", Better: Lower, Beside: beside, Aim: new(20.0), AimOn: OnValue},
		{Name: "examined_p99", Unit: "ms", What: what + "99 of 100 take no longer", Better: Lower, Beside: beside},
	}}, func(r *rig) readings {
		near := r.examined([]string{"mawjs"})
		here, there := must(r.openBare("here"))(r), must(r.openBare("there"))(r)
		link := must(r.openLinks(r.Context(), 1, func(_ int, m *nats.Msg) {
			if appendTo(there) == nil { // otherwise the one who asks waits in vain, and says so
				_ = m.Respond(nil)
			}
		}))(r)
		r.check(r.sync(near, control.SyncResult, patience, 1)) // the first one is not like the others
		took, least, err := inTurn(r.count(500, 40), 1, func() error { return r.sync(near, control.SyncResult, patience, 1) }, func() error {
			err := appendTo(here)
			if err == nil {
				_, err = link.ask("message")
			}
			return errors.Join(err, appendTo(here))
		})
		r.check(err)
		return both("examined", took, least)
	}}
}

func manyTrial() trial {
	return trial{measure{name: "many", what: "one sync with 50 partners of another host", figures: []Figure{
		{Name: "many_slowest", Unit: "ms", What: "from the request until the last of 50 partners has answered, side by side: median", Better: Lower,
			Aim: new(1000.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		var partners []string
		for i := range 50 {
			partners = append(partners, partnerName(i))
		}
		near := r.examined(partners)
		took := r.timesOf(r.count(20, 3), func() error { return r.sync(near, control.SyncResult, patience, len(partners)) })
		return readings{"many_slowest": beside(took, nil, 50)}
	}}
}

func chatterTrial() trial {
	return trial{measure{name: "chatter", what: "sync-checks that an agent's command answers", figures: []Figure{
		{Name: "chatter_p50", Unit: "ms", What: "from the request until the result of an agent's command is here, which has the form within chatter: median", Better: Lower,
			Beside: bareCommand},
	}}, func(r *rig) readings {
		text := "Sure, let me look!\n\nSYNC-RESULT | from: mawjs\nSCORES:\n- [A1] SCORE: 100% | ACCEPT | EVIDENCE: notes.md:3\n\nHope that helps.\n"
		r.check(os.WriteFile(r.path("answer.txt"), []byte(text), 0o600))
		h := r.host()
		r.topicsWith(h, h, []string{"mawjs"}, control.AddAgentRequest{Exec: "cat " + r.path("answer.txt")})
		took := r.timesOf(r.count(200, 20), func() error { return r.sync(h, control.SyncResult, patience, 1) })
		return readings{"chatter_p50": beside(took, r.timesOf(len(took), func() error { return runAlone(r.Context()) }), 50)}
	}}
}

func silentTrial() trial {
	return trial{measure{name: "silent", what: "a sync with one who never answers", figures: []Figure{
		{Name: "silent_over", Unit: "ms", What: "how much longer than it was told to a sync waits for one who never answers: median", Better: Lower},
	}}, func(r *rig) readings {
		const told = 50 * time.Millisecond
		h := r.host()
		r.topicsWith(h, h, []string{"mawjs"}, control.AddAgentRequest{Inbox: true})
		took := r.timesOf(r.count(50, 10), func() error { return r.sync(h, control.SyncTimeout, told, 1) })
		return readings{"silent_over": {value: milliseconds(percentile(took, 50) - told)}}
	}}
}

// examined runs two hosts: the first one's agent has a topic with partners of the other one, whose
// node answers for them.
func (r *rig) examined(partners []string) *host {
	near, far, err := r.pair(r.Context())
	r.check(err)
	r.topicsWith(near, far, partners, control.AddAgentRequest{Inbox: true, Settings: control.Given{"examiner": {"mechanical"}}})
	return near
}

// topicsWith serves partners on a host, and opens a topic with two claims with each of them.
func (r *rig) topicsWith(near, far *host, partners []string, add control.AddAgentRequest) {
	must(control.AddAgent.Ask(r.Context(), near, control.AddAgentRequest{Name: asker, Inbox: true}))(r)
	for _, add.Name = range partners {
		must(control.AddAgent.Ask(r.Context(), far, add))(r)
	}
	r.until("the other host's agents are known", 5*time.Millisecond, func() bool {
		list := must(control.List.Ask(r.Context(), near, control.HostsRequest{}))(r)
		return !slices.ContainsFunc(partners, func(name string) bool {
			return !slices.ContainsFunc(list, func(p control.Participant) bool { return p.Name.String() == name })
		})
	})
	acting := control.Acting{As: asker}
	for _, name := range partners {
		must(control.OpenTopic.Ask(r.Context(), near, control.OpenTopicRequest{Acting: acting, With: name, Topic: "bench"}))(r)
		for _, text := range []string{"Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", "Pane titles include team tag"} {
			must(control.DoInTopic.Ask(r.Context(), near, control.TopicDeedRequest{Acting: acting, With: name, Topic: "bench", Deed: "agree", Text: text}))(r)
		}
	}
}

// sync asks all partners, and waits until they have answered or are known to be silent.
func (r *rig) sync(h *host, want string, within time.Duration, many int) error {
	got := 0
	err := control.Sync.Ask(r.Context(), h.client, control.SyncRequest{Acting: control.Acting{As: asker}, Wait: within}, func(e control.SyncEvent) error {
		switch e.Kind {
		case want:
			got++
		case control.SyncSent:
		default:
			return fmt.Errorf("a sync told %s of %s: %s", e.Kind, e.With, e.Problem)
		}
		return nil
	})
	if err == nil && got != many {
		err = fmt.Errorf("%d of %d were told %s", got, many, want)
	}
	return err
}
