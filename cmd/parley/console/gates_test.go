package console

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// evil is a text that a careless page obeys, or is broken by.
var evil = `</pre><script>alert(1)</script>"'><img src=x onerror=a()>` + "\u202egone\x1b[2J" + strings.Repeat("w", 300)

// wantTame fails if a page has markup of others, or signs that nobody sees.
func wantTame(x *try, path, page string) {
	x.Helper()
	for _, no := range []string{"<script>", "<img src=x", "\u202e", "\x1b", `href="javascript`, "style=", "onerror=a()>"} {
		if strings.Contains(strings.ReplaceAll(page, "&#39;&gt;&lt;img src=x onerror=a()&gt;", ""), no) {
			x.Errorf("%s has %q", path, no)
		}
	}
	if !strings.Contains(page, "alert(1)") {
		x.Errorf("%s does not show the text", path)
	}
}

// asksEvil is an inquiry of which every text is hostile.
func asksEvil(x *try) control.Frame {
	x.Helper()
	m := clitest.Message("")
	w := protocol.InquiryGate{Gate: protocol.GatePerspectives, Questions: []protocol.InquiryQuestion{{ID: "perspectives", Multi: true, Options: []protocol.InquiryOption{{Key: "Cost, and more", About: "what it costs"}, {Key: "a=b"}}}}}
	w.InquiryWords = protocol.InquiryWords{FormHead: protocol.FormHead{From: "chair", At: m.Timestamp}, Epoch: 1}
	w.Set = protocol.InquirySet(w.Gate, w.Questions)
	asks := &protocol.Message{Path: m.Path, From: "chair", To: []protocol.Address{{Name: "nat"}}, Timestamp: m.Timestamp, Type: protocol.TypeText, Act: protocol.ActFrameGate, Host: "white", Body: protocol.AskInquiry.Format(w)}
	data, err := protocol.Encode(asks)
	if err != nil {
		x.Fatal(err)
	}
	return control.Frame{
		ID: "adfe0356", Channel: m.Channel, Path: m.Path.String(), Question: evil, StateText: evil, By: evil, Coordinator: evil, Deciders: []string{evil}, In: evil, Trouble: evil, Helps: "parley frame resume", Mine: true, Began: m.Timestamp,
		Gate:    &control.FrameGate{Path: m.Path.String(), Hash: protocol.Hash(data), Gate: w.Gate, Set: w.Set, Questions: w.Questions, Proposal: evil, Perspective: evil, Cost: evil, Contested: true, Said: []control.FrameAnswer{{By: evil, Text: evil, Chosen: []protocol.InquiryChoice{{Options: []string{evil}}}}}, Asker: protocol.Asker{Agent: evil, Host: "white", Claims: evil}, File: base64.StdEncoding.EncodeToString(data)},
		Members: []control.FrameMember{{Perspective: evil, Agent: evil, State: "failed", Problem: evil, Degraded: evil, Attempt: 2, Started: m.Timestamp}}, Brief: protocol.InquiryBrief{Intent: evil, Deliverable: evil, Scope: evil},
		Chosen: []string{evil}, FrameOutcome: control.FrameOutcome{Synthesis: "# " + evil + "\n\n|a|b|\n|:-|-:|\n|1|2|\n\n[x](javascript:alert(1))", Remarks: []string{evil}},
	}
}

