package console

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// aMessage is a message of which all that others wrote is hostile.
func aMessage(t *testing.T) control.Message {
	t.Helper()
	path := somePath(t)
	return control.Message{
		Path: path, Channel: path.Channel(), ChannelName: hostile, From: hostile, To: []string{hostile, "nat"}, Timestamp: noon, Type: protocol.TypeText, Act: "hey",
		Re: hostile, Because: path.String(), Host: "beta", Run: "0badcafe", Seq: 7, Hops: 2, Unattended: true, Signature: protocol.SignatureUnverified, Second: hostile,
		Stage: protocol.StageHeard, Heard: []protocol.Name{"beta"}, Body: hostile + "\n\n| a | b |\n|:-:|--:|\n| [x](javascript:alert(1)) | ![y](http://x/y.png) |",
		Addressees: []control.Addressee{{Name: hostile, Woken: true, Waits: &protocol.Waits{For: protocol.WaitsForHuman, Time: noon}}, {Name: "nat"}},
	}
}

func aChannel(t *testing.T) control.Channel {
	t.Helper()
	return control.Channel{ID: somePath(t).Channel(), Name: hostile, About: hostile, CreatedBy: hostile, Members: []string{hostile}, Participants: []string{hostile, "nat"}, Messages: 1, Last: noon, Children: []protocol.ChannelID{somePath(t).Channel()}, Parent: somePath(t).Channel()}
}

func (b *browsing) hasTalk(t *testing.T) {
	t.Helper()
	m := aMessage(t)
	b.HasMail([]control.Message{m})
	b.HasMessage(m)
	clitest.On(b, control.Channels.Verb, []control.Channel{aChannel(t)})
	clitest.On(b, control.ShowChannel, aChannel(t))
	clitest.On(b, control.Thread, []control.ThreadMessage{{Message: m}, {Message: m, Depth: 40}})
	cause := causes.Found{Level: causes.Red, Verdict: hostile, Reason: hostile, Command: "parley hey x", On: "beta"}
	steps := []control.TraceStep{{Step: control.TraceFailed, Host: "beta", Text: hostile, Failure: hostile}, {Step: hostile, Depth: 3}}
	clitest.On(b, control.Why, control.Reason{Path: m.Path, From: hostile, To: m.To, Causes: []causes.Found{cause, {Verdict: hostile, Command: "parley trace x"}}, Steps: steps})
	found := control.SearchResult{Total: 9, MemoriesTotal: 1, Pending: 1, Hits: []control.MessageHit{{Message: m, Excerpt: []control.Fragment{{Text: hostile, Hit: true}}}}}
	found.Memories = []control.MemoryHit{{Memory: control.Memory{File: "20260523T190100000Z-b2c3d4e5.md", From: hostile, Subject: hostile}}}
	clitest.On(b, control.Search, found)
}

func TestPagesOfTalkShowWhatOthersWroteAndObeyNoneOfIt(t *testing.T) {
	b := letIn(t)
	b.hasTalk(t)
	path := somePath(t).String()
	for at, wants := range map[string][]string{
		"/talk":                 {"unverified", "unattended", "heard by beta", "woken", "waits for its human", "mark as read"},
		"/talk?to=mawjs%40beta": {`value="mawjs@beta"`},
		"/talk/" + somePath(t).Channel().String(): {"About this channel", "part of", `value="all"`},
		"/message/" + path:                        {"Why is there no answer?", "anyone who may push can have written it", "because of", "messages of agents in a row", "do on beta", path, "Mark as read"},
		"/why/" + path:                            {"Steps on all hosts", "given up, its sender told"},
		"/search?words=x&from=%22%3E%3Cb&since=7d&channel=" + somePath(t).Channel().String(): {"<mark>", "9 messages", "still being indexed", "parley memory show b2c3d4e5"},
	} {
		body := b.page(t, at)
		harmless(t, at, body)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", at, want)
			}
		}
	}
}

