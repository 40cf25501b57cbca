package console

import (
	"net/http"
	"slices"

	"github.com/parleyfleet/parley/node/control"
)

// page is one kind of page: its address, as a pattern of net/http, the place in the menu that it
// belongs to, its template, and the kinds of events after which it is asked for anew.
type page struct {
	at, menu, name string
	live           []control.EventKind
	// show asks the node for what stands on the page. `title` is what the page is called.
	show func(a *asking) (body any, title string)
}

// pages are all pages, by their addresses.
//
// How a page comes to be: the server has let the browser in (door.go), and finds the page by its
// address in pages. Its show asks the node for what stands there, by verbs, and returns that for the
// template of its name in page/*.html, whose functions are in words.go. The frame around it, with the
// menu, is the same for all (sheet.go). When something happens of a kind that is in `live`, the
// browser asks for the page anew, and page/app.js puts the new one in place (tabs.go tells it).
//
// To add one: a file with its value and its show, a template beside it, and a line in pages; in menu,
// if people go there by themselves. What it can have done is a line in deeds, and a form with data-send
// that posts there. A page decides nothing and has no rule: it shows what the node says, and what a
// human signs goes to the terminal by decide.
func pages() []page {
	type kinds = []control.EventKind
	talks := kinds{control.EventMessage, control.EventStage, control.EventSession}
	agrees := kinds{control.EventMessage}
	meets := kinds{control.EventMessage, control.EventHost, control.EventSession, control.EventGate}
	inquires := kinds{control.EventMessage, control.EventRun, control.EventGate}
	return []page{
		{at: "/{$}", menu: "/", name: "fleet", live: control.EventKinds(), show: showFleet},
		{at: "/host/{alias}", menu: "/", name: "host", live: kinds{control.EventHost, control.EventRun, control.EventSession, control.EventTrouble}, show: showHost},
		{at: "/who/{name}", menu: "/", name: "who", live: control.EventKinds(), show: showWho},
		{at: "/talk", menu: "/talk", name: "talk", live: talks, show: showTalk},
		{at: "/talk/{channel...}", menu: "/talk", name: "channel", live: talks, show: showChannel},
		{at: "/message/{path...}", menu: "/talk", name: "message", live: slices.Concat(talks, kinds{control.EventRun}), show: showMessage},
		{at: "/why/{path...}", menu: "/talk", name: "why", show: showWhy},
		{at: "/gates", menu: "/gates", name: "gates", live: kinds{control.EventGate}, show: showGates},
		{at: "/topics", menu: "/topics", name: "topics", live: agrees, show: showTopics},
		{at: "/topic/{me}/{with}/{topic}", menu: "/topics", name: "topic", live: agrees, show: showTopic},
		{at: "/parties", menu: "/parties", name: "parties", live: meets, show: showParties},
		{at: "/party/{id}", menu: "/parties", name: "party", live: meets, show: showParty},
		{at: "/mesh", menu: "/mesh", name: "mesh", live: meets, show: showMesh},
		{at: "/inquiries", menu: "/inquiries", name: "inquiries", live: inquires, show: showInquiries},
		{at: "/inquiry/{id}", menu: "/inquiries", name: "inquiry", live: inquires, show: showInquiry},
		{at: "/work", menu: "/work", name: "work", live: kinds{control.EventRun, control.EventMessage, control.EventTrouble}, show: showWork},
		{at: "/record", menu: "/record", name: "record", live: control.EventKinds(), show: showRecord},
		{at: "/search", menu: "/search", name: "search", show: showSearch},
	}
}

// entry is a place in the menu, with the key that leads there after g.
type entry struct {
	At, Name, Key, About string
	Here                 bool
	Count                int // what waits there
}

func menu() []entry {
	return []entry{
		{At: "/", Name: "Fleet", Key: "f", About: "hosts, agents, sessions"},
		{At: "/talk", Name: "Talk", Key: "t", About: "what is said, as it comes"},
		{At: "/gates", Name: "Gates", Key: "a", About: "what waits for you"},
		{At: "/topics", Name: "Topics", Key: "o", About: "what was agreed"},
		{At: "/parties", Name: "Parties", Key: "p", About: "who works together"},
		{At: "/mesh", Name: "Mesh", Key: "m", About: "how far they are in sync"},
		{At: "/inquiries", Name: "Inquiries", Key: "i", About: "what is investigated"},
		{At: "/work", Name: "Work", Key: "w", About: "queue, runs, dead letters"},
		{At: "/record", Name: "Record", Key: "r", About: "git, links, trouble"},
		{At: "/search", Name: "Search", Key: "s", About: "all words"},
	}
}

// deeds are what pages can have done, by their addresses.
func deeds() map[string]deed {
	return map[string]deed{
		"/leave":       leave,
		"/party/task":  addTask,
		"/host/ping":   ping,
		"/work/settle": settle,
		"/work/cancel": cancel,
		"/say":         say,
		"/read":        read,
		"/gates":       answerGate,
		"/inquiry":     answerInquiry,
	}
}

// asking is a request of a browser that was let in.
type asking struct {
	*http.Request
	c   *console
	err error // why it cannot be answered
}

// need asks the node for what a page or a deed cannot do without. After an error nothing more is asked
// by it: the answers are empty then, and whoever asked is told the error.
func need[Q, A any](a *asking, verb control.Verb[Q, A], r Q) (answer A) {
	if a.err == nil {
		answer, a.err = ask(a, verb, r)
	}
	return answer
}

// ask asks the node for what can be left out.
func ask[Q, A any](a *asking, verb control.Verb[Q, A], r Q) (A, error) {
	return verb.Ask(a.Context(), a.c.node, r)
}

// decide brings a command to the terminal. Each page says then what the terminal asks.
func (a *asking) decide(words ...string) (done, error) {
	return done{}, a.c.desk.decide(a.Context(), words...)
}

// leave takes back what the terminal asks about.
func leave(a *asking) (done, error) {
	a.c.desk.leave()
	return done{Said: "The terminal asks no longer."}, nil
}
