package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// topicsPage is what agents work on with each other, two by two.
type topicsPage struct {
	Query      string
	All        int
	Open, Over []topicRow
}

// topicRow is a topic in the list, as the one sees it who opened it.
type topicRow struct {
	control.Topic
	Hosts  map[string]string // where the two are served
	Agreed int
	Due    []due
}

func showTopics(a *asking) (any, string) {
	list, hosts := need(a, control.Topics, control.TopicsRequest{Fleet: true, Closed: true, Items: true}), hostsOf(a)
	p := topicsPage{Query: a.FormValue("q"), All: len(list.Topics)}
	for _, t := range list.Topics {
		row := topicRow{Topic: t, Hosts: hosts, Due: dueIn(t), Agreed: each.Count(t.Items, func(it control.TopicItem) bool { return it.Agreed })}
		switch {
		case !fits(p.Query, t.Name, t.Me, t.With, t.Anchor):
		case len(t.Closed) < 2:
			p.Open = append(p.Open, row)
		default:
			p.Over = append(p.Over, row)
		}
	}
	return p, "Topics"
}

// hostsOf are hosts that serve the participants of the fleet, by their names.
func hostsOf(a *asking) map[string]string {
	hosts := map[string]string{}
	for _, one := range need(a, control.List, control.HostsRequest{}) {
		if hosts[one.Name.String()] == "" || one.Here {
			hosts[one.Name.String()] = one.Host.String()
		}
	}
	return hosts
}

// due is something that somebody has not said yet, or has put off.
type due struct {
	State       string // what it is, in a word
	Who         string
	Label, Text string // of the item; "" if it is about none
	Until       time.Time
	Reason      string
	Path        protocol.Path // the message that asks; zero for none
}

// dueIn is what is due in a topic. What nobody answered in time is unknown, and no refusal (R25).
func dueIn(t control.Topic) (list []due) {
	for _, it := range t.Items {
		d := due{Label: it.Label.String(), Text: it.Text, Path: it.Path}
		for _, s := range it.Stands {
			d.State, d.Who, d.Until, d.Reason = phase(s.Phase), s.Who, s.AnswerBy, s.Reason
			switch s.Phase {
			case topic.Deferred:
				d.Until = s.Until
			case topic.TimedOut:
				d.Until = s.TimeoutAt
			case topic.Pending:
			default:
				continue
			}
			list = append(list, d)
		}
		for _, v := range it.Validations {
			if v.Answer.IsZero() {
				list = append(list, due{State: "validate", Who: v.Of, Label: d.Label, Text: it.Text, Until: v.AnswerBy, Path: v.Path})
			}
		}
	}
	for i, c := range t.Checks {
		later := func(other control.TopicCheck) bool { return other.By == c.By && !other.Answer.IsZero() }
		if !c.Answer.IsZero() || slices.ContainsFunc(t.Checks[i+1:], later) {
			continue
		}
		d := due{State: "sync", Who: c.Of, Until: c.AnswerBy, Path: c.Path}
		if !c.Prose.IsZero() {
			d.State, d.Path = "answered in prose", c.Prose
		} else if c.TimedOut {
			d.State = "timed out"
		}
		list = append(list, d)
	}
	if n := len(t.Checkpoints); n > 0 && t.Checkpoints[n-1].State == "pending" {
		cp := t.Checkpoints[n-1]
		other := t.Me
		if cp.By == t.Me {
			other = t.With
		}
		list = append(list, due{State: "checkpoint", Who: other, Text: cp.Summary, Path: cp.Path})
	}
	for _, join := range t.Joins {
		list = append(list, due{State: "asks to take part", Who: join.By, Text: join.Text, Path: join.Path})
	}
	return list
}

// phase is where somebody stands on an agreement, in a word that stands alone.
func phase(p topic.Phase) string {
	words := map[topic.Phase]string{topic.Accepted: "accepted", topic.Rejected: "rejected", topic.Deferred: "deferred", topic.TimedOut: "timed out"}
	return cmp.Or(words[p], string(p))
}