// It prevents: a list shows of a form only what each form has in its first line.
func TestAListShowsWhatAFormIsAbout(t *testing.T) {
	c := letIn(t).c
	for body, want := range map[string]string{
		"PARTY TASK | from: skills | topic: panes | timestamp: 2026-05-23T19:01:00Z\nITEM: [T1] Write the test\nREQUEST: take it": "panes · [T1] Write the test",
		"SYNC-CHECK | from: skills | collaboration: a↔b | topic: panes\nCLAIMS:\n- [P1] Define \u202escope":                       `panes · [P1] Define \u202escope`,
		"FRAME GATE | from: chair | timestamp: 2026-05-23T19:01:00Z\n\n```json\n{}\n```":                                          "Puts something that one of a party is to do on its list.",
	} {
		if got := c.said(control.Message{Act: protocol.ActTask, Body: body}); !got.Form || got.Gist != want {
			t.Errorf("%q is %q, want %q", body, got.Gist, want)
		}
	}
	if got := c.said(control.Message{Act: protocol.ActReply, Body: "It is **cold**, see `go test`\nand more"}).Gist; got != "It is cold, see go test …" {
		t.Errorf("an answer is %q", got)
	}
}

func TestPagesOfTalkWhereNothingIsSaid(t *testing.T) {
	b := letIn(t)
	for at, want := range map[string]string{
		"/talk": "Nothing waits for you.", "/talk/sprint": "Nothing is said here yet.", "/search": "All words must occur.", "/search?words=x": "Nothing was found.",
		"/search?since=nonsense": "neither a day", "/message/x": "No step of it is known here.", "/why/x": "No step",
	} {
		if body := b.page(t, at); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q", at, want)
		}
	}
}

// It prevents: a page of a channel of thousands has all of it, or the earlier ones cannot be reached.
func TestATimelineHasPages(t *testing.T) {
	b := letIn(t)
	b.hasTalk(t)
	b.By(control.Log.By(func(_ context.Context, r control.LogRequest, yield func(control.Message) error) error {
		m := aMessage(t)
		for i := range r.Last {
			p, err := protocol.ParsePath(fmt.Sprintf("%s/2026/04/16/235921%03dZ-52cd9038.md", m.Channel, i))
			if err != nil {
				return err
			}
			m.Path, m.Body = p, strings.Repeat("line\n", 500)
			if err := yield(m); err != nil {
				return err
			}
		}
		return nil
	}))
	body := b.page(t, "/talk?before=52cd9038")
	if got := strings.Count(body, `class="said"`); got != mostRows {
		t.Errorf("%d rows, want %d", got, mostRows)
	}
	if !strings.Contains(body, "before=bad0c2d7-b216-4b50-b6dc-52b4eb87951d%2f2026%2f04%2f16%2f235921001Z-52cd9038.md") {
		_, link, _ := strings.Cut(body, "before=")
		t.Errorf("the link to earlier messages is not that of the first row: %.100s", link)
	}
	if got := strings.Count(body, "the rest of the message"); got != mostRows {
		t.Errorf("%d long texts are cut, want %d", got, mostRows)
	}
}