// It prevents: a text of others that becomes markup or draws over what a human is asked, and a page
// that does not stand empty lists.
func TestPagesOfGatesAndInquiries(t *testing.T) {
	x := newTry(t)
	_, nat := x.enter(x.c.door.link())
	get := func(path string) string {
		t.Helper()
		w := x.ask(http.MethodGet, path, "", nat)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	clitest.On(x, control.Gates, control.GateList{Human: "nat"})
	for path, want := range map[string]string{"/gates": "Nothing waits for nat", "/inquiries": "No inquiry goes on"} {
		if page := get(path); !strings.Contains(page, want) {
			t.Errorf("%s, empty: %s", path, page)
		}
	}
	at := clitest.Message("").Timestamp
	gate := control.Gate{
		ID: evil, Path: clitest.MessagePath, For: "invite", Party: evil, Title: evil, Shown: evil + "\n" + evil, Reason: evil, DecidedBy: evil, Outcome: "deferred", Host: "white", Here: true, NoKey: true, Whom: evil,
		Deciders: []protocol.Name{protocol.Name(evil)}, Asker: protocol.Asker{Agent: evil, Human: evil, Host: "white", Claims: evil, Namesakes: []string{evil}}, Time: at, Until: at.Add(time.Hour), AnswerBy: at,
	}
	clitest.On(x, control.Gates, control.GateList{Human: protocol.Name(evil), HasKey: true, Gates: []control.Gate{gate}})
	f := asksEvil(x)
	clitest.On(x, control.Frames, control.FrameList{Frames: []control.Frame{f}})
	clitest.On(x, control.ShowFrame, f)
	clitest.On(x, control.DescribeFrame, control.FrameDocument{Frame: f, Context: evil, Agreements: []protocol.InquiryAgreement{{Point: evil, Strength: evil}}, Basis: []protocol.InquiryBasis{{Claim: evil}}, Inputs: []string{evil}})
	for _, path := range []string{"/gates", "/inquiries", "/inquiry/adfe0356"} {
		wantTame(x, path, get(path))
	}
}

// What is clicked is brought to the terminal as one command, whatever its words are. It prevents: a
// reason that becomes a flag, a perspective with a comma that becomes two, and an answer to a gate that
// is another one than the page has shown, and a reason so long that nobody sees what is decided.
func TestWhatIsClickedBecomesACommand(t *testing.T) {
	x := newPhone(t, t.TempDir())
	b := x.paired()
	gate := control.Gate{ID: "b2c3d4e5", Path: clitest.MessagePath, Outcome: "pending"}
	clitest.On(x, control.Gates, control.GateList{Human: "nat", Gates: []control.Gate{gate}})
	f := asksEvil(x.try)
	clitest.On(x, control.ShowFrame, f)
	click := func(path string, fields ...string) string {
		t.Helper()
		x.offers() // the terminal asks nothing
		body, kind := form(x.try, fields...)
		w := x.ask(http.MethodPost, path, body, b, x.there, func(r *http.Request) { r.Header.Set("Content-Type", kind) })
		return w.Body.String()
	}
	bears := []string{"gate", gate.Path, "seen", sum(gate), "act"}
	for _, c := range []struct {
		path   string
		fields []string
		want   string // what the terminal shows; or what the page is told
	}{
		{"/gates", append(bears, "accept", "reason", "never kept"), "parley gates accept b2c3d4e5\n"},
		{"/gates", append(bears, "reject", "reason", " --yes --key $HOME "), "parley gates reject b2c3d4e5 --reason '--yes --key $HOME'\n"},
		{"/gates", append(bears, "defer", "until", ""), "parley gates defer b2c3d4e5 --until 1d\n"},
		{"/gates", append(bears, "reject", "reason", strings.Repeat("a long one ", 90_000)), "out of sight"},
		{"/gates", append(bears, "defer", "until", "soon"), "cannot put it off"},
		{"/gates", append(bears, "key"), "a gate is accepted, rejected or deferred"},
		{"/gates", []string{"gate", gate.Path, "seen", sum(control.Gate{}), "act", "accept"}, "the gate has changed since"},
		{"/inquiry", []string{"inquiry", "adfe0356", "seen", "x"}, "the gate has changed since"},
		{"/inquiry", []string{"inquiry", "adfe0356", "seen", sum(f.Gate), "choose.perspectives", ""}, "parley frame answer adfe0356 --choose 'perspectives='\n"},
		{"/inquiry", []string{"inquiry", "adfe0356", "seen", sum(f.Gate), "choose.perspectives", "Cost, and more", "choose.perspectives", "a=b", "text", "Law\r\nWork"}, "parley frame answer adfe0356 --choose 'Cost, and more' --choose 'perspectives=a=b' --text 'Law␊Work'\n"},
	} {
		answer := click(c.path, c.fields...)
		x.offers()
		if !strings.Contains(answer+x.said.String(), c.want) {
			t.Errorf("%q: answered %s; the terminal shows %s", c.fields, answer, x.said)
		}
	}
}
