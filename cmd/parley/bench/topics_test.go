package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

func yearTrial() trial {
	const (
		of   = ", of 500 topics with 50 partners, in a record of 200,000 messages"
		read = `"git archive", which reads every message once`
	)
	figure := func(name, what string, aim float64) Figure {
		return Figure{Name: name, Unit: "ms", What: what + of, Better: Lower, Beside: read, Aim: &aim, AimOn: OnValue}
	}
	return trial{measure{name: "year", what: "what an agent works on with others is asked for after a year", figures: []Figure{
		figure("year_first", "the first list after a start, asked as soon as the node answers", 500),
		figure("year_rested", "the same, asked a second after the start or later, when the node rests", 500),
		figure("year_list", "an agent's list (work-with --list): median", 100),
		figure("year_relation", "the view of one relationship (work-with PARTNER): median", 100),
		figure("year_fleet", "who works with whom (work-with --fleet-status): median", 100),
		{Name: "year_before", Unit: "MiB", What: "anonymous memory of the node at rest, before it was asked" + of, Better: Lower, Beside: "the messages' own bytes"},
		{Name: "year_after", Unit: "MiB", What: "the same after all those questions: topics stay folded", Better: Lower, Beside: "the messages' own bytes"},
	}}, func(r *rig) readings {
		y := newYear(r.count(500, 20), r.count(50, 5), r.count(200_000, 2000))
		home := must(r.newHome(r.Context(), 0, func(o *homes.Options) { o.Now = func() time.Time { return y.began } }))(r)
		size := r.fill(home, len(y.written), func(a *author, i int) gitsync.MessageFile { return y.written[i].say(a, y.written[i].at) })
		archiving := []time.Duration{r.archive(home)}
		names := []string{asker}
		for i := range y.partners {
			names = append(names, partnerName(i))
		}
		r.serveOnce(home, names)
		taken := readings{}
		took, _, _ := r.askYear(home, true)
		for name, times := range took {
			taken[name] = beside(times, archiving, 50)
		}
		took, before, after := r.askYear(home, false)
		taken["year_rested"] = beside(took["year_first"], archiving, 50)
		if after > 0 {
			taken["year_before"], taken["year_after"] = reading{value: before, yardstick: size}, reading{value: after, yardstick: size}
		}
		return taken.in(r.less("of %d topics with %d partners, in %d messages only", y.topics, y.partners, len(y.written)))
	}}
}

// serveOnce has the host of a home serve agents, and completes its cache.
func (r *rig) serveOnce(home configs.Home, agents []string) {
	h := must(r.runHost(r.Context(), home, zerolog.Nop()))(r)
	for _, name := range agents {
		must(control.AddAgent.Ask(r.Context(), h, control.AddAgentRequest{Name: name, Inbox: true}))(r)
	}
	r.rest(h)
	r.check(h.stop())
}

// serving starts a node as a process of its own, and waits until it answers.
func (r *rig) serving(home configs.Home) *process {
	p := r.startParley(home)
	r.awaitAnswer(func() error {
		_, err := control.ShowStatus.Ask(r.Context(), p)
		return err
	})
	return p
}

// askYear starts a node as a process of its own, asks it, at once or when it rests, and ends it.
// `before` and `after` are its anonymous memory in MiB.
func (r *rig) askYear(home configs.Home, atOnce bool) (took map[string][]time.Duration, before, after float64) {
	p := r.serving(home)
	if !atOnce {
		r.rest(p)
	}
	viewing := control.Viewing{For: asker}
	list := func() error {
		list, err := control.Topics.Ask(r.Context(), p, control.TopicsRequest{Viewing: viewing})
		if err == nil && (len(list.Topics) == 0 || list.Topics[0].Raw == (protocol.Score{})) {
			err = fmt.Errorf("the list has %d topics, and no score", len(list.Topics))
		}
		return err
	}
	before = memoryOf(p.pid, "RssAnon")
	took = map[string][]time.Duration{
		"year_first": r.timesOf(1, list),
		"year_list":  r.timesOf(r.count(30, 5), list),
		"year_relation": r.timesOf(r.count(30, 5), func() error {
			_, err := control.ShowRelation.Ask(r.Context(), p, control.RelationRequest{Viewing: viewing, With: partnerName(1)})
			return err
		}),
		"year_fleet": r.timesOf(r.count(30, 5), func() error {
			_, err := control.Topics.Ask(r.Context(), p, control.TopicsRequest{Fleet: true})
			return err
		}),
	}
	after = memoryOf(p.pid, "RssAnon")
	p.stop()
	return took, before, after
}

// year is what one agent and its partners write in a year: topics with agreements and a weekly
// sync-check, and talk in between.
type year struct {
	topics, partners int
	began            time.Time
	written          []entry // in the order of time
}

