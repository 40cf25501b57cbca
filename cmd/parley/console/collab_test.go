package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var noon = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

// browsing is a browser that was let in to a console before a recorder.
type browsing struct {
	clitest.Recorder
	handler        http.Handler
	cookie, secret string
	c              *console
}

func letIn(t *testing.T) *browsing {
	t.Helper()
	b := &browsing{}
	p := cli.New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" })
	p.Zone, p.Now = time.UTC, func() time.Time { return noon }
	b.c = &console{p: p, node: &b.Recorder, places: places{"http://127.0.0.1:7400"}}
	var err error
	if b.handler, err = b.c.handler(); err != nil {
		t.Fatal(err)
	}
	if b.cookie, b.secret, err = b.c.door.enter(b.c.door.link()); err != nil {
		t.Fatal(err)
	}
	b.By(control.Whoami.By(func(context.Context) (control.Self, error) { return control.Self{Host: "alpha", Human: "nat"}, nil }))
	return b
}

// page is what a page has.
func (b *browsing) page(t *testing.T, at string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:7400"+at, nil)
	code, body := b.answer(r)
	if code != http.StatusOK {
		t.Errorf("%s: %d\n%s", at, code, body)
	}
	return body
}

func (b *browsing) answer(r *http.Request) (int, string) {
	r.AddCookie(&http.Cookie{Name: b.c.cookieName(), Value: b.cookie})
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// send sends a form.
func (b *browsing) send(t *testing.T, at string, fields ...string) (int, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:7400"+at, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Origin", "http://127.0.0.1:7400")
	r.Header.Set(secretHeader, b.secret)
	return b.answer(r)
}

// hostile is what somebody could write wherever others write.
var hostile = `"><script>alert(1)</script><b onclick='x'>` + "\u202e" + strings.Repeat("long", 200)

// harmless fails if a page has taken words of others for its own.
func harmless(t *testing.T, at, body string) {
	t.Helper()
	for _, bad := range []string{"<script>alert", "<b onclick", "\u202e", " style=", "ZgotmplZ", "%!", "&lt;no value"} {
		if strings.Contains(body, bad) {
			t.Errorf("%s has %q", at, bad)
		}
	}
	if !strings.Contains(body, "alert(1)") {
		t.Errorf("%s does not show what was written", at)
	}
}

