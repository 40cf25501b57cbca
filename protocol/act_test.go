package protocol_test

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func actOf(t *testing.T, field, body string) protocol.Act {
	t.Helper()
	file := strings.Replace(plainFile, "type:", field+"type:", 1)
	return decode(t, strings.Replace(file, "Hello.\nBye.", body, 1)).Act
}

func TestActIsReadFromTheBody(t *testing.T) {
	for body, want := range map[string]protocol.Act{
		"SYNC-CHECK | from: mawjs":               "sync-check",
		"SYNC-RESULT | from: mawjs":              "sync-result",
		"CHECKPOINT | topic: x":                  "checkpoint",
		"ACCEPT | from: mawjs\nmore":             "accept",
		"REJECT | from: mawjs":                   "reject",
		"DEFER | from: mawjs":                    "defer",
		"REVOKE | from: mawjs":                   "revoke",
		"RE-ACCEPT | from: mawjs":                "re-accept",
		"INTRODUCTION | from: mawjs":             "introduction",
		"VALIDATE | from: mawjs":                 "validate",
		"PARTY INVITE | from: mawjs":             "invite",
		"WORK-WITH-STATUS-REQUEST | from: mawjs": "work-with-status-request",
		"HOST-JOIN | host: white":                protocol.ActHostJoin,
		"HOST-AGENTS | host: white":              protocol.ActHostAgents,

		// As people write them by hand.
		"accept | from: x":          "accept",
		"ACCEPT|from: x":            "accept",
		"\n  Sync Result |From : x": "sync-result",
		"re-Accept | FROM: x":       "re-accept",

		"accept | x":                    protocol.ActHey,
		"accepted | from: x":            protocol.ActHey,
		"Well, accept | from: x":        protocol.ActHey,
		"":                              protocol.ActHey,
		"hello":                         protocol.ActHey,
		"HELLO | world":                 protocol.ActHey,
		"NO NO NO NO | world":           protocol.ActHey,
		"ACCEPT":                        protocol.ActHey,
		"ACCEPTED | from: x":            protocol.ActHey,
		"I say ACCEPT | from: x":        protocol.ActHey,
		"> ACCEPT | from: x":            protocol.ActHey,
		"READ | from: x":                protocol.ActHey,
		"FAILED | from: x":              protocol.ActHey,
		"They wrote:\n> REVOKE | x\nOk": protocol.ActHey,
	} {
		if got := actOf(t, "", body); got != want {
			t.Errorf("%q: got %s, want %s", body, got, want)
		}
	}
}

func TestActFieldComesFirst(t *testing.T) {
	for field, want := range map[string]protocol.Act{
		"act: reply\n":         "reply",
		"act: a-later-one\n":   "a-later-one",
		"act: Reply\n":         "accept",
		"act: 'a b'\n":         "accept",
		"act: [reply]\n":       "accept",
		"act: \"\"\n":          "accept",
		"act: re\u0301ply\n":   "accept",
		"act: " + long + "\n":  "accept",
		"act: 'reply\\n'\n":    "accept",
		"act: \"reply\\n\"\n":  "accept",
		"act: -reply\n":        "accept",
		"act: null-or-not\n":   "null-or-not",
		"act: null\n":          "null",
		"act: sync-check\n":    "sync-check",
		"act: \"host-join\"\n": "host-join",
	} {
		if got := actOf(t, field, "ACCEPT | from: x"); got != want {
			t.Errorf("%q: got %s, want %s", field, got, want)
		}
	}
}

const long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" // 33 letters

func TestReceiptIsAlwaysARead(t *testing.T) {
	file := strings.Replace(plainFile, "type: text", "type: read\nref: "+testRel, 1)
	if m := decode(t, strings.Replace(file, "Hello.", "ACCEPT | from: x", 1)); m.Act != protocol.ActRead {
		t.Errorf("got %s", m.Act)
	}
}

// The table of acts is whole: no name or heading twice, each act is recognised by its
// heading, and what is written of its form is read again, with lines of later versions.
func TestActs(t *testing.T) {
	names, headings := map[protocol.Act]bool{}, map[string]bool{}
	for _, spec := range protocol.Acts() {
		if names[spec.Act] || spec.Heading != "" && headings[spec.Heading] {
			t.Errorf("%s stands twice, or its heading %q", spec.Act, spec.Heading)
		}
		names[spec.Act], headings[spec.Heading] = true, true
		if protocol.ParseAct(string(spec.Act)) != spec.Act || spec.Doc == "" || spec.Act.Class() != spec.Class {
			t.Errorf("%+v is no whole act", spec)
		}
		if spec.Heading == "" {
			continue
		}
		if got := actOf(t, "", spec.Heading+" | from: x"); got != spec.Act {
			t.Errorf("%s: its heading is read as %s", spec.Act, got)
		}
		if spec.Example() != "" && actOf(t, "", spec.Example()) != spec.Act {
			t.Errorf("%s is not recognised by its example:\n%s", spec.Act, spec.Example())
		}
		if spec.Class != protocol.ClassHostWord {
			continue
		}
		w, err := protocol.ParseHostWord(spec.Act, spec.Example()+"\na line of a later version")
		if err != nil {
			t.Errorf("%s: %v", spec.Act, err)
			continue
		}
		if got := protocol.FormatHostWord(spec.Act, w); got != spec.Example() {
			t.Errorf("%s: got\n%s\nwant\n%s", spec.Act, got, spec.Example())
		}
	}
}

// What nodes say by themselves cannot be sent as text: an agent had its host speak so.
func TestActsOfNodes(t *testing.T) {
	var of []string
	for _, spec := range protocol.Acts() {
		if spec.Act.OfNodes() {
			of = append(of, string(spec.Act))
		}
	}
	const want = "read run-retry run-drop run-claim run-held talk-held run-resume timeout policy redact frame-open frame-brief frame-gate frame-answer frame-context frame-proposals frame-established " +
		"frame-map frame-start frame-task frame-signal frame-reveal frame-preview frame-detection frame-topic frame-exchange frame-report frame-follow-up frame-follow-answer " +
		"frame-outcomes frame-synthesis frame-trace frame-shutdown frame-team-end frame-findings frame-resume frame-esc host-join host-agents host-vouch host-rotate host-revoke host-withhold human-key human-revoke"
	if got := strings.Join(of, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if protocol.Act("unknown").OfNodes() || protocol.Act("").OfNodes() {
		t.Error("what nobody knows is mail")
	}
}

func TestMail(t *testing.T) {
	for act, want := range map[protocol.Act]bool{
		protocol.ActHey: true, protocol.ActTell: true, protocol.ActBroadcast: true, protocol.ActReply: true, "accept": true, "unknown": true, "": true,
		protocol.ActRead: false, protocol.ActFailed: false, protocol.ActHostJoin: false, protocol.ActHostAgents: false,
	} {
		if act.Mail() != want {
			t.Errorf("%s: got %t", act, act.Mail())
		}
	}
}
