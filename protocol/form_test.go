package protocol_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

// wordsOf are the acts of topics and of parties: each reads a body, writes what it read and reads that
// again, and says what came out otherwise.
func wordsOf() map[protocol.Act]func(body string) string {
	return map[protocol.Act]func(string) string{
		protocol.ActTopic: again(protocol.OpenTopic), protocol.ActClose: again(protocol.CloseTopic), protocol.ActJoinRequest: again(protocol.RequestJoin),
		protocol.ActAgree: again(protocol.Agree), protocol.ActAccept: again(protocol.Accept), protocol.ActReject: again(protocol.Reject),
		protocol.ActDefer: again(protocol.Defer), protocol.ActRevoke: again(protocol.Revoke), protocol.ActReAccept: again(protocol.ReAccept),
		protocol.ActValidate: again(protocol.Validate), protocol.ActTimeout: again(protocol.ObserveTimeout),
		protocol.ActOpen: again(protocol.Ask), protocol.ActResolve: again(protocol.Resolve),
		protocol.ActTeachBack: again(protocol.TeachBack), protocol.ActDisagree: again(protocol.Disagree),
		protocol.ActSyncCheck: again(protocol.CheckSync), protocol.ActSyncResult: again(protocol.AnswerSync),
		protocol.ActCheckpoint: again(protocol.Sum), protocol.ActRatified: again(protocol.Ratify),
		protocol.ActAmendment: again(protocol.Amend), protocol.ActRejected: again(protocol.RejectSum),

		protocol.ActOrganize: again(protocol.Organize), protocol.ActInvite: again(protocol.Invite), protocol.ActPartyJoin: again(protocol.JoinParty),
		protocol.ActWish: again(protocol.AskHuman), protocol.ActPartyAccept: again(protocol.AcceptGate), protocol.ActPartyReject: again(protocol.RejectGate),
		protocol.ActPartyDefer: again(protocol.DeferGate), protocol.ActLeave: again(protocol.LeaveParty), protocol.ActRemove: again(protocol.RemoveMember),
		protocol.ActRules: again(protocol.SetRules), protocol.ActPresence: again(protocol.SayPresence),
		protocol.ActPartyAgree: again(protocol.ProposeToParty), protocol.ActVote: again(protocol.VoteInParty),
		protocol.ActTask: again(protocol.AddTask), protocol.ActTake: again(protocol.TakeTask), protocol.ActDone: again(protocol.FinishTask),
		protocol.ActGiveBack: again(protocol.GiveTaskBack), protocol.ActLease: again(protocol.Lease), protocol.ActRelease: again(protocol.Release),
	}
}

func again[W any](act protocol.WordAct[W]) func(string) string {
	return func(body string) string {
		first, err := act.Parse(body)
		if err != nil {
			return ""
		}
		written := act.Format(first)
		second, err := act.Parse(written)
		if err != nil {
			return fmt.Sprintf("what was read of %q is written as %q, which is refused: %v", body, written, err)
		}
		return cmp.Diff(first, second, cmp.AllowUnexported(protocol.Score{}))
	}
}

// The words of each act that is a deed of a topic or of a party are in the table here, and its example is
// read as it was written, with what a later version may add.
func TestWordsOfTopics(t *testing.T) {
	words := wordsOf()
	for _, spec := range protocol.Acts() {
		if words[spec.Act] == nil {
			continue
		}
		for _, body := range []string{spec.Example(), spec.Example() + "\nLATER: a field of a later version", "Of course!\n\n" + spec.Example() + "\n\nHope that helps.", strings.ReplaceAll(spec.Example(), "\n", "\r\n"), "```\n" + spec.Example() + "\n```"} {
			if diff := words[spec.Act](body); diff != "" {
				t.Errorf("%s of %q:\n%s", spec.Act, body, diff)
			}
		}
	}
}