func TestWhatIsWrittenOnAPageIsSentAsItsHumanOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []string
		want   control.SendRequest
	}{
		{"to several", []string{"to", " mawjs@beta, volt", "channel", "sprint", "text", "hello", "request", "r1", "fyi", "1"}, control.SendRequest{As: "nat", To: []string{"mawjs@beta", "volt"}, Channel: "sprint", Act: protocol.ActNote, Body: "hello", Request: "r1"}},
		{"an answer", []string{"re", "52cd9038", "text", "yes"}, control.SendRequest{As: "nat", Re: "52cd9038", Act: protocol.ActReply, Body: "yes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := letIn(t)
			var got control.SendRequest
			b.By(control.Send.By(func(_ context.Context, r control.SendRequest) (control.Message, error) {
				got = r
				return control.Message{Path: somePath(t), Stage: protocol.StageHeard, Heard: []protocol.Name{"beta"}, Unserved: []string{"volt"}}, nil
			}))
			code, body := b.send(t, "/say", test.fields...)
			if code != http.StatusOK || !strings.Contains(body, "stored · heard by beta. volt is served by no host any more") {
				t.Errorf("said %d %s", code, body)
			}
			test.want.HeardWithin = got.HeardWithin
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatCannotBeSentSaysWhy(t *testing.T) {
	b := letIn(t)
	if code, body := b.send(t, "/say", "text", "hello"); code != http.StatusBadRequest || !strings.Contains(body, "for nobody") {
		t.Errorf("to nobody: %d %s", code, body)
	}
	clitest.On(b, control.Send, control.Message{}, control.Errorf(control.KindSecret, "--mask replaces it, or --secret-ok", "cannot send: it looks like a key in line 1; nothing was stored"))
	if code, body := b.send(t, "/say", "to", "mawjs", "text", "x"); code != http.StatusForbidden || !strings.Contains(body, "nothing was stored") || !strings.Contains(body, "leave it out") {
		t.Errorf("a secret: %d %s", code, body)
	}
}

// deaf is a page that reads nothing: what is sent to it waits for its deadline, or for ever.
type deaf struct {
	http.ResponseWriter
	*testing.T
	until time.Time
}

func (d *deaf) SetWriteDeadline(at time.Time) error { d.until = at; return nil }

func (d *deaf) Write([]byte) (int, error) {
	if d.until.IsZero() {
		d.Error("it waits for ever")
	}
	return 0, os.ErrDeadlineExceeded
}

// A page is told what happens for as long as it reads. It prevents: pages that never read keep others from
// being told, and a page that is told something late is not told it.
func TestATabIsToldAsLongAsItReads(t *testing.T) {
	b := letIn(t)
	server := httptest.NewUnstartedServer(b.handler)
	server.Config.WriteTimeout = 1 // of another page
	server.Start()
	t.Cleanup(server.Close)
	b.c.places = places{server.URL}
	live := func(at string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: b.c.cookieName(), Value: b.cookie})
		return r
	}
	b.handler.ServeHTTP(&deaf{ResponseWriter: httptest.NewRecorder(), T: t}, live("/live"))
	if n := len(b.c.tabs.open); n != 0 {
		t.Errorf("%d tabs are told, and read nothing", n)
	}
	answer, err := server.Client().Do(live("/live"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); line != "data: lost\n" {
		t.Errorf("it is told %q, %v", line, err)
	}
}

func TestMailIsMarkedAsRead(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.ReadAll, control.Marked{As: "nat", Read: 3})
	if code, body := b.send(t, "/read", "path", "52cd9038"); code != http.StatusOK || !strings.Contains(body, "Marked as read.") {
		t.Errorf("one: %d %s", code, body)
	}
	if code, body := b.send(t, "/read"); code != http.StatusOK || !strings.Contains(body, "3 messages marked as read.") {
		t.Errorf("all: %d %s", code, body)
	}
	want := []string{`read {"as":"nat","path":"52cd9038"}`, `read-all {"as":"nat"}`}
	if diff := cmp.Diff(want, b.Asked); diff != "" {
		t.Error(diff)
	}
}

// However much there is, a page has a bounded part of it, and says so. It prevents: pages of many
// megabytes, for which browser, console and node spend minutes, because somebody wrote much.
func TestPagesAreBoundedAndSaySo(t *testing.T) {
	b := letIn(t)
	b.hasTalk(t)
	long := strings.Repeat("a ", 450_000)
	m := aMessage(t)
	m.Body = long
	b.HasMessage(m)
	one := aTopic(t)
	one.Items[0].Text = long
	one.Exchanges = slices.Repeat([]topic.Word{{Text: long[:9000]}}, 300)
	clitest.On(b, control.ShowTopic, one)
	clitest.On(b, control.Topics, control.TopicList{Topics: slices.Repeat([]control.Topic{aTopic(t)}, 300)})
	clitest.On(b, control.Parties, control.PartyList{Parties: slices.Repeat([]control.Party{{Name: "p"}}, 300)})
	clitest.On(b, control.Gates, control.GateList{Gates: slices.Repeat([]control.Gate{{ID: "b2c3d4e5", Title: long[:9000]}}, 300)})
	for at, says := range map[string]string{
		"/message/" + m.Path.String(): "The text goes on",
		"/topic/skills/mawjs/panes":   "and 100 more",
		"/topics":                     "and 100 more",
		"/parties":                    "and 100 more",
		"/gates":                      "and 100 more",
	} {
		if body := b.page(t, at); len(body) > 3<<20 || !strings.Contains(body, says) {
			t.Errorf("%s has %d bytes and does not say %q", at, len(body), says)
		}
	}
}