// entry is a message of the year. What it says may depend on those before it.
type entry struct {
	at  time.Time
	say func(a *author, at time.Time) gitsync.MessageFile
}

const (
	yearDays   = 365
	day        = 24 * time.Hour
	agreements = 10 // of each topic
)

func partnerName(i int) string { return fmt.Sprintf("partner%d", i) }

// newYear is a year with that many messages. The last one is of now.
func newYear(topics, partners, messages int) *year {
	y := &year{topics: topics, partners: partners, began: time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -yearDays)}
	for i := range topics {
		y.topic(i)
	}
	for i := len(y.written); i < messages; i++ { // the remaining messages are talk, over the whole year
		from, to := asker, partnerName(i%partners)
		if i/partners%2 == 1 {
			from, to = to, from
		}
		y.add(yearDays*day/time.Duration(messages)*time.Duration(i), func(a *author, at time.Time) gitsync.MessageFile { return a.write(from, to, at) })
	}
	slices.SortStableFunc(y.written, func(a, b entry) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	return y
}

func (y *year) add(after time.Duration, say func(a *author, at time.Time) gitsync.MessageFile) {
	y.written = append(y.written, entry{y.began.Add(after), say})
}

// topic adds the deeds of one topic. The first one is opened at the beginning of the year,
// the last one two months before its end.
func (y *year) topic(i int) {
	name, partner := fmt.Sprintf("topic %d", i), partnerName(i%y.partners)
	opened := time.Duration(i)*(yearDays-60)*day/time.Duration(y.topics) + time.Duration(i)*time.Second
	deed := func(after time.Duration, from string, act protocol.Act, re, path *protocol.Path, body func(protocol.FormHead) string) {
		to := asker
		if from == asker {
			to = partner
		}
		y.add(opened+after, func(a *author, at time.Time) gitsync.MessageFile {
			head := protocol.FormHead{From: from, At: at.Truncate(time.Millisecond)}
			return a.deed(name, asker, partner, protocol.Message{From: from, To: []protocol.Address{{Name: to}}, Act: act, Body: body(head)}, re, path, at)
		})
	}
	deed(0, asker, protocol.ActTopic, nil, nil, func(h protocol.FormHead) string {
		h.With, h.Topic = partner, name
		return protocol.OpenTopic.Format(protocol.Opening{FormHead: h})
	})
	var items []protocol.ItemRef
	for n := range agreements {
		item, agreed := protocol.ItemRef{Label: protocol.Label(fmt.Sprintf("A%d", n+1)), Text: fmt.Sprintf("Heartbeat key %d of topic %d is PROGRESS", n, i)}, new(protocol.Path)
		items = append(items, item)
		deed(time.Duration(n+1)*time.Minute, asker, protocol.ActAgree, nil, agreed, func(h protocol.FormHead) string {
			return protocol.Agree.Format(protocol.Proposal{FormHead: h, Item: item})
		})
		deed(time.Duration(n+1)*time.Hour, partner, protocol.ActAccept, agreed, nil, func(h protocol.FormHead) string {
			return protocol.Accept.Format(protocol.Acceptance{FormHead: h, Item: item})
		})
	}
	for week := 1; opened+time.Duration(week)*7*day < yearDays*day; week++ {
		after, check := time.Duration(week)*7*day-day, new(protocol.Path)
		deed(after, asker, protocol.ActSyncCheck, nil, check, func(h protocol.FormHead) string {
			c := protocol.SyncCheck{FormHead: h}
			for _, item := range items {
				c.Claims = append(c.Claims, protocol.Claim{ItemRef: item})
			}
			return protocol.CheckSync.Format(c)
		})
		deed(after+time.Hour, partner, protocol.ActSyncResult, check, nil, func(h protocol.FormHead) string {
			r := protocol.SyncResult{FormHead: h}
			for n, item := range items {
				r.Rows = append(r.Rows, scored(item, 1-float64((n+week)%4)/10))
			}
			return protocol.AnswerSync.Format(r)
		})
	}
}

func scored(item protocol.ItemRef, score float64) protocol.SyncRow {
	return protocol.SyncRow{Claim: item, Score: protocol.NewScore(score), Decision: protocol.DecisionAccept, Evidence: "notes.md:3"}
}

// deed writes a message in a topic of two agents. It may answer `re`, and notes its own path.
func (a *author) deed(topic, one, other string, m protocol.Message, re, path *protocol.Path, at time.Time) gitsync.MessageFile {
	channel := protocol.TopicChannel(a.record, one, other, must(protocol.SlugOf(topic))(a.rig))
	if re != nil {
		m.Re = protocol.Refer(channel, *re)
	}
	l := a.sign(m, channel, at)
	if path != nil {
		*path = l.Path
	}
	return l
}
