package console

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// visitor is a browser that was let in, and the recorder that answers in place of a node.
type visitor struct {
	*testing.T
	*clitest.Run
	handler        http.Handler
	cookie, secret string
}

func aVisitor(t *testing.T) *visitor {
	t.Helper()
	r := clitest.New(t, func(*cli.Program) *cobra.Command { return &cobra.Command{} })
	c := &console{p: r.Program, node: &r.Recorder, places: places{origin}}
	c.desk.changed = func() {}
	h, err := c.handler()
	if err != nil {
		t.Fatal(err)
	}
	cookie, secret, err := c.door.enter(c.door.link())
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, r, h, c.cookieName() + "=" + cookie, secret}
}

// get asks for a page, and wants it shown without markup or hidden signs of others.
func (v *visitor) get(at string) string {
	v.Helper()
	r := httptest.NewRequest(http.MethodGet, origin+at, nil)
	r.Header.Set("Cookie", v.cookie)
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	page := regexp.MustCompile(`<input type="hidden"[^>]*>`).ReplaceAllString(w.Body.String(), "") // nobody sees it, and it is sent as it is
	if w.Code != http.StatusOK {
		v.Errorf("%s: %d %s", at, w.Code, page)
	}
	if found := regexp.MustCompile(`(?i)<img|<script>|<b>evil|[\x{202e}\x1b]|<\w+(?:\s+[\w-]+(?:="[^"]*")?)*\s+(?:on[a-z]+|style)=|href="javascript`).FindString(page[strings.Index(page, "<main"):]); found != "" {
		v.Errorf("%s lets through %q:\n%s", at, found, page)
	}
	return page
}

// do has something done, and returns what is said of it.
func (v *visitor) do(at string, form map[string]string) (is struct{ Said, Error, Hint string }) {
	v.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for name, value := range form {
		_ = m.WriteField(name, value)
	}
	_ = m.Close()
	r := httptest.NewRequest(http.MethodPost, origin+at, &body)
	r.Header = http.Header{"Cookie": {v.cookie}, "Origin": {origin}, secretHeader: {v.secret}, "Content-Type": {m.FormDataContentType()}}
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil {
		v.Errorf("%s: %d %s", at, w.Code, w.Body)
	}
	return is
}

const (
	origin = "http://127.0.0.1:1"
	evil   = "<b>evil</b> \"'><img src=x onerror=alert(1)> \u202egnp.exe\x1b[2J"
)

// hostile is a node of which every text was written by somebody with bad intent.
func (v *visitor) hostile() {
	at := clitest.Message("").Timestamp
	m := clitest.Message(evil + "\n<script>alert(1)</script>" + strings.Repeat("long", 2000))
	m.From, m.To, m.ChannelName = evil, []string{evil}, evil
	waits := protocol.Waits{For: evil}
	who := control.Participant{Name: "calc", Kind: "agent", Host: "here", Here: true, State: control.HostHere, Door: "exec", Presence: evil, Waits: &waits,
		AgentWork: control.AgentWork{Queued: 1, Dead: 1, Missing: evil, Stalled: evil, Failing: 1}}
	s := clitest.SomeStatus()
	s.Record.StoreError, s.Record.StoreAdvice, s.Record.CommitError, s.Record.Remote, s.Record.Trouble.Text, s.Record.Tip = evil, evil, evil, evil, evil, evil
	s.Version, s.Home, s.Metrics, s.Passed, s.Flags = evil, evil, evil, []string{evil}, []control.Flag{{Kind: evil, Count: 2}}
	s.Bus.Peers = []control.LinkStatus{{Peer: evil, Host: "white", Address: evil, Problem: evil}}
	s.Bus.Letter, s.Bus.Offended, s.Bus.Refused = evil, time.Now(), []control.BusRefusal{{From: "white", Count: 1, Last: evil, At: time.Now()}}
	s.Hosts[1].Version, s.Hosts[1].State = evil, control.HostGit
	s.Agents[0].AgentWork = who.AgentWork
	s.Causes, s.Warned = []causes.Found{{Cause: "x", Level: causes.Red, Verdict: evil, Reason: evil, Command: "parley " + evil, On: "white"}}, []string{evil}
	clitest.On(v, control.ShowStatus.Verb, s)
	clitest.On(v, control.List, []control.Participant{who, {Name: "nat", Kind: "human", Host: "here", Here: true, Gates: 2}, {Name: "mawjs", Kind: "agent", Host: "white", State: control.HostGit, Address: evil}})
	clitest.On(v, control.Sessions.Verb, []control.Session{{Agent: "calc", Program: evil, Folder: evil, State: evil, Waiting: 2, Handed: 1, Turns: 3, Ways: []control.SessionWay{evil}, Since: at}})
	clitest.On(v, control.ShowHost, control.Host{Alias: "white", State: control.HostLive, Hostname: evil, Addresses: []string{evil}, Version: evil, Clock: control.Seconds(time.Hour),
		Keys: []control.HostKey{{Fingerprint: evil, Revoked: at, RevokedBy: evil}, {Fingerprint: evil, Until: at}, {Fingerprint: evil, Since: at}, {Fingerprint: evil, Removed: true, RevokedBy: evil}}, LastMessage: &control.LastMessage{Path: m.Path, Timestamp: at}})
	clitest.On(v, control.Queue, []control.Job{
		{Agent: "calc", Path: m.Path, From: evil, State: control.JobRunning, Attempt: 2, Of: 3, Text: evil, Since: at},
		{Agent: "calc", Path: m.Path, From: evil, State: control.JobWaiting, Why: control.WhyRetry, Place: 1, Problem: evil, Budget: evil, Next: at},
		{Agent: "calc", Path: m.Path, State: control.JobWaiting, Why: evil, Place: shownWaiting + 1}, {Agent: "calc", Path: m.Path, State: control.JobWaiting, Place: shownWaiting + 2},
	})
	clitest.On(v, control.DeadLetters, []control.DeadLetter{{Message: m, Agent: evil, Problem: evil, Text: evil, Tier: evil, Attempts: 3, Retries: 1, Time: at, Dropped: &control.RunWord{By: evil, Reason: evil}}, {Message: m, Agent: "calc", Host: "here", Claimed: true}})
	clitest.On(v, control.ShowAgent, control.AgentSettings{Agent: control.Agent{Name: "calc"}, Settings: []control.Setting{{Name: "exec", Value: evil}, {Name: evil}}})
	clitest.On(v, control.ActorProfile, control.Profile{Name: "calc", Description: evil, Body: evil + "\n\n<script>x</script> [x](javascript:alert(1))", State: control.ProfileChanged})
	clitest.On(v, control.Search, control.SearchResult{Hits: []control.MessageHit{{Message: m}}})
	clitest.On(v, control.Humans, control.HumanList{Humans: []control.Human{{Name: "nat", Host: "here", Fingerprint: evil, Open: true, Contested: []string{evil}}}})
	clitest.On(v, control.Gates, control.GateList{Gates: []control.Gate{{ID: evil, Title: evil, By: evil}}})
}

