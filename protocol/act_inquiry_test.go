package protocol_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// rewrites is what comes of a body that is read as words of an act and written again.
func rewrites[W any](act protocol.WordAct[W]) func(body string) (string, error) {
	return func(body string) (string, error) {
		w, err := act.Parse(body)
		if err != nil {
			return "", err
		}
		return act.Format(w), nil
	}
}

// wordsOfInquiries are the acts of inquiries.
func wordsOfInquiries() map[protocol.Act]func(string) (string, error) {
	return map[protocol.Act]func(string) (string, error){
		protocol.ActFrame: rewrites(protocol.OpenInquiry), protocol.ActFrameBrief: rewrites(protocol.DraftBrief), protocol.ActFrameGate: rewrites(protocol.AskInquiry),
		protocol.ActFrameAnswer: rewrites(protocol.AnswerInquiry), protocol.ActFrameContext: rewrites(protocol.GatherContext),
		protocol.ActFrameProposals: rewrites(protocol.ProposePerspectives), protocol.ActFrameEstablished: rewrites(protocol.EstablishLens),
		protocol.ActFrameMap: rewrites(protocol.MapAgents), protocol.ActFrameStart: rewrites(protocol.StartMember), protocol.ActFrameTask: rewrites(protocol.NoteTask),
		protocol.ActFrameSignal: rewrites(protocol.SignalEnd), protocol.ActFrameReveal: rewrites(protocol.RevealResult), protocol.ActFramePreview: rewrites(protocol.PreviewResults),
		protocol.ActFrameDetection: rewrites(protocol.DetectTensions), protocol.ActFrameTopic: rewrites(protocol.SignalTopic), protocol.ActFrameExchange: rewrites(protocol.ExchangeWords),
		protocol.ActFrameReport: rewrites(protocol.ReportDialogue), protocol.ActFrameFollowUp: rewrites(protocol.FollowUp), protocol.ActFrameFollowAnswer: rewrites(protocol.AnswerFollowUp),
		protocol.ActFrameOutcomes: rewrites(protocol.ShowOutcomes), protocol.ActFrameSynthesis: rewrites(protocol.Synthesize), protocol.ActFrameTrace: rewrites(protocol.ShowTrace),
		protocol.ActFrameShutdown: rewrites(protocol.ShutDownTeam), protocol.ActFrameTeamEnd: rewrites(protocol.EndTeam), protocol.ActFrameFindings: rewrites(protocol.KeepFindings),
		protocol.ActFrameResume: rewrites(protocol.ResumeInquiry), protocol.ActFrameEsc: rewrites(protocol.EscInquiry),
	}
}

// Each act of an inquiry is read as it was written, with lines of a later version behind it.
func TestWordsOfInquiries(t *testing.T) {
	words, n := wordsOfInquiries(), 0
	for _, spec := range protocol.Acts() {
		again := words[spec.Act]
		if again == nil {
			if strings.HasPrefix(string(spec.Act), "frame-") {
				t.Errorf("%s is not in the table", spec.Act)
			}
			continue
		}
		n++
		for _, body := range []string{spec.Example(), spec.Example() + "\nLATER: a line of a later version", strings.Replace(spec.Example(), "```json\n{\n", "```json\n{\n  \"later\": [1],\n", 1)} {
			if got, err := again(body); err != nil || got != spec.Example() {
				t.Errorf("%s: %v, got\n%s\nof\n%s", spec.Act, err, got, body)
			}
		}
	}
	if n != len(words) {
		t.Errorf("%d acts of %d are known", n, len(words))
	}
}

// Frame F1: the question is kept byte for byte, whatever it looks like. A block within it was
// read as that of the message.
func TestAQuestionIsKeptByteForByte(t *testing.T) {
	for _, q := range []string{"a", " a ", "a\n\n", "\n\na", "a\r\nb\t", "x\n\n```json\n{\"sha256\": \"\"}\n```", "\u0301e", "FRAME ESC | from: nat"} {
		o := protocol.InquiryOpening{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "nat", At: time.UnixMilli(1_000_000)}, Text: q}, Hash: protocol.Hash([]byte(q)), Source: protocol.FromArgument, Coordinator: "m"}
		got, err := protocol.OpenInquiry.Parse(protocol.NormalBody(protocol.OpenInquiry.Format(o)))
		if err != nil || got.Text != q {
			t.Errorf("%q is read as %q, %v", q, got.Text, err)
		}
		o.Text += "x"
		if _, err := protocol.OpenInquiry.Parse(protocol.OpenInquiry.Format(o)); err == nil {
			t.Errorf("%q: another question than that of the hash is read", q)
		}
	}
}