// topicPage is one topic, with the scores that each of the two gave to the other.
type topicPage struct {
	control.Topic
	Hosts   map[string]string
	Due     []due
	Sides   [2]topicSide
	Command string
}

// topicSide is how far one of the two is in sync, as the other one asked.
type topicSide struct {
	control.Topic
	HalfLife string
	Resync   bool
	History  *history
}

// Is are the items of one sort.
func (p topicPage) Is(sort topic.Sort) []control.TopicItem {
	return each.Only(p.Items, func(it control.TopicItem) bool { return it.Sort == sort })
}

// Phase is where somebody stands.
func (topicPage) Phase(s topic.Stand) string { return phase(s.Phase) }

// Latest are the sync-checks, the last one first.
func (p topicPage) Latest() []control.TopicCheck {
	checks := slices.Clone(p.Checks)
	slices.Reverse(checks)
	return checks
}

func showTopic(a *asking) (any, string) {
	me, with, name := a.PathValue("me"), a.PathValue("with"), a.PathValue("topic")
	p := topicPage{Hosts: hostsOf(a)}
	for i, pair := range [2][2]string{{me, with}, {with, me}} {
		t := need(a, control.ShowTopic, control.TopicRequest{Viewing: control.Viewing{For: pair[0]}, With: pair[1], Topic: name})
		p.Sides[i] = topicSide{Topic: t, Resync: t.Decayed.Below(topic.Resync), History: historyOf(t, a.c.now())}
		if hours := t.HalfLife(); hours > 0 {
			p.Sides[i].HalfLife = fmt.Sprintf("%.1f h", hours)
		}
	}
	p.Topic = p.Sides[0].Topic
	p.Due = dueIn(p.Topic)
	p.Command = command([]string{"work-with", p.With, p.Slug.String(), "--via", p.Me})
	return p, p.Name
}

// history draws the scores that were given on a topic, and what the last one was worth from then on.
type history struct {
	Dots       []dot
	Line, Fade string
	Said       string
}

type dot struct{ X, Y string }

// The measures of a history.
const historyWide, historyHigh, historyEdge = 320.0, 72.0, 7.0

// historyOf is the history of the scores that the other one gave; nil if there are none.
func historyOf(t control.Topic, now time.Time) *history {
	var scored []control.TopicCheck
	for _, c := range t.Checks {
		if _, ok := c.Raw.Value(); ok && c.Of == t.With && !c.Answer.IsZero() {
			scored = append(scored, c)
		}
	}
	if len(scored) == 0 {
		return nil
	}
	first, last := scored[0].Answered, scored[len(scored)-1]
	span := max(now.Sub(first), time.Minute)
	at := func(when time.Time, score protocol.Score) dot {
		worth, _ := score.Value()
		x := historyEdge + (historyWide-2*historyEdge)*min(1, max(0, float64(when.Sub(first))/float64(span)))
		return dot{fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", historyEdge+(historyHigh-2*historyEdge)*(1-worth))}
	}
	var h history
	var line, fade, said []string
	for _, c := range scored {
		d := at(c.Answered, c.Raw)
		h.Dots, line, said = append(h.Dots, d), append(line, d.X+","+d.Y), append(said, c.Raw.Percent())
	}
	const steps = 24
	for i := range steps + 1 {
		when := last.Answered.Add(now.Sub(last.Answered) * time.Duration(i) / steps)
		d := at(when, t.Worth(last.Raw, last.Answered, when))
		fade = append(fade, d.X+","+d.Y)
	}
	h.Line, h.Fade = strings.Join(line, " "), strings.Join(fade, " ")
	h.Said = visible.Line(fmt.Sprintf("scores given: %s; the last one is worth %s now", strings.Join(said, ", "), t.Decayed.Percent()))
	return &h
}