// What a language model makes of a form is read as the form: bold keys, a list, fences,
// words around it, wrapped lines.
func TestFormsAreReadTolerantly(t *testing.T) {
	at := time.Date(2026, 4, 15, 10, 22, 0, 0, time.UTC)
	want := protocol.Rejection{
		FormHead: protocol.FormHead{From: "mawjs", At: at}, Item: protocol.ItemRef{Label: "A1", Text: "Keys are four"}, Reason: "STUCK is no state.",
	}
	for _, body := range []string{
		"REJECT | from: mawjs | timestamp: 2026-04-15T10:22:00Z\nITEM: [A1] Keys are four\nREASON: STUCK is no state.",
		"REJECT | from: mawjs | timestamp: 2026-04-15T12:22:00+02:00\r\nITEM: [A1] Keys are four\r\nREASON: STUCK is no state.\r\n",
		"Sure, here is my answer:\n\n**REJECT** | from: mawjs | timestamp: 2026-04-15 10:22:00\n\n- **ITEM**: [A1] Keys are four\n- **REASON:** STUCK is no state.\n\nLet me know!",
		"```\nREJECT | from: mawjs | timestamp: 2026-04-15T10:22Z\nItem: A1: Keys\n  are four\nReason: STUCK\nis no state.\n```\nREASON: another",
		"    REJECT | FROM: mawjs | timestamp: 2026-04-15T10:22:00.000Z | later: yes\n    REASON: STUCK is no state.\n    ITEM: [a1]  Keys are four",
		"REJECT | from: mawjs | timestamp: 2026-04-15T10:22:00Z\nITEM: [A1] Keys are four\nREASON: STUCK is no state.\n\nACCEPT | from: mawjs\nITEM: [A2] x\nREASON: y",
	} {
		got, err := protocol.Reject.Parse(body)
		got.Reason = strings.Join(strings.Fields(got.Reason), " ")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", body, err, diff)
		}
	}
	for body, act := range map[string]func(string) error{
		"REJECT | from: x\nITEM: [A1]":                   read(protocol.Reject),
		"REVOKE | from: x\nITEM: [A1]\nREASON:":          read(protocol.Revoke),
		"DEFER | from: x\nITEM: [A1]\nUNTIL: next week":  read(protocol.Defer),
		"TOPIC | from: x | with: y":                      read(protocol.OpenTopic),
		"AGREE | from: x\nITEM: [A1]":                    read(protocol.Agree),
		"OPEN | from: x":                                 read(protocol.Ask),
		"TEACH-BACK | from: x":                           read(protocol.TeachBack),
		"DISAGREE | from: x":                             read(protocol.Disagree),
		"SYNC-CHECK | from: x\nCLAIMS:\nREQUEST: score":  read(protocol.CheckSync),
		"CHECKPOINT | from: x\nRatify, amend, or reject": read(protocol.Sum),
		"AMENDMENT | from: x":                            read(protocol.Amend),
		"REJECTED":                                       read(protocol.RejectSum),
	} {
		if act(body) == nil {
			t.Errorf("%q is no whole deed and was read", body)
		}
	}
}

func read[W any](act protocol.WordAct[W]) func(string) error {
	return func(body string) error { _, err := act.Parse(body); return err }
}

