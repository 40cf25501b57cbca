package feed

import (
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// MaxMessages and MaxEvents bound how much may wait for a follower that does not keep up.
const (
	MaxMessages = 100_000
	MaxEvents   = 10_000
)

// Events tell what happens on a node. Any part may report something, whatever locks it holds:
// reporting waits for nobody, and reads no state.
type Events struct {
	now   func() time.Time
	feeds Feeds[Happening]

	mu    sync.Mutex        // guards wrong
	wrong map[string]string // what is wrong now, by subject
}

// Happening is an event as it is reported here. Of a message it has only the path, so that the
// follower can look up what to say about it.
type Happening struct {
	control.Event
	Came protocol.Path // of EventMessage
}

// NewEvents makes Events whose times are from the clock `now`.
func NewEvents(now func() time.Time) *Events {
	return &Events{now: now, wrong: map[string]string{}}
}

// MakesMail reports whether a message of an act may make other messages mail that were none: it is a
// word of a host, or a word that work is to be done anew or elsewhere.
func MakesMail(a protocol.Act) bool {
	return a.HostWord() || a == protocol.ActRunRetry || a == protocol.ActRunClaim
}

// Follow begins a feed of the events that are wanted, like Feeds.Follow.
func (es *Events) Follow(wants func(Happening) bool) *Feed[Happening] {
	return es.feeds.Follow(MaxEvents, wants)
}

// Followed reports whether anybody follows.
func (es *Events) Followed() bool { return es.feeds.Followed() }

// Came reports a message or receipt that has entered the state.
func (es *Events) Came(p protocol.Path) {
	if es.Followed() {
		es.tellOf(p, control.Event{Kind: control.EventMessage})
	}
}

// Reached reports messages that have reached a stage, by the host `by` or, if that is "", by nobody
// in particular.
func (es *Events) Reached(paths []protocol.Path, stage protocol.Stage, by protocol.Name) {
	if !es.Followed() {
		return
	}
	for _, p := range paths {
		es.tell(control.Event{Kind: control.EventStage, Stage: &control.StageChange{Path: p, Stage: stage, By: by.String()}})
	}
}

// Session tells of a session of an agent program on a host: it was rung, waits, or goes on.
func (es *Events) Session(host, agent protocol.Name, change string) {
	es.tell(control.Event{Kind: control.EventSession, Session: &control.SessionChange{Change: change, Agent: agent, Host: host}})
}

// Run tells of a run that started or ended.
func (es *Events) Run(r control.RunChange) {
	es.tell(control.Event{Kind: control.EventRun, Run: &r})
}

// Host tells of another host that came or went.
func (es *Events) Host(host protocol.Name, change string) {
	es.tell(control.Event{Kind: control.EventHost, Host: &control.HostChange{Host: host, Change: change}})
}

// Happened reports a trouble that has no end.
func (es *Events) Happened(text string) { es.trouble(control.TroubleHappened, text) }

// Wrong reports what is wrong about a subject. "" says that nothing is wrong any more. It reports
// only news.
func (es *Events) Wrong(about, text string) {
	es.mu.Lock()
	defer es.mu.Unlock()
	was := es.wrong[about]
	if was == text {
		return
	}
	delete(es.wrong, about)
	if was != "" {
		es.trouble(control.TroubleEnded, was)
	}
	if text != "" {
		es.wrong[about] = text
		es.trouble(control.TroubleBegan, text)
	}
}

func (es *Events) trouble(change, text string) {
	es.tell(control.Event{Kind: control.EventTrouble, Trouble: &control.TroubleChange{Change: change, Text: text}})
}

func (es *Events) tell(e control.Event) { es.tellOf(protocol.Path{}, e) }

func (es *Events) tellOf(came protocol.Path, e control.Event) {
	e.Time = es.now().UTC()
	es.feeds.Add(Happening{e, came})
}
