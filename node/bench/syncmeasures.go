package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// Sync is what "parley bench sync" measures: how soon an agent knows how far a partner is in sync.
func Sync() Suite {
	return Suite{Name: "sync", Measures: []Measure{examinedMeasure(), manyMeasure(), chatterMeasure(), silentMeasure()}}
}

// asker is the agent that asks in all measures of the suite.
const asker = "skills"

func examinedMeasure() Measure {
	const beside = "the least it takes: append and fsync, a bare NATS request across such a link, append and fsync there, the reply, and append and fsync of the answer"
	return Measure{
		Name: "examined", What: "sync-checks with an agent of another host, which its node answers", take: takeExamined,
		Figures: []Spec{
			{Name: "examined_p50", Unit: "ms", What: "from the request until the result of a mechanical examiner on another host is here: median", Better: Lower, Beside: beside, Aim: 20, AimOn: OnValue},
			{Name: "examined_p99", Unit: "ms", What: "from the request until the result of a mechanical examiner on another host is here: 99 of 100 take no longer", Better: Lower, Beside: beside},
		},
	}
}

func manyMeasure() Measure {
	return Measure{
		Name: "many", What: "one sync with 50 partners of another host", take: takeMany,
		Figures: []Spec{{Name: "many_slowest", Unit: "ms", What: "from the request until the last of 50 partners has answered, side by side: median", Better: Lower, Aim: 1000, AimOn: OnValue}},
	}
}

func chatterMeasure() Measure {
	return Measure{
		Name: "chatter", What: "sync-checks that an agent's command answers", take: takeChatter,
		Figures: []Spec{{Name: "chatter_p50", Unit: "ms", What: "from the request until the result of an agent's command is here, which has the form within chatter: median", Better: Lower, Beside: bareCommand}},
	}
}

func silentMeasure() Measure {
	return Measure{
		Name: "silent", What: "a sync with one who never answers", take: takeSilent,
		Figures: []Spec{{Name: "silent_over", Unit: "ms", What: "how much longer than it was told to a sync waits for one who never answers: median", Better: Lower}},
	}
}

