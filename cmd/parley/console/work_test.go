package console

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// shown is a page, without what it sends as it is and nobody sees.
func (b *browsing) shown(t *testing.T, at string, wants ...string) string {
	t.Helper()
	page := regexp.MustCompile(`<input type="hidden"[^>]*>`).ReplaceAllString(b.page(t, at), "")
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("%s does not say %q:\n%s", at, want, page)
		}
	}
	return page
}

// ofBadIntent is a node of which every text was written by somebody with bad intent.
func (b *browsing) ofBadIntent() {
	at := clitest.Message("").Timestamp
	m := clitest.Message(hostile + "\n" + hostile)
	m.From, m.To, m.ChannelName = hostile, []string{hostile}, hostile
	waits := protocol.Waits{For: hostile}
	who := control.Participant{Name: "calc", Kind: "agent", Host: "here", Here: true, State: control.HostHere, Door: "exec", Presence: control.AgentState(hostile), Waits: &waits,
		AgentWork: control.AgentWork{Queued: 1, Dead: 1, Missing: hostile, Stalled: hostile, Failing: 1}}
	s := clitest.SomeStatus()
	s.Record.StoreError, s.Record.StoreAdvice, s.Record.CommitError, s.Record.Remote, s.Record.Trouble.Text, s.Record.Tip = hostile, hostile, hostile, hostile, hostile, hostile
	s.Version, s.Home, s.Metrics, s.Passed, s.Flags = hostile, hostile, hostile, []string{hostile}, []control.Flag{{Kind: hostile, Count: 2}}
	s.Bus.Peers = []control.LinkStatus{{Peer: hostile, Host: "white", Address: hostile, Problem: hostile}}
	s.Bus.Letter, s.Bus.Offended, s.Bus.Refused = hostile, time.Now(), []control.BusRefusal{{From: "white", Count: 1, Last: hostile, At: time.Now()}}
	s.Hosts[1].Version, s.Hosts[1].State = hostile, control.HostGit
	s.Agents[0].AgentWork = who.AgentWork
	s.Causes, s.Warned = []causes.Found{{Cause: "x", Level: causes.Red, Verdict: hostile, Reason: hostile, Command: "parley " + hostile, On: "white"}}, []string{hostile}
	clitest.On(b, control.ShowStatus.Verb, s)
	clitest.On(b, control.List, []control.Participant{who, {Name: "nat", Kind: "human", Host: "here", Here: true, Gates: 2}, {Name: "mawjs", Kind: "agent", Host: "white", State: control.HostGit, Address: hostile}})
	clitest.On(b, control.Sessions.Verb, []control.Session{{Agent: "calc", Program: hostile, Folder: hostile, State: control.AgentState(hostile), Waiting: 2, Handed: 1, Turns: 3, Ways: []control.SessionWay{control.SessionWay(hostile)}, Since: at}})
	clitest.On(b, control.ShowHost, control.Host{Alias: "white", State: control.HostLive, Hostname: hostile, Addresses: []string{hostile}, Version: hostile, Clock: control.Seconds(time.Hour),
		Keys: []control.HostKey{{Fingerprint: hostile, Revoked: at, RevokedBy: hostile}, {Fingerprint: hostile, Until: at}, {Fingerprint: hostile, Since: at}, {Fingerprint: hostile, Removed: true, RevokedBy: hostile}}, LastMessage: &control.LastMessage{Path: m.Path, Timestamp: at}})
	clitest.On(b, control.Queue, []control.Job{
		{Agent: "calc", Path: m.Path, From: hostile, State: control.JobRunning, Attempt: 2, Of: 3, Text: hostile, Since: at},
		{Agent: "calc", Path: m.Path, From: hostile, State: control.JobWaiting, Why: control.WhyRetry, Place: 1, Problem: hostile, Budget: hostile, Next: at},
		{Agent: "calc", Path: m.Path, State: control.JobWaiting, Why: control.JobWhy(hostile), Place: shownWaiting + 1}, {Agent: "calc", Path: m.Path, State: control.JobWaiting, Place: shownWaiting + 2},
	})
	clitest.On(b, control.DeadLetters, []control.DeadLetter{{Message: m, Agent: hostile, Problem: hostile, Text: hostile, Tier: hostile, Attempts: 3, Retries: 1, Time: at, Dropped: &control.RunWord{By: hostile, Reason: hostile}}, {Message: m, Agent: "calc", Host: "here", Claimed: true}})
	clitest.On(b, control.ShowAgent, control.AgentSettings{Agent: control.Agent{Name: "calc"}, Settings: []control.Setting{{Name: "exec", Value: hostile}, {Name: hostile}}})
	clitest.On(b, control.ActorProfile, control.Profile{Name: "calc", Description: hostile, Body: hostile, State: control.ProfileChanged})
	clitest.On(b, control.Search, control.SearchResult{Hits: []control.MessageHit{{Message: m}}})
	clitest.On(b, control.Humans, control.HumanList{Humans: []control.Human{{Name: "nat", Host: "here", Fingerprint: hostile, Open: true, Contested: []string{hostile}}}})
	clitest.On(b, control.Gates, control.GateList{Gates: []control.Gate{{ID: hostile, Title: hostile, By: hostile}}})
}