// Whatever others write, in whatever place, is text on the pages.
func TestTextsOfOthersAreText(t *testing.T) {
	v := aVisitor(t)
	v.hostile()
	for at, wants := range map[string][]string{
		"/":           {"trouble", "link: white at", "parley agent dlq list calc", "1 of them handed over", "by git", "cannot start, failing, 1 dead letter"},
		"/host/white": {"its clock is 1h ahead", "revoked", "removed", "counts", "Ask how far away it is"},
		"/who/calc":   {"parley agent profile accept calc", "Settings", "running", "tried 2 of 3"},
		"/who/nat":    {"can decide in this name", "2 gates to decide"},
		"/work":       {"an attempt failed", "and 2 more for", "parley agent queue calc -n 0", "3 times, given up", "claimed", "Put away"},
		"/record":     {"new messages are refused: ", "what is stored stays in the journal: ", "failing since", "docs/explanation/keys.md", "parley record verify"},
	} {
		page := v.get(at)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not say %q:\n%s", at, want, page)
			}
		}
	}
}

// A page of a node that has nothing says what can be done about that, or that all is well.
func TestEmptyPages(t *testing.T) {
	v := aVisitor(t)
	clitest.On(v, control.ShowStatus.Verb, control.Status{Version: cli.Version, Host: "here", Hosts: []control.HostStatus{{Alias: "here", State: control.HostHere, Here: true, Live: true}}})
	clitest.On(v, control.ShowHost, control.Host{Alias: "here", State: control.HostOther})
	clitest.On(v, control.List, []control.Participant{{Name: "nat", Kind: "human", Host: "here"}})
	for at, wants := range map[string][]string{
		"/": {"healthy", "parley fleet invite", "parley agent add calc", "parley install"}, "/host/here": {"another program writes for it", "parley fleet probe here"},
		"/who/nat": {"Nothing yet."}, "/work": {"No agent of this host has anything to do.", "There are no dead letters."}, "/record": {"No file of the record is flagged.", "none: the record is on this host alone"},
	} {
		page := v.get(at)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not say %q:\n%s", at, want, page)
			}
		}
	}
}

// A page decides nothing: the node is asked exactly what was clicked, and its answer is said, with what helps.
func TestWorkIsSettledByTheNode(t *testing.T) {
	v := aVisitor(t)
	letter := map[string]string{"message": clitest.MessagePath, "agent": "calc", "reason": "a <b>"}
	asked := func(at string, form map[string]string, said, question string) {
		t.Helper()
		v.Asked = nil
		if is := v.do(at, form); is.Said != said || len(v.Asked) != 1 || v.Asked[0] != question {
			t.Errorf("%s says %+v and asks %q", at, is, v.Asked)
		}
	}
	clitest.On(v, control.RetryDead, control.DeadLetter{Agent: "calc", Host: "white"})
	clitest.On(v, control.DropDead, control.DeadLetter{Agent: "calc"})
	clitest.On(v, control.Cancel, []control.Job{{Agent: "calc", From: "e\x1bve"}})
	clitest.On(v, control.PingHost, control.Ping{Alias: "white", RTT: control.Seconds(time.Millisecond), Version: "1", Clock: control.Seconds(-time.Minute)})
	same := `{"message":"` + clitest.MessagePath + `","agent":"calc","reason":"a \u003cb\u003e"}`
	asked("/work/settle", letter, "It is tried again by calc@white.", "retry-dead "+same)
	asked("/work/cancel", letter, "calc no longer works on it; e␛ve is told.", "cancel "+same)
	asked("/host/ping", map[string]string{"alias": "white"}, "white answered in 1ms, version 1; its clock is 1m behind", `ping-host {"alias":"white"}`)
	letter["do"] = "drop"
	asked("/work/settle", letter, "It is put away for calc.", "drop-dead "+same)
	v.Failure = control.Errorf(control.KindRefused, "parley who", "cannot have a dead letter tried again: not you")
	if is := v.do("/work/settle", letter); is.Error != "cannot have a dead letter tried again: not you" || is.Hint != "parley who" || is.Said != "" {
		t.Errorf("refused: %+v", is)
	}
}