func label(t *testing.T, text string) protocol.Label {
	t.Helper()
	l, err := protocol.ParseLabel(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func somePath(t *testing.T) protocol.Path {
	t.Helper()
	p, err := protocol.ParsePath("bad0c2d7-b216-4b50-b6dc-52b4eb87951d/2026/04/16/235921367Z-52cd9038.md")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// aTopic is a topic with one of everything, all of it hostile.
func aTopic(t *testing.T) control.Topic {
	at, path := noon.Add(-2*time.Hour), somePath(t)
	word := topic.Word{By: hostile, Time: at, Text: hostile, Path: path}
	check := topic.Check{Path: path, By: "skills", Of: "mawjs", Time: at}
	return control.Topic{
		Head: topic.Head{Name: hostile, Slug: "panes", Since: at, Anchor: hostile, Closed: []topic.Word{word}, Joins: []topic.Word{word}},
		Me:   "skills", With: "mawjs", Channel: path.Channel(), AnchorURL: "javascript:alert(1)", OpenedBy: hostile, Terms: 2,
		Raw: protocol.NewScore(0.9), Decayed: protocol.NewScore(0.4), Colour: topic.Gray, Lambda: topic.Lambda{Value: 0.1}, LastSync: at, Sparkline: []float64{0.5, 0.4},
		Items: []control.TopicItem{
			{Item: topic.Item{Label: label(t, "A1"), Path: path, Sort: topic.Agreement, By: hostile, Time: at, Stands: []topic.Stand{
				{Who: hostile, Phase: topic.Deferred, Path: path, Decided: at, Reason: hostile, Until: noon.Add(time.Hour)}, {Who: "mawjs", Phase: topic.TimedOut, TimeoutAt: at},
			}, Validations: []*topic.Validation{{Path: path, By: hostile, Of: "skills", Time: at}}}, Text: hostile, Earlier: []topic.Word{word}},
			{Item: topic.Item{Label: label(t, "P1"), Path: path, Sort: topic.Question, By: hostile, Time: at, Resolved: &word}, Text: hostile},
			{Item: topic.Item{Label: label(t, "T1"), Path: path, Sort: topic.Lesson, By: hostile, Time: at}, Text: hostile},
			{Item: topic.Item{Label: label(t, "D1"), Path: path, Sort: topic.Dissent, By: hostile, Time: at}, Text: hostile},
		},
		Checks: []control.TopicCheck{
			{Check: check, Answer: path, Answered: at, Raw: protocol.NewScore(0.9), Rows: []topic.Row{{ClaimOf: topic.ClaimOf{ItemRef: protocol.ItemRef{Label: label(t, "P1"), Text: hostile}}, Evidence: hostile, Flag: topic.NoEvidence}}},
			{Check: topic.Check{Path: path, By: "mawjs", Of: "skills", Time: at, TimedOut: true}},
		},
		Checkpoints: []control.TopicCheckpoint{{Checkpoint: topic.Checkpoint{Path: path, By: "skills", Time: at, Summary: hostile, Verdicts: []topic.Verdict{{Word: word, Act: "amendment"}}}, State: "pending"}},
		Exchanges:   []topic.Word{word}, Void: []control.TopicVoid{{Word: word, Act: "accept", Why: hostile}},
	}
}

// Whatever stands in a topic is shown as it is: words of others are no markup, and no address of
// theirs is followed but that of an issue.
func TestTopicsOfHostileWords(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.Topics, control.TopicList{Topics: []control.Topic{aTopic(t)}})
	clitest.On(b, control.ShowTopic, aTopic(t))
	harmless(t, "/topics", b.page(t, "/topics"))
	body := b.page(t, "/topic/skills/mawjs/panes")
	if strings.ReplaceAll(body, `href="#ZgotmplZ"`, "") == body {
		t.Error("an address of an issue that is a script was not taken out")
	}
	harmless(t, "/topic", strings.ReplaceAll(body, `href="#ZgotmplZ"`, ""))
	for _, shown := range []string{"deferred", "timed out", "validate", "which is no refusal", "40%", "asks to take part", "no evidence", "half in 6.9 h", "A sync would help", "scores given: 90%; the last one is worth 40% now"} {
		if !strings.Contains(body, shown) {
			t.Errorf("the topic does not say %q", shown)
		}
	}
	if list := b.page(t, "/topics?q=NOTHING+of+it"); !strings.Contains(list, "No topic has") {
		t.Error("a filter that nothing fits shows something")
	}
}

// An answer of either is asked for: the page shows how each of the two sees the other one.
func TestTopicAsksForBothSides(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.ShowTopic, aTopic(t))
	b.page(t, "/topic/skills/a%2Fb/panes")
	want := []string{`topic {"for":"skills","with":"a/b","topic":"panes"}`, `topic {"for":"a/b","with":"skills","topic":"panes"}`}
	if diff := cmp.Diff(want, b.Asked[:2]); diff != "" {
		t.Error(diff)
	}
}

// aParty is a party with one of everything, all of it hostile.
func aParty(t *testing.T) control.Party {
	at, path := noon.Add(-2*time.Hour), somePath(t)
	member := party.Member{Name: "skills", Host: "alpha", Joined: at, Note: hostile}
	taker := protocol.Address{Name: hostile, Host: "beta"}
	return control.Party{
		Name: hostile, Slug: "panes", Short: "panes", Channel: path.Channel(), State: "active", Host: "alpha", Leader: "nat", Via: "skills", Team: hostile, Anchor: hostile, AnchorURL: "https://example.org",
		Rules: protocol.DefaultPartyRules(), Created: at, LastActivity: at, Synced: 1, Mean: protocol.NewScore(0.1), SyncDue: true,
		Members: []control.PartyMember{
			{Member: member, Status: "active", Role: "initiator", Trust: topic.TrustHigh},
			{Member: party.Member{Name: "mawjs", Host: "beta"}, Status: "dormant", Role: "member", Raw: protocol.NewScore(0.9), Decayed: protocol.NewScore(0.1), Colour: topic.Gray, Stale: true, Resync: true, Sparkline: []float64{0.1}},
		},
		Gates: []control.Gate{
			{ID: "g", Title: hostile, By: hostile, Host: "alpha", Here: true, Outcome: party.Pending, Time: at, NoKey: true, Path: path.String()},
			{ID: "h", Title: hostile, Outcome: party.Declined, DecidedBy: hostile, Decided: at, Reason: hostile, Path: path.String()},
		},
		Proposals: []control.PartyProposal{
			{Proposal: party.Proposal{Label: label(t, "A1"), Path: path, Text: hostile, By: hostile, Time: at, Mode: "all", Voters: []protocol.Address{taker}}, Outcome: party.Pending},
			{Proposal: party.Proposal{Label: label(t, "A2"), Path: path, Text: hostile, By: hostile, Time: at, Votes: []party.Vote{{Who: taker, Reason: hostile, Time: at}}}, Outcome: party.Declined},
		},
		Tasks: []control.PartyTask{
			{Task: party.Task{Label: label(t, "T1"), Path: path, Text: hostile, Taker: taker, Until: noon}, State: "taken"},
			{Task: party.Task{Label: label(t, "T2"), Path: path, Text: hostile, Taker: taker}, State: "done", Outcome: hostile, Done: at},
		},
		Leases: []*party.Lease{{Path: path, Holder: taker, Things: []string{hostile}, Fence: 7, Until: noon, Reason: hostile}},
		Left:   []party.Departure{{Member: member, Time: at, By: hostile, Reason: hostile, Removed: true, Path: path}},
		Void:   []control.TopicVoid{{Word: topic.Word{By: hostile, Time: at, Path: path}, Act: "invite", Why: hostile}},
	}
}

// The same holds for parties, which are filtered by what stands in them.
func TestPartiesOfHostileWords(t *testing.T) {
	b := letIn(t)
	clitest.On(b, control.Parties, control.PartyList{Parties: []control.Party{aParty(t)}})
	clitest.On(b, control.ShowParty, aParty(t))
	harmless(t, "/parties", b.page(t, "/parties?q=MAWJS%40beta"))
	body := b.page(t, "/party/panes")
	harmless(t, "/party", body)
	for _, shown := range []string{"stale", "the leader's to decide", "A sync is due", "who has no key yet", `href="/gates"`, "fence 7", "removed", "needs all; waits for", `value="skills"`, "accept threshold"} {
		if !strings.Contains(body, shown) {
			t.Errorf("the party does not say %q", shown)
		}
	}
	if list := b.page(t, "/parties?q=nowhere"); !strings.Contains(list, "No party has") {
		t.Error("a filter that nothing fits shows something")
	}
}

// Where there is nothing, a page says by which command something begins.
func TestEmptyPagesSayWhatToDo(t *testing.T) {
	b := letIn(t)
	for at, try := range map[string]string{"/topics": "parley work-with", "/parties": "parley party organize", "/mesh": "parley party organize"} {
		if body := b.page(t, at); !strings.Contains(body, try) {
			t.Errorf("%s does not say %s", at, try)
		}
	}
}

// A task is put on the list in the name of the member that was chosen; the node says whether it may be.
func TestAddTask(t *testing.T) {
	b := letIn(t)
	is := aParty(t)
	clitest.On(b, control.DoInParty, control.PartyDeed{Party: is})
	code, said := b.send(t, "/party/task", "party", "panes", "as", "skills", "text", "Draw it")
	if code != http.StatusOK || !strings.Contains(said, "T2 is on the list.") {
		t.Errorf("%d %s", code, said)
	}
	if want := `party-deed {"as":"skills","party":"panes","deed":"party-task","text":"Draw it"}`; b.Asked[len(b.Asked)-1] != want {
		t.Errorf("asked %s", b.Asked)
	}
	clitest.On(b, control.DoInParty, control.PartyDeed{}, control.Errorf(control.KindRefused, "ask it", "skills is no member"))
	if code, said := b.send(t, "/party/task", "as", "skills", "text", "Draw it"); code != http.StatusForbidden || !strings.Contains(said, "no member") || !strings.Contains(said, "ask it") {
		t.Errorf("%d %s", code, said)
	}
}

// Work-with W115, W137, W141: the drawing and its table show the same: scores, their colours, and
// both directions; a line leads to its party.
func TestMeshPage(t *testing.T) {
	b := letIn(t)
	edge := func(from, to, direction string, decayed float64, colour topic.Colour) control.MeshEdge {
		return control.MeshEdge{ID: "c/" + hostile + direction, Source: from, Target: to, Data: control.MeshEdgeData{
			Direction: direction, Channel: somePath(t).Channel(), Topic: hostile, Synced: true, Raw: 0.9, Decayed: decayed, Colour: colour, Opacity: 0.5, LastSync: noon.Add(-time.Hour), Observer: from, Sparkline: []float64{0.9, decayed},
		}}
	}
	m := control.Mesh{
		Nodes: []control.MeshNode{{ID: "skills", Label: "skills", Type: "agent", Data: control.MeshNodeData{Node: "alpha"}}, {ID: hostile, Label: hostile, Type: "agent", Data: control.MeshNodeData{Node: "beta"}}},
		Edges: []control.MeshEdge{edge("skills", hostile, "forward", 0.84, topic.Amber), edge(hostile, "skills", "back", 0.55, topic.Cyan), edge("skills", "skills", "forward", 1, topic.Green)},
		Time:  noon,
	}
	b.By(control.ShowMesh.By(func(_ context.Context, _ control.MeshRequest, yield func(control.Mesh) error) error { return yield(m) }))
	body := b.page(t, "/mesh")
	harmless(t, "/mesh", body)
	for shown, times := range map[string]int{`class="edge" href="/party/bad0c2d7-b216-4b50-b6dc-52b4eb87951d"`: 2, `class="badge worth warn">84%`: 1, `class="badge worth cyan">55%`: 1, `href="/who/skills@alpha"`: 3, `<svg class="spark"`: 2} {
		if got := strings.Count(body, shown); got != times {
			t.Errorf("%q stands %d times, want %d", shown, got, times)
		}
	}
}

// The page of a drawing has its style in a file: it prevents a drawing without colours, since a page
// may have no style of its own.
func TestStyleHasThatOfDrawings(t *testing.T) {
	all, at, err := static()
	if err != nil {
		t.Fatal(err)
	}
	if css := string(all[at["style.css"]]); !strings.Contains(css, ".mesh{text{") || !strings.Contains(css, ".amber{stroke:") {
		t.Error("the style of drawings is not in it")
	}
}

// A history stays in its picture: also with one score, of now, or of a clock that is ahead.
func TestHistory(t *testing.T) {
	of := aTopic(t)
	for _, ago := range []time.Duration{0, time.Hour, 10000 * time.Hour, -time.Hour} {
		of.Checks[0].Answered = noon.Add(-ago)
		h := historyOf(of, noon)
		for _, point := range strings.Fields(h.Line + " " + h.Fade) {
			var x, y float64
			if _, err := fmt.Sscanf(point, "%f,%f", &x, &y); err != nil || x < 0 || x > historyWide || y < 0 || y > historyHigh {
				t.Errorf("%s: %s is not in the picture, %v", ago, point, err)
			}
		}
	}
	of.Checks = of.Checks[1:]
	if h := historyOf(of, noon); h != nil {
		t.Errorf("without scores there is a history: %+v", h)
	}
}