// topicsWith serves partners on a host, and opens a topic with three claims with each of them.
func topicsWith(ctx context.Context, near, far *runningNode, partners []string, add control.AddAgentRequest) error {
	if _, err := control.AddAgent.Ask(ctx, near, control.AddAgentRequest{Name: asker, Inbox: true}); err != nil {
		return err
	}
	for _, name := range partners {
		add.Name = name
		if _, err := control.AddAgent.Ask(ctx, far, add); err != nil {
			return err
		}
	}
	err := until(ctx, "the other host's agents are known", 5*time.Millisecond, func() (bool, error) {
		list, err := control.List.Ask(ctx, near, control.HostsRequest{})
		return err == nil && !slices.ContainsFunc(partners, func(name string) bool {
			return !slices.ContainsFunc(list, func(p control.Participant) bool { return p.Name.String() == name })
		}), err
	})
	if err != nil {
		return err
	}
	acting := control.Acting{As: asker}
	for _, name := range partners {
		if _, err := control.OpenTopic.Ask(ctx, near, control.OpenTopicRequest{Acting: acting, With: name, Topic: "bench"}); err != nil {
			return err
		}
		for _, text := range []string{"Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", "Pane titles include team tag"} {
			if _, err := control.DoInTopic.Ask(ctx, near, control.TopicDeedRequest{Acting: acting, With: name, Topic: "bench", Deed: "agree", Text: text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncOnce is how long it takes until all partners that were asked have answered, or are known to
// be silent.
func syncOnce(ctx context.Context, n control.Service, want, wait string, many int) (time.Duration, error) {
	within := patience
	if wait != "" {
		var err error
		if within, err = time.ParseDuration(wait); err != nil {
			return 0, err
		}
	}
	got := 0
	began := time.Now()
	err := control.Sync.Ask(ctx, n, control.SyncRequest{Acting: control.Acting{As: asker}, Wait: within}, func(e control.SyncEvent) error {
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
	return time.Since(began), err
}

func takeExamined(ctx context.Context, s *stand) (_ readings, err error) {
	pair, err := s.startHosts(ctx, wantedHosts{size: 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	if err := topicsWith(ctx, pair.nodes[0], pair.nodes[1], []string{"mawjs"}, control.AddAgentRequest{Inbox: true, Examiner: "mechanical"}); err != nil {
		return nil, err
	}
	h := &hop{stand: s, there: make(chan time.Time, 1), random: rand.New(rand.NewPCG(7, 0))}
	if err := h.openBare(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	like, err := s.lettersOfADay(ctx, "bench", 1)
	if err != nil {
		return nil, err
	}
	client := control.NewClient(pair.nodes[0].home.Socket(), version)
	if _, err := syncOnce(ctx, client, control.SyncResult, "", 1); err != nil { // the first one is not like the others
		return nil, err
	}
	var took, least []time.Duration
	for many := s.count(500, 40); len(took) < many; {
		s.progress("asking one by one", len(took), many)
		one, err := syncOnce(ctx, client, control.SyncResult, "", 1)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
		if one, err = h.askedAndAnswered(ctx, like[0].Data); err != nil {
			return nil, err
		}
		least = append(least, one)
	}
	return besideEachOther("examined", took, least), nil
}

// askedAndAnswered does what a check and its result need, only with the disk and NATS.
func (h *hop) askedAndAnswered(ctx context.Context, data []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	began := time.Now()
	if err := h.disks[0].append(data); err != nil {
		return 0, err
	}
	if _, err := h.link.hub.RequestWithContext(ctx, natsSubject, data); err != nil { // it is appended there before it is answered
		return 0, fmt.Errorf("cannot ask over bare NATS: %w", err)
	}
	<-h.there
	if err := h.disks[0].append(data); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

func takeMany(ctx context.Context, s *stand) (_ readings, err error) {
	pair, err := s.startHosts(ctx, wantedHosts{size: 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	var partners []string
	for i := range 50 {
		partners = append(partners, fmt.Sprintf("partner%d", i))
	}
	if err := topicsWith(ctx, pair.nodes[0], pair.nodes[1], partners, control.AddAgentRequest{Inbox: true, Examiner: "mechanical"}); err != nil {
		return nil, err
	}
	took, err := s.syncMany(ctx, pair.nodes[0], control.SyncResult, "", len(partners), s.count(20, 3))
	return readings{"many_slowest": {value: milliseconds(percentile(took, 50))}}, err
}

func takeChatter(ctx context.Context, s *stand) (_ readings, err error) {
	answer := s.path("answer.txt")
	text := "Sure, let me look!\n\nSYNC-RESULT | from: mawjs\nSCORES:\n- [A1] SCORE: 100% | ACCEPT | EVIDENCE: notes.md:3\n\nHope that helps.\n"
	if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write an answer: %w", err)
	}
	n, err := startNode(ctx, s.path("chatter"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	if err := topicsWith(ctx, n, n, []string{"mawjs"}, control.AddAgentRequest{Exec: "cat " + answer}); err != nil {
		return nil, err
	}
	took, err := s.syncMany(ctx, n, control.SyncResult, "", 1, s.count(200, 20))
	if err != nil {
		return nil, err
	}
	var alone []time.Duration
	for range took {
		began := time.Now()
		if err := runAlone(ctx); err != nil {
			return nil, err
		}
		alone = append(alone, time.Since(began))
	}
	return readings{"chatter_p50": {value: milliseconds(percentile(took, 50)), yardstick: milliseconds(percentile(alone, 50))}}, nil
}

func takeSilent(ctx context.Context, s *stand) (_ readings, err error) {
	n, err := startNode(ctx, s.path("silent"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	if err := topicsWith(ctx, n, n, []string{"mawjs"}, control.AddAgentRequest{Inbox: true}); err != nil {
		return nil, err
	}
	const told = 50 * time.Millisecond
	took, err := s.syncMany(ctx, n, control.SyncTimeout, told.String(), 1, s.count(50, 10))
	return readings{"silent_over": {value: milliseconds(percentile(took, 50) - told)}}, err
}

// syncMany makes syncs one after the other.
func (s *stand) syncMany(ctx context.Context, n *runningNode, want, wait string, partners, many int) (took []time.Duration, err error) {
	client := control.NewClient(n.home.Socket(), version)
	for len(took) < many {
		s.progress("asking", len(took), many)
		one, err := syncOnce(ctx, client, want, wait, partners)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	return took, nil
}