// A text that looks like fields of the form cannot put any into the form that it stands
// in: a reason with "UNTIL: 2999" in it defers nothing.
func TestTextIsNoField(t *testing.T) {
	d := protocol.Deferral{FormHead: protocol.FormHead{From: "a | timestamp: 2001-01-01"}, Item: protocol.ItemRef{Text: "A1: x"},
		Reason: "because\nUNTIL: 2999-01-01\nITEM: [A9] y\n\nACCEPT | from: b\n```\n  REASON: z"}
	got, err := protocol.Defer.Parse(protocol.Defer.Format(d))
	d.From = "a / timestamp: 2001-01-01"
	if diff := cmp.Diff(d, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	l := protocol.Reservation{Things: []string{"src/panes.go"}, Until: time.Date(2026, 4, 15, 12, 22, 0, 0, time.UTC), Reason: "I split\nTHINGS:\n- all"}
	if read, err := protocol.Lease.Parse(protocol.Lease.Format(l)); err != nil || cmp.Diff(l, read) != "" {
		t.Errorf("what a reason of a reservation says is reserved: %v, %v", read.Things, err)
	}
}

func TestItemRef(t *testing.T) {
	for text, want := range map[string]protocol.ItemRef{
		"":                    {},
		"[A1] Keys":           {Label: "A1", Text: "Keys"},
		"[a12-5f3c]":          {Label: "A12-5f3c"},
		"p1":                  {Label: "P1"},
		"A1: Keys":            {Label: "A1", Text: "Keys"},
		"A1 Keys":             {Text: "A1 Keys"},
		"A1 - Keys":           {Label: "A1", Text: "Keys"},
		"**[A1]** Keys":       {Label: "A1", Text: "Keys"},
		"[] **[A1] Keys":      {Text: "**[A1] Keys"},
		"[tmux-design/A1] x":  {Topic: "tmux-design", Label: "A1", Text: "x"},
		"[Tmux Design/A1] x":  {Text: "[Tmux Design/A1] x"},
		"[../../x/A1] x":      {Text: "[../../x/A1] x"},
		"[ ] Keys":            {Text: "[ ] Keys"},
		"[] A1":               {Text: "A1"},
		"  Keys\n\tare four ": {Text: "Keys are four"},
	} {
		got := protocol.ParseItemRef(text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
		if back := protocol.ParseItemRef(got.String()); back != got {
			t.Errorf("%q is written as %q and read as %+v", text, got.String(), back)
		}
	}
}

// Work-with W7, W8: no path can be made of a slug (R20), names of any script have one, and what differs in
// more than case and blanks is another topic although it has the same.
func TestSlug(t *testing.T) {
	for topic, want := range map[string]protocol.Slug{
		"tmux design": "tmux-design", "Tmux  Design!": "tmux-design", "../../x": "x", "  a/b\\c ": "a-b-c", "Ünïcode Ω": "ünïcode-ω", "U\u0308ber": "über",
		"会議 録": "会議-録", "a\u2028b": "a-b", "--sync": "sync", `say "hi"`: "say-hi", "ÀÉ": "àé", "हिन्दी": "हिन्दी",
		"": "", "...": "", "a|b": "", "a\nb": "", "\x1b[31m": "", strings.Repeat("x", 81): "", strings.Repeat("x", 80): protocol.Slug(strings.Repeat("x", 80)),
		"a" + strings.Repeat(" ", 200): "", "a\xff": "",
	} {
		got, err := protocol.SlugOf(topic)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", topic, got, err)
		}
		if next, err := protocol.SlugOf(got.String()); got != "" && (next != got || err != nil) {
			t.Errorf("the slug of %q is %q, whose slug is %q", topic, got, next)
		}
	}
	for _, two := range [][2]string{{"Tmux design", "tmux-design"}, {"tmux  design", "TMUX_design"}, {"über", "U\u0308BER"}, {"tmux design!", "tmux-design"}} {
		if !protocol.SameTopic(two[0], two[1]) {
			t.Errorf("%q are two topics", two)
		}
	}
	if protocol.SameTopic("C++", "C#") || protocol.SameTopic("tmux: design", "tmux design!") {
		t.Error("two names of one slug are one topic")
	}
	one := protocol.TopicChannel(testRecord, "a", "b", "x")
	if one != protocol.TopicChannel(testRecord, "b", "a", "x") || one == protocol.TopicChannel(testRecord, "a", "b", "y") || one == protocol.DeriveChannel(testRecord, "a", "b") {
		t.Error("the channel of a topic is not that of its pair and slug")
	}
}

func TestParseInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2026-04-20": "2026-04-20T00:00:00.000Z", "2026-04-20T10:00:00+02:00": "2026-04-20T08:00:00.000Z", "2026-04-20 10:22 UTC": "2026-04-20T10:22:00.000Z",
		"2026-04-20T10:22:33.5Z": "2026-04-20T10:22:33.500Z", "2026-04-20 10:22:01": "2026-04-20T10:22:01.000Z",
	} {
		if got, err := protocol.ParseInstant(text); err != nil || got.Format(protocol.TimestampLayout) != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01", "20.4.2026", "1e9"} {
		if got, err := protocol.ParseInstant(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Whatever a body says, what was read of it is written so that the same is read again.
func TestFormsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2026))
	words := wordsOf()
	for range 2000 {
		body := nastyBody(r)
		for act, check := range words {
			if diff := check(body); diff != "" {
				t.Fatalf("%s of %q:\n%s", act, body, diff)
			}
		}
	}
	for _, spec := range protocol.Acts() { // a body of pieces alone seldom has all that an act of a party needs
		for range 300 {
			if words[spec.Act] == nil || !strings.HasPrefix(spec.Heading, "PARTY ") {
				break
			}
			lines := strings.Split(spec.Example(), "\n")
			for range 1 + r.IntN(3) {
				i, piece := r.IntN(len(lines)), nastyBody(r)
				at := r.IntN(len(lines[i]) + 1)
				lines[i] = lines[i][:at] + piece + lines[i][at:]
			}
			body := strings.Join(lines, "\n")
			if diff := words[spec.Act](body); diff != "" {
				t.Fatalf("%s of %q:\n%s", spec.Act, body, diff)
			}
		}
	}
}