// Whatever others write, in whatever place, is text on the pages.
func TestTextsOfOthersAreText(t *testing.T) {
	b := letIn(t)
	b.ofBadIntent()
	for at, wants := range map[string][]string{
		"/":           {"trouble", "link: white at", "parley agent dlq list calc", "1 of them handed over", "by git", "cannot start, failing, 1 dead letter"},
		"/host/white": {"its clock is 1h ahead", "revoked", "removed", "counts", "Ask how far away it is"},
		"/who/calc":   {"parley agent profile accept calc", "Settings", "running", "attempt 2 of 3"},
		"/who/nat":    {"can decide in this name", "2 gates to decide", `href="/gates#` + shown(control.Gate{}).Anchor + `"`},
		"/work":       {"an attempt failed", "and 2 more for", "parley agent queue calc -n 0", "3 times, given up", "claimed", "Put away"},
		"/record":     {"new messages are refused: ", "what is stored stays in the journal: ", "failing since", "docs/explanation/keys.md", "parley record verify"},
	} {
		harmless(t, at, b.shown(t, at, wants...))
	}
}

// A page of a node that has nothing says what can be done about that, or that all is well.
func TestEmptyPages(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.ShowStatus.Verb, control.Status{Version: cli.Version, Host: "here", Hosts: []control.HostStatus{{Alias: "here", State: control.HostHere, Here: true, Live: true}}})
	clitest.On(b, control.ShowHost, control.Host{Alias: "here", State: control.HostOther})
	clitest.On(b, control.List, []control.Participant{{Name: "nat", Kind: "human", Host: "here"}})
	for at, wants := range map[string][]string{
		"/": {"healthy", "parley fleet invite", "parley agent add calc", "parley install"}, "/host/here": {"another program writes for it", "parley fleet probe here"},
		"/who/nat": {"Nothing yet."}, "/work": {"No agent of this host has anything to do.", "There are no dead letters."}, "/record": {"No file of the record is flagged.", "none: the record is on this host alone"},
	} {
		b.shown(t, at, wants...)
	}
}

// A page decides nothing: the node is asked exactly what was clicked, and its answer is said, with what helps.
func TestWorkIsSettledByTheNode(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.RetryDead, control.DeadLetter{Agent: "calc", Host: "white"})
	clitest.On(b, control.DropDead, control.DeadLetter{Agent: "calc"})
	clitest.On(b, control.Cancel, []control.Job{{Agent: "calc", From: "e\x1bve"}})
	clitest.On(b, control.PingHost, control.Ping{Alias: "white", RTT: control.Seconds(time.Millisecond), Version: "1", Clock: control.Seconds(-time.Minute)})
	of := []string{"message", clitest.MessagePath, "agent", "calc", "reason", "why"}
	for _, c := range []struct {
		at, said, asked string
		fields          []string
	}{
		{"/work/settle", "It is tried again by calc@white.", "retry-dead", of},
		{"/work/settle", "It is put away for calc.", "drop-dead", append([]string{"do", "drop"}, of...)},
		{"/work/cancel", "calc no longer works on it; e␛ve is told.", "cancel", of},
		{"/host/ping", "white answered in 1ms, version 1; its clock is 1m behind", "ping-host", []string{"alias", "white"}},
	} {
		b.Asked = nil
		asked := c.asked + ` {"message":"` + clitest.MessagePath + `","agent":"calc","reason":"why"}`
		if c.asked == "ping-host" {
			asked = `ping-host {"alias":"white"}`
		}
		if code, said := b.send(t, c.at, c.fields...); code != http.StatusOK || !strings.Contains(said, `"`+c.said+`"`) || len(b.Asked) != 1 || b.Asked[0] != asked {
			t.Errorf("%s: %d %s, and asks %q, want %q", c.at, code, said, b.Asked, asked)
		}
	}
	b.Failure = control.Errorf(control.KindRefused, "parley who", "cannot have a dead letter tried again: not you")
	if code, said := b.send(t, "/work/settle", of...); code != http.StatusForbidden || !strings.Contains(said, "not you") || !strings.Contains(said, "parley who") {
		t.Errorf("refused: %d %s", code, said)
	}
}
