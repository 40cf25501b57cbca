package console

import (
	"github.com/parleyfleet/parley/node/control"
)

// pages are all pages, by their addresses.
func pages() []page {
	return []page{
		{at: "/talk", menu: "/talk", name: "talk", live: messageEvents(), show: showTalk},
		{at: "/talk/{channel...}", menu: "/talk", name: "channel", live: messageEvents(), show: showChannel},
		{at: "/message/{path...}", menu: "/talk", name: "message", live: append(messageEvents(), control.EventRun), show: showMessage},
		{at: "/why/{path...}", menu: "/talk", name: "why", show: showWhy},
		{at: "/search", menu: "/search", name: "search", show: showSearch},
		{at: "/{$}", menu: "/", name: "fleet", live: control.EventKinds(), show: showFleet},
		{at: "/topics", menu: "/topics", name: "topics", live: []control.EventKind{control.EventMessage}, show: showTopics},
		{at: "/topic/{me}/{with}/{topic}", menu: "/topics", name: "topic", live: []control.EventKind{control.EventMessage}, show: showTopic},
		{at: "/parties", menu: "/parties", name: "parties", live: partyKinds, show: showParties},
		{at: "/party/{id}", menu: "/parties", name: "party", live: partyKinds, show: showParty},
		{at: "/mesh", menu: "/mesh", name: "mesh", live: partyKinds, show: showMesh},
		{at: "/host/{alias}", menu: "/", name: "host", live: []control.EventKind{control.EventHost, control.EventRun, control.EventSession, control.EventTrouble}, show: showHost},
		{at: "/who/{name}", menu: "/", name: "who", live: control.EventKinds(), show: showWho},
		{at: "/work", menu: "/work", name: "work", live: []control.EventKind{control.EventRun, control.EventMessage, control.EventTrouble}, show: showWork},
		{at: "/record", menu: "/record", name: "record", live: control.EventKinds(), show: showRecord},
		{at: "/gates", menu: "/gates", name: "gates", live: []control.EventKind{control.EventGate}, show: showGates},
		{at: "/inquiries", menu: "/inquiries", name: "inquiries", live: inquiring, show: showInquiries},
		{at: "/inquiry/{id}", menu: "/inquiries", name: "inquiry", live: inquiring, show: showInquiry},
	}
}

// inquiring are the events after which an inquiry may stand otherwise.
var inquiring = []control.EventKind{control.EventMessage, control.EventRun, control.EventGate}

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

// leave takes back what the terminal asks about.
func leave(a *asking) (done, error) {
	a.c.desk.leave()
	return done{Said: "The terminal asks no longer."}, nil
}