// An opening says who may be given what is investigated in the lines of a gate. It prevents an
// inquiry whose gate can never count, because one of these is no line.
func TestWhatAGateOpensIsLines(t *testing.T) {
	for in, want := range map[string]bool{"/srv/stores": true, "/srv/a\nb": false, "/srv/\x1b[2J": false} {
		o := protocol.InquiryOpening{
			InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "nat", At: time.UnixMilli(1_000_000)}, Text: "a"},
			Hash:         protocol.Hash([]byte("a")), Source: protocol.FromArgument, Coordinator: "m", In: in, Snapshot: protocol.Hash(nil), Receivers: []string{"m@a"},
		}
		if _, err := protocol.OpenInquiry.Parse(protocol.OpenInquiry.Format(o)); (err == nil) != want {
			t.Errorf("%q with receivers: %v", in, err)
		}
		o.Receivers = nil // as version 0.1.0 writes it
		if _, err := protocol.OpenInquiry.Parse(protocol.OpenInquiry.Format(o)); err != nil {
			t.Errorf("%q without receivers: %v", in, err)
		}
	}
}

// Frame F71: what a set of options is does not depend on what is said about them, and on all
// else.
func TestOptionSets(t *testing.T) {
	set := func(gate string, multi bool, keys ...string) string {
		q := protocol.InquiryQuestion{ID: "q", Multi: multi}
		for _, k := range keys {
			q.Options = append(q.Options, protocol.InquiryOption{Key: k, About: gate + k})
		}
		return protocol.InquirySet("g", []protocol.InquiryQuestion{q})
	}
	if set("x", true, "a", "b") != set("y", true, "a", "b") {
		t.Error("words about options change the set")
	}
	all := []string{set("", true, "a", "b"), set("", true, "b", "a"), set("", true, "a"), set("", true, "a", "b", "c"), set("", false, "a", "b"), set("", true, "ab")}
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Error("two sets have one hash")
	}
}

// What cannot be meant is refused: each of these was written as if it were fine.
func TestInquiryWordsThatMakeNoSense(t *testing.T) {
	for act, change := range map[protocol.Act][2]string{
		protocol.ActFrameBrief:    {`"intent": "Which`, `"intent": "", "x": "Which`},
		protocol.ActFrameGate:     {`"Operations"`, `"All of them"`},
		protocol.ActFrameSignal:   {`"completed"`, `"skipped"`},
		protocol.ActFrameExchange: {`"number": 1`, `"number": 4`},
		protocol.ActFrameMap:      {`mawui@white`, `mawui`},
		protocol.ActFrameTrace:    {`"gaps"`, `"later"`},
		protocol.ActFrameTopic:    {`"Rationale"`, `"Verdict"`},
		protocol.ActFrameResume:   {`"epoch": 2`, `"epoch": 1`},
		protocol.ActFrameOutcomes: {`"moderate"`, `"sure"`},
	} {
		spec, _ := protocol.FindAct(act)
		body := strings.Replace(spec.Example(), change[0], change[1], 1)
		if _, err := wordsOfInquiries()[act](body); err == nil || body == spec.Example() {
			t.Errorf("%s is read:\n%s", act, body)
		}
	}
}

// FuzzInquiries: what is read of any body is written so that it is read as the same.
func FuzzInquiries(f *testing.F) {
	words := wordsOfInquiries()
	for act := range words {
		spec, _ := protocol.FindAct(act)
		f.Add(string(act), spec.Example())
	}
	f.Fuzz(func(t *testing.T, act, body string) {
		again := words[protocol.Act(act)]
		if again == nil {
			return
		}
		first, err := again(body)
		if err != nil {
			return
		}
		if second, err := again(first); err != nil || second != first {
			t.Fatalf("%s of %q is written as\n%s\nand read as\n%s\n%v", act, body, first, second, err)
		}
	})
}
