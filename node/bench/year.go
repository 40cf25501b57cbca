package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

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
	say func(a *author, at time.Time) (gitsync.MessageFile, error)
}

const (
	yearDays   = 365
	agreements = 10 // agreements of each topic
)

func partnerName(i int) string { return fmt.Sprintf("partner%d", i) }

// newYear is a year with that many messages. The last one is of now.
func newYear(topics, partners, messages int) *year {
	y := &year{topics: topics, partners: partners, began: time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -yearDays)}
	for i := range topics {
		y.topic(i)
	}
	for i := len(y.written); i < messages; i++ { // the remaining messages are talk, over the whole year
		two := [2]string{asker, partnerName(i % partners)}
		if i/partners%2 == 1 {
			two[0], two[1] = two[1], two[0]
		}
		y.add(yearDays*24*time.Hour/time.Duration(messages)*time.Duration(i), func(a *author, at time.Time) (gitsync.MessageFile, error) {
			return a.sign(protocol.Message{
				From: two[0], To: []protocol.Address{{Name: two[1]}}, Act: protocol.ActHey, Body: text(a.random),
			}, protocol.DeriveChannel(a.record, two[0], two[1]), at)
		})
	}
	slices.SortStableFunc(y.written, func(a, b entry) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	return y
}

func (y *year) add(after time.Duration, say func(a *author, at time.Time) (gitsync.MessageFile, error)) {
	y.written = append(y.written, entry{y.began.Add(after), say})
}

// topic adds the deeds of one topic. The first one is opened at the beginning of the year,
// the last one two months before its end.
func (y *year) topic(i int) {
	const day = 24 * time.Hour
	name, partner := fmt.Sprintf("topic %d", i), partnerName(i%y.partners)
	opened := time.Duration(i)*(yearDays-60)*day/time.Duration(y.topics) + time.Duration(i)*time.Second
	deed := func(after time.Duration, from string, act protocol.Act, re, path *protocol.Path, body func(protocol.FormHead) string) {
		y.add(opened+after, func(a *author, at time.Time) (gitsync.MessageFile, error) {
			to := asker
			if from == asker {
				to = partner
			}
			slug, err := protocol.SlugOf(name)
			if err != nil {
				return gitsync.MessageFile{}, err
			}
			channel := protocol.TopicChannel(a.record, asker, partner, slug)
			m := protocol.Message{
				From: from, To: []protocol.Address{{Name: to}}, Act: act,
				Body: protocol.NormalBody(body(protocol.FormHead{From: from, At: at.Truncate(time.Millisecond)})),
			}
			if re != nil {
				m.Re = protocol.Refer(channel, *re)
			}
			l, err := a.sign(m, channel, at)
			if path != nil {
				*path = l.Path
			}
			return l, err
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
				r.Rows = append(r.Rows, protocol.SyncRow{
					Claim: item, Score: protocol.NewScore(1 - float64((n+week)%4)/10), Decision: protocol.DecisionAccept, Evidence: "notes.md:3",
				})
			}
			return protocol.AnswerSync.Format(r)
		})
	}
}

// write is the i-th message of the year.
func (y *year) write(a *author, i int) (gitsync.MessageFile, error) {
	return y.written[i].say(a, y.written[i].at)
}