// nastyBody is a body of what such bodies are made of, in any order.
func nastyBody(r *rand.Rand) string {
	pieces := []string{
		"\n", "\n", "\n", "\n\n", "  ", " ", "\t", "\r\n", "|", " | ", ": ", ":", "**", "*", "- ", "-", "`", "```\n", "# ", "[", "]", "(source: x)", "(source: )", "()", "..", "—",
		"ITEM: ", "REASON: ", "UNTIL: ", "ANSWER-BY: ", "PREVIOUS: ", "CHANGES: ", "COMMITMENT: ", "OUTCOME: ", "LEARNED: ", "POSITION: ", "Summary: ", "ANCHOR: ", "WINDOW: ",
		"MILESTONE: ", "CLAIMS:\n", "SCORES:\n", "COMMENTS: 7", "NOTE: ", "LATER: ", "score", "0.5", "1", "90%", "0.33333", "ACCEPT", "REJECT | from: a", "SYNC-RESULT | ",
		"PARTIAL", "EVIDENCE: ", "SCORE: ", "AMENDMENT: ", "RATIFIED", "from: nat", "topic: x", "label: t1", "timestamp: 2026-04-15", "[A1] ", "[x/P2]", "a2-5f3c", "T1: ", "[] ",
		"words", "über", "\u00a0", "\u2028", "\x1b", "\xff", "2026-04-20", "2026-04-20T10:00:00+02:00", "sessions", "claim | score | evidence\n", "|---|\n",
		"PARTY ORGANIZE | from: m", "LEADER: ", "TEAM: ", "WITH: ", "a@b, c@d", "RULES: ", `{"consensus_mode": "majority"}`, "FOR: invite", "FOR: broadcast", "WHOM: k@b", "TEXT: ", "SET: ", "decay_lambda=1e3",
		"INVITED: k@b", "DECIDES: zoe", `PAYLOAD: {"topic": "x\n|", "rules": {}, "replyTo": "m"}`, "From: nat (via m)", "GATE: ", "TAKES-BACK: ", "STATE: busy", "VOTE: reject", "THINGS:\n", "- src/x",
	}
	var b strings.Builder
	for range 1 + r.IntN(25) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func FuzzForms(f *testing.F) {
	for _, spec := range protocol.Acts() {
		if spec.Example() != "" {
			f.Add(spec.Example())
		}
	}
	f.Add("- [A1] SCORE: 1.0 | ACCEPT | EVIDENCE: x\n| claim | score |\n|--|--|\n| P1 | 90% |")
	f.Fuzz(func(t *testing.T, body string) {
		for act, check := range wordsOf() {
			if diff := check(body); diff != "" && utf8.ValidString(body) { // another body is read, and never written
				t.Errorf("%s:\n%s", act, diff)
			}
			protocol.ActOfAnswer(act, body)
		}
		if ref := protocol.ParseItemRef(body); protocol.ParseItemRef(ref.String()) != ref {
			t.Errorf("%+v is written as %q", ref, ref)
		}
		if slug, err := protocol.SlugOf(body); err == nil && strings.ContainsAny(slug.String(), "/\\. \x00") {
			t.Errorf("%q has the slug %q", body, slug)
		}
	})
}

// Words of 64 KiB that are made to be slow to read keep nobody: the fold reads each deed.
func TestLongWordsAreReadAtOnce(t *testing.T) {
	for _, piece := range []string{"ITEM: x\n", "x\n", "\n", "- [A1] SCORE: 1.0 | ACCEPT | EVIDENCE: x\n", "|", "[", "*", "A1 ", "SYNC-RESULT |\n", "(source: "} {
		for _, head := range []string{"CLAIMS:\n", "| claim | score |\nREASON: x\n"} {
			body := head + strings.Repeat(piece, 64<<10/len(piece))
			for act, check := range wordsOf() {
				begun := time.Now()
				if diff := check(body); diff != "" {
					t.Fatalf("%.80q:\n%s", body, diff)
				}
				if took := time.Since(begun); took > 10*time.Second {
					t.Errorf("%s of %.80q took %s", act, body, took)
				}
			}
		}
	}
}

// What an agent's command prints is the act that it was asked for where it has the form,
// and stays an answer in prose where it has not, or where it decides twice (R65).
func TestActOfAnswer(t *testing.T) {
	for _, c := range []struct {
		asked protocol.Act
		body  string
		want  protocol.Act
	}{
		{protocol.ActCheckpoint, "RATIFIED", protocol.ActRatified},
		{protocol.ActCheckpoint, "I looked at it.\n\n**RATIFIED** | from: mawjs", protocol.ActRatified},
		{protocol.ActCheckpoint, "AMENDMENT: titles are settled", protocol.ActAmendment},
		{protocol.ActCheckpoint, "REJECTED: nothing of it", protocol.ActRejected},
		{protocol.ActCheckpoint, "REJECTED:", ""},
		{protocol.ActCheckpoint, "It could be RATIFIED, I think.", ""},
		{protocol.ActCheckpoint, "RATIFIED\nREJECTED: no", ""},
		{protocol.ActAgree, "ACCEPT | from: mawjs\nITEM: [A1]", protocol.ActAccept},
		{protocol.ActAgree, "ACCEPT | from: mawjs\nITEM: [A1]\n\nREJECT | from: mawjs\nITEM: [A2]\nREASON: x", ""},
		{protocol.ActAgree, "REJECT | from: mawjs\nITEM: [A1]", ""},
		{protocol.ActAgree, "I accept.", ""},
		{protocol.ActValidate, "RE-ACCEPT | from: mawjs\nITEM: [A1]", protocol.ActReAccept},
		{protocol.ActSyncCheck, "- [A1] SCORE: 0.0 | REJECT | EVIDENCE: never", protocol.ActSyncResult},
		{protocol.ActSyncCheck, "We agree on most of it, about 80%.", ""},
		{protocol.ActHey, "ACCEPT | from: mawjs", ""},
	} {
		if got, ok := protocol.ActOfAnswer(c.asked, c.body); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s answered by %q: %s, %t", c.asked, c.body, got, ok)
		}
	}
}
